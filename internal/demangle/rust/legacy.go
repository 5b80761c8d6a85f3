package rust

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"symkit/internal/demangle/lex"
)

// escapes maps the escapes of Rust's legacy mangling, for characters that C++'s
// identifiers cannot have, to the characters.
var escapes = lex.CodeTable{
	{"SP", "@"}, {"BP", "*"}, {"RF", "&"}, {"LT", "<"}, {"GT", ">"}, {"LP", "("}, {"RP", ")"}, {"C", ","},
}

// Legacy reads names of rustc's first mangling. They have the form of C++'s nested
// names whose last identifier is a hash: "17h" and 16 hexadecimal digits. The hash and
// the compiler's suffix after the name are dropped.
//
// The demangling library reads these names, too, but loses the underscore at the start
// of an identifier, such as that of __rust_begin_short_backtrace.
func Legacy(name []byte) (string, bool) {
	s, ok := bytes.CutPrefix(name, []byte("_ZN"))
	if !ok || !hasHash(s) {
		return "", false
	}

	// An identifier is appended once another one follows, as the last is the hash.
	var out, last []byte
	for len(s) > 0 && s[0] != 'E' {
		// A length and an identifier.
		digits := len(s) - len(bytes.TrimLeft(s, "0123456789"))
		n, err := strconv.Atoi(string(s[:digits]))
		if err != nil || n <= 0 || n > len(s)-digits {
			return "", false
		}
		if last != nil {
			if len(out) > 0 {
				out = append(out, "::"...)
			}
			out, ok = appendIdentifier(out, last)
			if !ok {
				return "", false
			}
		}
		last, s = s[digits:digits+n], s[digits+n:]
	}

	if len(s) == 0 || len(s) > 1 && s[1] != '.' || !isHash(last) {
		return "", false
	}
	return string(out), len(out) > 0
}

// hasHash reports whether a name may end in a hash. It is a quick test that most of
// C++'s names fail.
func hasHash(s []byte) bool {
	if found := bytes.Contains(s, []byte{'.'}); found { // in an identifier or of a suffix
		return bytes.Contains(s, []byte("17h"))
	}
	const end = len("17h0123456789abcdefE")
	return len(s) > end && string(s[len(s)-end:][:3]) == "17h"
}

// isHash reports whether s is h and 16 hexadecimal digits. At least five of the
// digits must differ, so that C++ names of that form are not taken for Rust's.
func isHash(s []byte) bool {
	if len(s) != 17 || s[0] != 'h' {
		return false
	}

	// Count the different digits.
	seen := 0
	for _, b := range s[1:] {
		if !lex.IsHex(b) {
			return false
		}
		seen |= 1 << lex.Unhex(b)
	}

	n := 0
	for ; seen != 0; seen &= seen - 1 {
		n++
	}
	return n >= 5
}

// appendIdentifier appends an identifier, with its escapes replaced.
func appendIdentifier(out, s []byte) ([]byte, bool) {
	if bytes.HasPrefix(s, []byte("_$")) {
		s = s[1:] // an identifier cannot begin with the dollar
	}
	for len(s) > 0 {
		// Dots stand for colons, $…$ for escaped characters.
		switch {
		case bytes.HasPrefix(s, []byte("..")):
			out, s = append(out, "::"...), s[2:]
		case s[0] == '.':
			out, s = append(out, '.'), s[1:]
		case s[0] == '$':
			escape, rest, ok := bytes.Cut(s[1:], []byte("$"))
			if !ok {
				return nil, false
			}
			out, ok = appendEscape(out, escape)
			if !ok {
				return nil, false
			}
			s = rest
		default:
			n := bytes.IndexAny(s, "$.")
			if n < 0 {
				n = len(s)
			}
			out, s = append(out, s[:n]...), s[n:]
		}
	}
	return out, true
}

func appendEscape(out, escape []byte) ([]byte, bool) {
	if text, ok := escapes.Text(escape); ok {
		return append(out, text...), true
	}
	if len(escape) < 2 || escape[0] != 'u' {
		return nil, false
	}

	// $u7e$ is the character with that number.
	n, err := strconv.ParseUint(string(escape[1:]), 16, 21)
	if err != nil || n < 0x20 || n == 0x7f || !utf8.ValidRune(rune(n)) {
		return nil, false
	}
	return utf8.AppendRune(out, rune(n)), true
}
