package demangle

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// punycode decodes an identifier (RFC 3492 §6.2), whose delimiter Rust writes
// as an underscore.
func punycode(s []byte) (string, bool) {
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
				return "", false
			}
			digit := int64(s[0]) - 'a'
			if isDigit(s[0]) {
				digit = int64(s[0]-'0') + 26
			} else if !isLower(s[0]) {
				return "", false
			}
			s = s[1:]
			i += digit * w
			if i > 1<<40 || w > 1<<40 { // far above any valid number
				return "", false
			}
			t := min(max(k-bias, tmin), tmax)
			if digit < t {
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
		if n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
			return "", false
		}
		out = slices.Insert(out, int(i), rune(n))
		i++
	}
	return string(out), true
}
