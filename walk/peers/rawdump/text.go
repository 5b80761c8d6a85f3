package rawdump

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"symkit/internal/printable"
	"symkit/internal/wire"
)

// name reads the MINIDUMP_STRING at rva: a size in bytes, then UTF-16. It returns false if
// the string is incomplete or not UTF-16.
func (p *printer) name(rva uint64) (string, bool) {
	c := p.rest(rva)
	size := c.U32()
	if size%2 != 0 {
		return "", false
	}
	c = c.Sub(uint64(size))
	return decodeUTF16(&c)
}

// decodeUTF16 decodes all of a cursor, and returns text for one line. It returns false for a
// surrogate without its other half.
func decodeUTF16(c *wire.Cursor) (string, bool) {
	units := make([]uint16, 0, c.Len()/2)
	for c.Len() > 0 {
		units = append(units, c.U16())
	}
	if c.Err() != nil {
		return "", false
	}

	text := make([]byte, 0, len(units))
	for i := 0; i < len(units); i++ {
		r := rune(units[i])
		if utf16.IsSurrogate(r) {
			if i+1 < len(units) {
				r = utf16.DecodeRune(r, rune(units[i+1]))
			}
			if utf16.IsSurrogate(r) || r == utf8.RuneError {
				return "", false
			}
			i++
		}
		text = utf8.AppendRune(text, r)
	}
	return printable.String(string(text)), true
}

// fixed reads a string in an array of n units, up to its first NUL.
func fixed(c *wire.Cursor, n int) (string, bool) {
	array := c.Sub(uint64(2 * n))
	end := array
	for end.Len() > 0 {
		before := end.Pos()
		if end.U16() == 0 {
			array = array.Sub(uint64(before - array.Pos()))
			break
		}
	}
	return decodeUTF16(&array)
}

// utf8Name reads the MinidumpUTF8String at rva: a size, then bytes, and a NUL if terminated is
// set. It returns false for a string that is incomplete or not UTF-8.
func (p *printer) utf8Name(rva uint32, terminated bool) (string, bool) {
	c := p.rest(uint64(rva))
	b := c.Bytes(uint64(c.U32()))
	if terminated && c.U8() != 0 || c.Err() != nil || !utf8.Valid(b) {
		return "", false
	}
	return printable.String(string(b)), true
}

// upToNUL returns the bytes before the first NUL as text for one line.
func upToNUL(b []byte) string {
	text, _, _ := strings.Cut(string(b), "\x00")
	return printable.String(text)
}
