package signature

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// errEmpty reports that a function's name is nothing but qualifiers. Socorro's rule ends
// without a signature then.
var errEmpty = fmt.Errorf("a function without a name")

// normalize returns a frame as the most meaningful text there is: the function, file#line, the
// module, an unloaded module, the address.
func (l *Lists) normalize(f *frame) (string, error) {
	switch {
	case f.Function != "" && f.File != "" && strings.HasSuffix(sourcePath(f.File), ".rs"):
		return l.rust(f)
	case f.Function != "":
		return l.cpp(f)
	case f.File != "" && f.Line != 0:
		file := strings.TrimRight(f.File, `/\`)
		separator := "/"
		if strings.Contains(file, `\`) {
			separator = `\`
		}
		return fmt.Sprintf("%s#%d", file[strings.LastIndex(file, separator)+1:], f.Line), nil
	case f.Module != "":
		return strings.Trim(f.Module, "[]"), nil
	case len(f.Unloaded) > 0:
		return "(unloaded " + f.Unloaded[0] + ")", nil
	case f.Offset != "":
		return "@" + withoutZeros(f.Offset), nil
	}
	return "", nil
}

// withoutZeros removes the leading zeros of a hexadecimal number.
func withoutZeros(s string) string {
	v, err := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
	if err != nil {
		return s
	}
	return fmt.Sprintf("%#x", v)
}

// sourcePath returns the path of a source file: of VCS:ROOT:PATH:REVISION, of a path with a
// drive, of an absolute path. It is empty for any other text.
func sourcePath(file string) string {
	switch parts := strings.Split(file, ":"); {
	case len(parts) == 4:
		return parts[2]
	case len(parts) == 2:
		return parts[1]
	case strings.HasPrefix(file, "/"):
		return file
	}
	return ""
}

// rust normalizes the name of a Rust function.
func (l *Lists) rust(f *frame) (string, error) {
	function, err := name(f.Function)
	if err != nil {
		return "", err
	}
	function = collapse(function, '<', '>', "<T>", " as ")
	function = collapse(function, '(', ')', "")
	function = l.withLine(function, f)
	function = spaces(function)
	return hash.ReplaceAllString(function, "$1"), nil
}

// hash matches the hash that rustc adds to a name to make it unique.
var hash = regexp.MustCompile(`::h[0-9a-fA-F]+(\n?)$`)

// lambda is the number of a lambda function.
var lambda = regexp.MustCompile(`::\$_\p{Nd}+::`)

// cpp normalizes the name of a C or C++ function.
func (l *Lists) cpp(f *frame) (string, error) {
	function := f.Function

	// Qualifiers of member functions.
	for _, qualifier := range []string{"const", "const&", "const &", "&&", "&"} {
		if rest, ok := strings.CutSuffix(function, qualifier); ok {
			function = strings.TrimFunc(rest, isSpace)
		}
	}

	// The names of operators have spaces.
	if !strings.Contains(function, "::operator") {
		var err error
		function, err = name(function)
		if err != nil {
			return "", err
		}
	}

	function = strings.ReplaceAll(function, "`anonymous namespace'", "(anonymous namespace)")
	function = lambda.ReplaceAllLiteralString(function, "::$::")
	function = collapse(function, '<', '>', "<T>", "name omitted", "IPC::ParamTraits", " in ")
	function = collapse(function, '(', ')', "", "anonymous namespace", "operator")
	if strings.Contains(function, "clone .cold") {
		function = collapse(function, '[', ']', "")
	}
	return spaces(l.withLine(function, f)), nil
}

// withLine appends the line to a function that is in the list of functions with lines.
func (l *Lists) withLine(function string, f *frame) string {
	switch {
	case !l.lineNumbers.MatchString(function):
		return function
	case f.File == "":
		return function + ":None" // Python's text of no value
	}
	return fmt.Sprintf("%s:%d", function, f.Line)
}

// spaces removes the space before each *, & and comma, and adds one after each comma that
// has none.
func spaces(s string) string {
	var b strings.Builder
	for i := range len(s) {
		next := byte(0)
		if i+1 < len(s) {
			next = s[i+1]
		}
		switch {
		case s[i] == ' ' && (next == '*' || next == '&' || next == ','):
		default:
			b.WriteByte(s[i])
		}
	}

	s = b.String()
	b.Reset()
	for i := range len(s) {
		b.WriteByte(s[i])
		if s[i] == ',' && (i+1 == len(s) || s[i+1] != ' ') {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// collapse replaces the text from each outermost opening delimiter to the closing one. Text
// that contains an exception stays, and so does text after one.
func collapse(s string, open, closing byte, replacement string, exceptions ...string) string {
	excepted := func(before, token string) bool {
		for _, e := range exceptions {
			if strings.HasSuffix(before, e) || strings.Contains(token, e) {
				return true
			}
		}
		return false
	}

	var b strings.Builder
	depth, start := 0, 0
	end := func(i int) { // of the text from start to i
		if excepted(s[:min(i, len(s)-1)], s[start:min(i+1, len(s))]) {
			b.WriteString(s[start:min(i+1, len(s))])
		} else {
			b.WriteString(replacement)
		}
	}
	for i := range len(s) {
		switch {
		case depth == 0 && s[i] == open && !excepted(s[:i], ""):
			depth, start = 1, i
		case depth == 0:
			b.WriteByte(s[i])
		case s[i] == open:
			depth++
		case s[i] == closing:
			depth--
			if depth == 0 {
				end(i)
			}
		}
	}

	// A delimiter that is never closed.
	if depth > 0 {
		end(len(s) - 1)
	}
	return b.String()
}

// closers has the closing delimiter of each opening one.
var closers = map[byte]byte{'(': ')', '{': '}', '[': ']', '<': '>', '`': '\''}

// name drops the text before a function's name: its return type and keywords such as
// static. Spaces inside of delimiters divide nothing.
func name(function string) (string, error) {
	var tokens []string
	var levels []byte
	start := 0
	for i := range len(function) {
		c := function[i]
		switch _, opens := closers[c]; {
		case opens:
			levels = append(levels, c)
		case len(levels) > 0 && c == closers[levels[len(levels)-1]]:
			levels = levels[:len(levels)-1]
		case c == ' ' && len(levels) == 0:
			tokens = append(tokens, function[start:i])
			start = i + 1
		}
	}
	if start < len(function) {
		tokens = append(tokens, function[start:])
	}
	if len(tokens) == 0 {
		return "", errEmpty
	}

	// Arguments and clones can follow the name after a space.
	last := len(tokens) - 1
	text := tokens[last]
	for last > 0 && (strings.HasPrefix(text, "(") || strings.HasPrefix(text, "[clone")) {
		last--
		text = tokens[last] + " " + text
	}
	return text, nil
}

// isSpace reports whether Python takes r for white space.
func isSpace(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }
