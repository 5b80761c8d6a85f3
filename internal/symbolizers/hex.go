package symbolizers

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
func Hex(text string) (v uint64, digits int) {
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

// AppendHex appends a number with 0x and at least width digits, of 16.
func AppendHex(dst []byte, v uint64, width int) []byte {
	var buf [18]byte
	at := len(buf)
	for v > 0 || len(buf)-at < width {
		at--
		buf[at] = "0123456789abcdef"[v&15]
		v >>= 4
	}
	return append(append(dst, "0x"...), buf[at:]...)
}
