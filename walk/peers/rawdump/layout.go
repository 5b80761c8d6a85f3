package rawdump

import (
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
//	{-4}     not shown
type layout string

// next returns the text before the first field, the field, and the layout after it. The field's
// letter is 0 after the last one.
func (l layout) next() (text string, f field, rest layout) {
	text, after, found := strings.Cut(string(l), "{")
	if !found {
		return text, field{}, ""
	}
	verb, after, _ := strings.Cut(after, "}")
	f.letter = verb[0]
	f.size, _ = strconv.Atoi(verb[1:]) // a test checks all layouts
	return text, f, layout(after)
}

// field is one field of a layout.
type field struct {
	letter byte
	size   int
}

// size returns the size of the structure.
func (l layout) size() (size int) {
	for {
		_, f, rest := l.next()
		if f.letter == 0 {
			return size
		}
		size, l = size+f.size, rest
	}
}

// fields writes the structure at the cursor, which has at least the size of the layout.
func (p *printer) fields(l layout, c wire.Cursor) {
	out := p.AvailableBuffer()
	for {
		text, f, rest := l.next()
		out = append(out, text...)
		if f.letter == 0 {
			break
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
