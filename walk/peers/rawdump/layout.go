package rawdump

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"symkit/internal/wire"
)

// layout is the text of a structure. Between braces are its fields, in the order of the file: a
// letter for how the field is shown, and its size in bytes.
//
//	{x4}     a number, hexadecimal
//	{d4}     a number, decimal
//	{i4}     a signed number, decimal
//	{t4}     seconds since 1970, hexadecimal and as a date
//	{b80}    bytes, hexadecimal
//	{-4}     not shown
//	{x4@8}   a number at offset 8 of the structure; the next field follows it
type layout string

// next returns the text before the first field, the field, and the layout after it. The field's
// letter is 0 after the last one.
func (l layout) next() (text string, f field, rest layout) {
	text, after, found := strings.Cut(string(l), "{")
	if !found {
		return text, field{}, ""
	}
	verb, after, _ := strings.Cut(after, "}")
	size, at, moved := strings.Cut(verb[1:], "@")
	f.letter, f.at = verb[0], -1
	f.size, _ = strconv.Atoi(size) // a test checks all layouts
	if moved {
		f.at, _ = strconv.Atoi(at)
	}
	return text, f, layout(after)
}

// field is one field of a layout.
type field struct {
	letter byte
	size   int
	at     int // or -1: after the field before it
}

// size returns the size of the structure.
func (l layout) size() (size int) {
	pos := 0
	for {
		_, f, rest := l.next()
		if f.letter == 0 {
			return size
		}
		if f.at >= 0 {
			pos = f.at
		}
		pos += f.size
		size, l = max(size, pos), rest
	}
}

// repeated returns a layout for n fields: %d in it is the number of each, from 0 on.
func repeated(n int, format string) layout {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return layout(b.String())
}

// fields writes the structure at the cursor, which has at least the size of the layout.
func (p *printer) fields(l layout, c wire.Cursor) {
	start, out := c, p.AvailableBuffer()
	for {
		text, f, rest := l.next()
		out = append(out, text...)
		if f.letter == 0 {
			break
		}
		if f.at >= 0 {
			c = start
			c.Skip(uint64(f.at))
		}
		out, l = f.append(out, &c), rest
	}
	p.text(out)
}

// append reads the field and appends its text.
func (f field) append(out []byte, c *wire.Cursor) []byte {
	switch {
	case f.letter == '-':
		c.Skip(uint64(f.size))
		return out
	case f.letter == 'b':
		return hex.AppendEncode(out, c.Bytes(uint64(f.size)))
	case f.size == 16:
		return append(out, wide(c)...)
	}

	n := c.Uint(f.size)
	switch f.letter {
	case 'd':
		return strconv.AppendUint(out, n, 10)
	case 'i':
		return strconv.AppendInt(out, int64(int32(n)), 10)
	}
	out = strconv.AppendUint(append(out, "0x"...), n, 16)
	if f.letter == 't' {
		out = time.Unix(int64(n), 0).UTC().AppendFormat(append(out, ' '), time.RFC3339)
	}
	return out
}

// wide reads a number of 16 bytes.
func wide(c *wire.Cursor) string {
	low, high := c.U64(), c.U64()
	if c.BigEndian() {
		low, high = high, low
	}
	if high == 0 {
		return fmt.Sprintf("%#x", low)
	}
	return fmt.Sprintf("%#x%016x", high, low)
}
