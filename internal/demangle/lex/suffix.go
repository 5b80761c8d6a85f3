// Package lex has what several schemes of mangling need: kinds of characters, tables of codes, Punycode,
// and the suffixes of copies.
package lex

import (
	"bytes"
	"encoding/binary"
)

// MaxLength is the most bytes that a demangled name has.
const MaxLength = 1 << 16

// cloneSuffixes are the suffixes that GCC and LLVM append to the names of the copies
// they make of a function: split cold code, an alias within the unit, copies for
// constant arguments, with arguments removed, of a part of the function, made private
// by LTO, made unique. If number is set, a number must follow: names that have dots of
// their own (Zig's hash_map.clone) are not such copies.
var cloneSuffixes = [...]struct {
	word   string
	number bool
}{
	{".cold", false}, {".localalias", false}, {".constprop", true}, {".isra", true}, {".part", true},
	{".lto_priv", true}, {".llvm", true}, {".clone", true}, {".__uniq", true},
}

// Base returns a linkage name without the suffixes of copies: "parse" for
// "parse.constprop.0.cold". A number alone ("inner.3", a nested function) is no
// suffix.
func Base(linkage []byte) []byte {
	if bytes.IndexByte(linkage, '.') < 0 {
		return linkage
	}

	// Each round removes one suffix.
	for {
		head := cutNumber(linkage)
		numbered := len(head) < len(linkage)
		length := len(linkage)

		// A suffix may have a number; some must have one.
		for _, s := range &cloneSuffixes {
			rest, ok := bytes.CutSuffix(head, []byte(s.word))
			if ok && len(rest) > 0 && (numbered || !s.number) {
				linkage = rest
				break
			}
		}
		if len(linkage) == length {
			return linkage
		}
	}
}

// cutNumber returns s without a dot and a number at its end.
func cutNumber(s []byte) []byte {
	n := len(s)
	for n > 0 && IsDigit(s[n-1]) {
		n--
	}
	if n < len(s) && n > 0 && s[n-1] == '.' {
		return s[:n-1]
	}
	return s
}

func IsDigit(b byte) bool { return '0' <= b && b <= '9' }
func IsUpper(b byte) bool { return 'A' <= b && b <= 'Z' }
func IsLower(b byte) bool { return 'a' <= b && b <= 'z' }

// IsWord reports whether s has only letters, digits and underscores.
func IsWord(s []byte) bool {
	for _, b := range s {
		if !IsDigit(b) && !IsUpper(b) && !IsLower(b) && b != '_' {
			return false
		}
	}
	return true
}

func IsHex(b byte) bool { return IsDigit(b) || 'a' <= b && b <= 'f' }

// Unhex returns the value of a lower-case hexadecimal digit.
func Unhex(b byte) byte {
	if IsDigit(b) {
		return b - '0'
	}
	return b - 'a' + 10
}

// IsPrintable reports whether s has only printable ASCII characters.
func IsPrintable(s []byte) bool {
	const ones = 0x0101010101010101 // times n: n in each byte
	for ; len(s) >= 8; s = s[8:] {
		// One of the sums has the highest bit of a byte outside of 0x20 to 0x7e; the
		// bytes in front of the first such one neither borrow nor carry.
		if x := binary.LittleEndian.Uint64(s); (x|(x-ones*' ')|(x+ones))&(ones*0x80) != 0 {
			return false
		}
	}
	for _, b := range s {
		if b < ' ' || b > '~' {
			return false
		}
	}
	return true
}
