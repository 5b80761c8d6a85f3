package emit

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"

	"symkit/internal/printable"
)

const (
	nameOmitted = "<name omitted>" // Breakpad's text for a function without a name
	nameCut     = "<truncated>"
	rulesBroken = ".cfa: .undef .ra: .undef"
)

const hexDigits = "0123456789abcdef"

// Numbers are most of a symbol file. Most numbers are small, and their text comes from
// tables (smallDec, smallHex): an element has the first digit in the lowest byte and the
// length in the highest. Larger numbers are turned into digits eight at a time, one in
// each byte of a word.
const (
	ones  = 0x0101010101010101 // times n: n in each byte
	zeros = ones * '0'
)

// plain returns the length of b's longest prefix of printable ASCII, space
// included: the text that is written as it stands.
func plain(b []byte) int {
	const highs = ones * 0x80
	n := 0
	for ; len(b)-n >= 8; n += 8 {
		// While all bytes are within 0x20..0x7e, no byte borrows or carries,
		// and no high bit is set. The lowest high bit that is set marks the
		// first byte outside of the range.
		x := binary.LittleEndian.Uint64(b[n:])
		if bad := (x | (x - ones*0x20) | (x + ones)) & highs; bad != 0 {
			return n + bits.TrailingZeros64(bad)/8
		}
	}

	for n < len(b) && b[n] >= 0x20 && b[n] < 0x7f {
		n++
	}
	return n
}

// unprintable reports whether r, decoded from n bytes, must not stand in a name:
// a control character, one that changes the direction of text or separates lines,
// or a byte that is not UTF-8.
func unprintable(r rune, n int) bool {
	return r == utf8.RuneError && n <= 1 || printable.Hidden(r)
}

// badText returns the position of the first byte of b that must not stand in
// a name, or -1.
func badText(b []byte) int {
	for at := plain(b); at < len(b); at += plain(b[at:]) {
		r, n := utf8.DecodeRune(b[at:])
		if unprintable(r, n) {
			return at
		}
		at += n
	}
	return -1
}

// trim cuts the spaces off both ends: readers take them for separators.
func trim(b []byte) []byte {
	for len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return b
}

// appendName appends name by the rule that Func documents.
func appendName(dst, name []byte) []byte {
	name = trim(name)
	switch {
	case len(name) == 0:
		return append(dst, nameOmitted...)
	case len(name) <= maxName && plain(name) == len(name):
		return append(dst, name...)
	}
	return appendEscaped(dst, name, 0)
}

// Name returns a name as it is written by the rule that Func documents. A caller
// that sorts names, or removes duplicates, brings the names into this form first.
func Name(name string) string {
	if isName(name) {
		return name
	}
	return string(appendName(nil, []byte(name)))
}

// isName reports whether Name returns name unchanged.
func isName(name string) bool { return isTrimmed(name) && badText([]byte(name)) < 0 }

// isTrimmed reports whether a name is neither empty nor too long and has no spaces at its ends.
func isTrimmed(name string) bool {
	return 0 < len(name) && len(name) <= maxName && name[0] != ' ' && name[len(name)-1] != ' '
}

// OriginName is Name for an InlineOrigin, with the rule that Append documents.
func OriginName(name string) string {
	if text := trim([]byte(name)); beginsWithNumber(text) {
		return string(appendEscaped(nil, text, 1))
	}
	return Name(name)
}

// IsOriginName reports whether OriginName returns name unchanged.
func IsOriginName(name string) bool { return isName(name) && !beginsWithNumber([]byte(name)) }

// IsPlainOriginName is IsOriginName for printable ASCII.
func IsPlainOriginName(name string) bool { return isTrimmed(name) && !beginsWithNumber([]byte(name)) }

// appendEscaped is appendName for a name that must be changed. The first esc bytes are
// always escaped.
func appendEscaped(dst, name []byte, esc int) []byte {
	start, cut := len(dst), len(dst)
	for at := 0; at < len(name); {
		if len(dst)-start <= maxName-len(nameCut) {
			cut = len(dst)
		}
		r, n := utf8.DecodeRune(name[at:])
		if at < esc || unprintable(r, n) {
			for _, b := range name[at:][:n] {
				dst = appendEscape(dst, b)
			}
		} else {
			dst = append(dst, name[at:][:n]...)
		}
		if len(dst)-start > maxName {
			return append(dst[:cut], nameCut...)
		}
		at += n
	}
	return dst
}

// maxWord bounds the fields of MODULE and INFO that are one word.
const maxWord = 1 << 10

// appendWord appends a field that must not contain spaces: spaces are escaped too. An
// empty field becomes "unknown", and a field above maxWord bytes is cut.
func appendWord(dst []byte, word string) []byte {
	if word == "" {
		return append(dst, "unknown"...)
	}
	if len(word) <= maxWord && strings.IndexFunc(word, notInWord) < 0 {
		return append(dst, word...)
	}

	for start, i := len(dst), 0; i < len(word) && len(dst)-start <= maxWord-len(`\xNN`); i++ {
		if notInWord(rune(word[i])) {
			dst = appendEscape(dst, word[i])
		} else {
			dst = append(dst, word[i])
		}
	}
	return dst
}

// notInWord reports whether r is other than printable ASCII without the space.
func notInWord(r rune) bool { return r <= ' ' || r >= 0x7f }

// appendEscape appends b as \xNN.
func appendEscape(dst []byte, b byte) []byte {
	return append(dst, '\\', 'x', hexDigits[b>>4], hexDigits[b&15])
}

// beginsWithNumber reports whether the first word of b is a decimal number.
func beginsWithNumber(b []byte) bool {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		b = b[1:]
	}

	n := 0
	for n < len(b) && b[n]-'0' <= 9 {
		n++
	}
	return n > 0 && (n == len(b) || b[n] == ' ')
}

// appendRules appends the rules of a STACK CFI record by the rule that
// StackCFIInit documents.
func appendRules(dst, rules []byte) []byte {
	if len(rules) > maxName || badRules(rules) >= 0 {
		return append(dst, rulesBroken...)
	}
	return append(dst, rules...)
}

// badRules returns the position at which rules stop being "REG: EXPRESSION" pairs of
// printable ASCII divided by single spaces, or -1. Each expression has a token; the
// meaning of the tokens is not checked ("STACK CFI records").
func badRules(rules []byte) int {
	n := plain(rules)
	first, afterName, start := true, false, 0
	for at := 0; at <= n; at++ {
		if at < len(rules) && rules[at] != ' ' {
			if at == n {
				return n
			}
			continue
		}
		isName := at > start && rules[at-1] == ':'
		if at == start || first && !isName || isName && (afterName || at == start+1) {
			return start
		}
		first, afterName, start = false, isName, at+1
	}
	if afterName {
		return n
	}
	return -1
}
