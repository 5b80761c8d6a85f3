package symbolizers

import "math/bits"

// digitOf has the value of each hexadecimal digit, 16 for other bytes.
var digitOf = func() (values [256]uint8) {
	for c := range values {
		values[c] = 16
	}
	for i, c := range "0123456789abcdef" {
		values[c] = uint8(i)
	}
	for i, c := range "ABCDEF" {
		values[c] = uint8(10 + i)
	}
	return values
}()

// Hex returns the number of the hexadecimal digits that text begins with, the largest one if they are too many, and
// how many digits there are.
func Hex[T string | []byte](text T) (v uint64, digits int) {
	for digits < len(text) {
		d := digitOf[text[digits]]
		switch {
		case d > 15:
			return v, digits
		case v>>60 != 0:
			return 1<<64 - 1, digits
		}
		v = v<<4 | uint64(d)
		digits++
	}
	return v, digits
}

// PlainHex returns the number in a text that is as AppendHex writes the number, with one digit at least.
func PlainHex[T string | []byte](text T) (v uint64, ok bool) {
	if len(text) < 3 || len(text) > 18 || string(text[:2]) != "0x" || text[2] == '0' && len(text) > 3 {
		return 0, false
	}
	for i := 2; i < len(text); i++ {
		d := digitOf[text[i]]
		if d > 15 || text[i]-'A' < 6 {
			return 0, false
		}
		v = v<<4 | uint64(d)
	}
	return v, true
}

// AppendHex appends a number with 0x and at least width digits, of 16.
func AppendHex(dst []byte, v uint64, width int) []byte {
	digits := max(width, (bits.Len64(v)+3)/4)
	dst = append(append(dst, "0x"...), "0000000000000000"[:digits]...)
	for i := len(dst) - 1; v > 0; i-- {
		dst[i] = "0123456789abcdef"[v&15]
		v >>= 4
	}
	return dst
}
