package demangle

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// rustEscapes is how the legacy mangling of Rust writes what C++'s identifiers
// cannot have.
var rustEscapes = map[string]string{
	"SP": "@", "BP": "*", "RF": "&", "LT": "<", "GT": ">", "LP": "(", "RP": ")", "C": ",",
}

// rustLegacy reads the names of rustc's first mangling: those of C++'s nested
// names, the last of which is a hash, "17h" and 16 hexadecimal digits. The hash
// is dropped. What follows the name is a suffix of the compiler.
//
// The demangling library reads these too, but loses the underscore in front of
// an identifier, such as that of __rust_begin_short_backtrace.
func rustLegacy(name []byte) (string, bool) {
	s, ok := bytes.CutPrefix(name, []byte("_ZN"))
	if !ok || !hasRustHash(s) {
		return "", false
	}
	var out, last []byte
	for len(s) > 0 && s[0] != 'E' {
		digits := len(s) - len(bytes.TrimLeft(s, "0123456789"))
		n, err := strconv.Atoi(string(s[:digits]))
		if err != nil || n <= 0 || n > len(s)-digits {
			return "", false
		}
		if last != nil {
			if len(out) > 0 {
				out = append(out, "::"...)
			}
			if out, ok = appendRust(out, last); !ok {
				return "", false
			}
		}
		last, s = s[digits:digits+n], s[digits+n:]
	}
	if len(s) == 0 || len(s) > 1 && s[1] != '.' || !isRustHash(last) {
		return "", false
	}
	return string(out), len(out) > 0
}

// hasRustHash tells C++'s names, most of all, from those that may end in a hash.
func hasRustHash(s []byte) bool {
	if dot := bytes.IndexByte(s, '.'); dot >= 0 { // in an identifier or of a suffix
		return bytes.Contains(s, []byte("17h"))
	}
	const end = len("17h0123456789abcdefE")
	return len(s) > end && string(s[len(s)-end:][:3]) == "17h"
}

// isRustHash tells whether s is h and 16 hexadecimal digits. Five different
// ones at least, so that C++ names made of such words are not taken for Rust's.
func isRustHash(s []byte) bool {
	if len(s) != 17 || s[0] != 'h' {
		return false
	}
	seen := 0
	for _, b := range s[1:] {
		if !isHex(b) {
			return false
		}
		seen |= 1 << unhex(b)
	}
	n := 0
	for ; seen != 0; seen &= seen - 1 {
		n++
	}
	return n >= 5
}

// appendRust appends an identifier without its escapes.
func appendRust(out, s []byte) ([]byte, bool) {
	if bytes.HasPrefix(s, []byte("_$")) {
		s = s[1:] // an identifier cannot begin with the dollar
	}
	for len(s) > 0 {
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
			if out, ok = appendRustEscape(out, escape); !ok {
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

func appendRustEscape(out, escape []byte) ([]byte, bool) {
	if text, ok := rustEscapes[string(escape)]; ok {
		return append(out, text...), true
	}
	if len(escape) < 2 || escape[0] != 'u' {
		return nil, false
	}
	n, err := strconv.ParseUint(string(escape[1:]), 16, 21)
	if err != nil || n < 0x20 || n == 0x7f || !utf8.ValidRune(rune(n)) {
		return nil, false
	}
	return utf8.AppendRune(out, rune(n)), true
}
