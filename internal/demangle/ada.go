package demangle

import (
	"bytes"

	"symkit/internal/demangle/lex"
)

// adaOperators maps GNAT's names of operators, which begin with an upper-case
// letter, to the operators.
var adaOperators = lex.CodeTable{
	{"Oabs", "abs"}, {"Oand", "and"}, {"Omod", "mod"}, {"Onot", "not"}, {"Oor", "or"}, {"Orem", "rem"}, {"Oxor", "xor"},
	{"Oeq", "="}, {"One", "/="}, {"Olt", "<"}, {"Ole", "<="}, {"Ogt", ">"}, {"Oge", ">="},
	{"Oadd", "+"}, {"Osubtract", "-"}, {"Oconcat", "&"}, {"Omultiply", "*"}, {"Odivide", "/"}, {"Oexpon", "**"},
}

// adaAttributes maps the names of special subprograms of a package or type to text.
var adaAttributes = lex.CodeTable{
	{"_elabb", "'Elab_Body"}, {"_elabs", "'Elab_Spec"}, {"_size", "'Size"}, {"_alignment", "'Alignment"}, {"_assign", `.":="`},
}

// adaTypeOps maps the predefined operations of a type, streams and finalization, to text.
var adaTypeOps = lex.CodeTable{
	{"SR", "'Read"}, {"SW", "'Write"}, {"SI", "'Input"}, {"SO", "'Output"}, {"DF", ".Finalize"}, {"DA", ".Adjust"},
}

// ada reads GNAT's encoding of names (gcc/ada/exp_dbug.ads): "pkg__sub__2" is pkg.sub, the
// second subprogram of that name; "_ada_main" is main.
func ada(name []byte) (string, bool) {
	s := bytes.TrimPrefix(name, []byte("_ada_"))
	var out []byte
	for {
		n := adaIdentifier(s)

		// An identifier, or an operator in quotes.
		switch {
		case n > 0:
			out = append(out, s[:n]...)
		case len(s) > 0 && s[0] == 'O':
			for n = 1; n < len(s) && lex.IsLower(s[n]); n++ {
			}
			op, ok := adaOperators.Text(s[:n])
			if !ok {
				return "", false
			}
			out = append(append(append(out, '"'), op...), '"')
		default:
			return "", false
		}

		// The marks after it decide whether another identifier follows.
		rest, more, ok := adaEnd(&out, s[n:])
		if !ok {
			return "", false
		}
		if !more {
			return string(out), !bytes.Equal(out, name)
		}
		s = rest
		out = append(out, '.')
	}
}

// adaIdentifier returns the length of the identifier at the start of s: lower-case
// letters, digits, and single underscores between them.
func adaIdentifier(s []byte) int {
	if len(s) == 0 || !lex.IsLower(s[0]) {
		return 0
	}
	n := 1
	for n < len(s) && (lex.IsLower(s[n]) || lex.IsDigit(s[n]) ||
		s[n] == '_' && n+1 < len(s) && (lex.IsLower(s[n+1]) || lex.IsDigit(s[n+1]))) {
		n++
	}
	return n
}

// adaEnd reads the suffixes that may follow an identifier, and appends its text to out. If
// more is true, another identifier follows, at rest.
func adaEnd(out *[]byte, s []byte) (rest []byte, more, ok bool) {
	switch {
	case string(s) == "TKB", string(s) == "P", string(s) == "N": // task body, protected subprogram
		return nil, false, true
	case bytes.HasPrefix(s, []byte("TK__")):
		return s[4:], true, true
	}

	s = adaNested(s)

	// A predefined operation of a type: two upper-case letters.
	if len(s) >= 2 {
		if op, ok := adaTypeOps.Text(s[:2]); ok {
			*out = append(*out, op...)
			s = adaNested(s[2:])
		}
	}

	// A special subprogram: three underscores and its name.
	if bytes.HasPrefix(s, []byte("___")) {
		n := 3 + adaIdentifier(s[3:])
		text, ok := adaAttributes.Text(s[2:n])
		if !ok {
			return nil, false, false
		}
		*out = append(*out, text...)
		s = adaNested(s[n:])
	}

	// The number of an overloaded subprogram, the next identifier, or an entry.
	switch {
	case bytes.HasPrefix(s, []byte("__")) && len(s) > 2 && lex.IsDigit(s[2]), len(s) > 1 && s[0] == '$' && lex.IsDigit(s[1]):
		s = bytes.TrimLeft(s, "_$")
		for len(s) > 0 && (lex.IsDigit(s[0]) || len(s) > 1 && s[0] == '_' && lex.IsDigit(s[1])) {
			s = s[1:]
		}
		s = adaNested(s)
	case bytes.HasPrefix(s, []byte("__")):
		return s[2:], true, true
	case bytes.HasPrefix(s, []byte("_B")), bytes.HasPrefix(s, []byte("_E")): // entry body, barrier
		s = bytes.TrimLeft(s[2:], "0123456789")
		return nil, false, string(s) == "s"
	}
	if len(s) > 1 && s[0] == '.' && lex.IsDigit(s[1]) { // nested subprogram
		s = bytes.TrimLeft(s[1:], "0123456789")
	}
	return nil, false, len(s) == 0
}

// adaNested skips the mark of an entity that is nested in a body.
func adaNested(s []byte) []byte {
	if len(s) > 0 && s[0] == 'X' {
		return bytes.TrimLeft(s[1:], "nb")
	}
	return s
}
