package lex

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// Punycode decodes an identifier (RFC 3492 §6.2), whose delimiter Rust writes
// as an underscore.
func Punycode(s []byte) (string, bool) {
	runes, ok := PunycodeRunes(s, func(c byte) int64 {
		switch {
		case IsDigit(c):
			return int64(c-'0') + 26
		case IsLower(c):
			return int64(c - 'a')
		}
		return -1
	})
	for _, c := range runes {
		ok = ok && utf8.ValidRune(c)
	}
	if !ok {
		return "", false
	}
	return string(runes), true
}

// PunycodeRunes is Punycode with other digits: digit returns -1 for what is none. The result may have
// surrogates.
func PunycodeRunes(s []byte, digit func(c byte) int64) ([]rune, bool) {
	const base, tmin, tmax, skew, damp = 36, 1, 26, 38, 700

	// The basic characters come first, before the last delimiter.
	var out []rune
	if i := bytes.LastIndexByte(s, '_'); i >= 0 {
		out = []rune(string(s[:i]))
		s = s[i+1:]
	}

	// Each delta is a number of variable length: the next character and its position.
	n, i, bias := int64(128), int64(0), int64(72)
	for len(s) > 0 {
		old, w := i, int64(1)
		for k := int64(base); ; k += base {
			if len(s) == 0 {
				return nil, false
			}
			d := digit(s[0])
			if d < 0 {
				return nil, false
			}
			s = s[1:]
			i += d * w
			if i > 1<<40 || w > 1<<40 { // far above any valid number
				return nil, false
			}
			t := min(max(k-bias, tmin), tmax)
			if d < t {
				break
			}
			w *= base - t
		}

		// Adapt the bias (RFC 3492 §6.1).
		size := int64(len(out)) + 1
		delta := (i - old) / 2
		if old == 0 {
			delta = (i - old) / damp
		}
		delta += delta / size
		for bias = 0; delta > (base-tmin)*tmax/2; bias += base {
			delta /= base - tmin
		}
		bias += (base - tmin + 1) * delta / (delta + skew)

		// Insert the character.
		n += i / size
		i %= size
		if n > utf8.MaxRune {
			return nil, false
		}
		out = slices.Insert(out, int(i), rune(n))
		i++
	}
	return out, true
}
