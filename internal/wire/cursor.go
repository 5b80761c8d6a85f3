// Package wire holds the byte cursor that the decoders of symkit share. Its failures
// are errors of package located.
//
// A Cursor compares every count, offset and length from a file with the bytes that
// are there before using it. Loops that a profile shows read slices directly,
// check every length themselves, and are fuzzed against a Cursor.
package wire

import (
	"bytes"
	"encoding/binary"
)

// Cursor reads a section front to back. The first failure sticks and empties
// the cursor: later reads return zero, and every loop on Len ends. A Cursor is
// a small value; copy it to look ahead.
//
// Positions (Pos, Seek, the offsets in errors) always count from the start of
// the section, also in a sub-cursor and in a cursor over a part of the section.
type Cursor struct {
	data    []byte
	pos     int // in data
	base    int // of data, in the section
	section string
	big     bool
	err     error
}

// New returns a cursor over all of data. Errors have section as the name of data.
func New(section string, data []byte, bigEndian bool) Cursor {
	return Cursor{data: data, section: section, big: bigEndian}
}

// NewAt returns a cursor over a part of a section, which begins at offset base.
func NewAt(section string, data []byte, base int, bigEndian bool) Cursor {
	return Cursor{data: data, base: base, section: section, big: bigEndian}
}

// Reset sets c to the result of New. In a hot path Reset saves copying a Cursor, a copy
// that would stall on the fields that were just stored.
func (c *Cursor) Reset(section string, data []byte, bigEndian bool) {
	c.data, c.pos, c.base, c.section, c.big, c.err = data, 0, 0, section, bigEndian, nil
}

// Len returns the number of bytes left: 0 after a failure.
func (c *Cursor) Len() int { return len(c.data) - c.pos }

// Pos returns the offset of the next byte from the start of the section.
func (c *Cursor) Pos() int { return c.base + c.pos }

// End returns the offset at which the cursor ends, from the start of the section.
func (c *Cursor) End() int { return c.base + len(c.data) }

// Err returns the first failure, a *Error, or nil.
func (c *Cursor) Err() error { return c.err }

// BigEndian reports whether numbers are read in big-endian byte order.
func (c *Cursor) BigEndian() bool { return c.big }

// Section returns the name of the section that errors have.
func (c *Cursor) Section() string { return c.section }

// Fail records err at offset at, unless an earlier failure stands, and empties
// the cursor.
func (c *Cursor) Fail(at int, err error) {
	if c.err == nil {
		c.err = &Error{Section: c.section, Offset: at, Err: err}
	}
	c.pos = len(c.data)
}

// Inherit makes c fail with the failure of sub, a cursor within c, if there is any.
func (c *Cursor) Inherit(sub *Cursor) {
	if c.err == nil && sub.err != nil {
		c.err, c.pos = sub.err, len(c.data)
	}
}

// Seek moves to offset off of the section. It fails with ErrOffset if off is after
// the cursor's end or before the part that NewAt was given. An offset before the
// start of a sub-cursor (Sub) is no failure.
func (c *Cursor) Seek(off uint64) {
	at := off - uint64(c.base)
	if at > uint64(len(c.data)) { // or off is before base
		c.Fail(c.Pos(), ErrOffset)
		return
	}
	if c.err == nil {
		c.pos = int(at)
	}
}

// Skip skips n bytes.
func (c *Cursor) Skip(n uint64) {
	if n > uint64(c.Len()) {
		c.Fail(c.Pos(), ErrTruncated)
		return
	}
	c.pos += int(n)
}

// Bytes returns the next n bytes, which alias the cursor's data.
func (c *Cursor) Bytes(n uint64) []byte {
	// n is compared before it is converted, since an int may have 32 bits.
	if n > uint64(c.Len()) {
		c.Fail(c.Pos(), ErrTruncated)
		return nil
	}

	b := c.data[c.pos:][:n:n]
	c.pos += int(n)
	return b
}

// Rest returns all bytes left, which alias the cursor's data, without skipping
// them.
func (c *Cursor) Rest() []byte { return c.data[c.pos:len(c.data):len(c.data)] }

// Sub returns a cursor over the next n bytes and skips them. Positions of the new
// cursor count from the start of the section, too. If c has failed, the new cursor
// has the same failure.
func (c *Cursor) Sub(n uint64) Cursor {
	if n > uint64(c.Len()) {
		c.Fail(c.Pos(), ErrTruncated)
	}

	// The copy keeps the base, so that positions stay those of the section.
	s := *c
	if c.err == nil {
		s.data = c.data[: c.pos+int(n) : c.pos+int(n)]
		c.pos += int(n)
	}
	return s
}

// U8 reads one byte.
func (c *Cursor) U8() uint8 {
	if c.pos < len(c.data) {
		b := c.data[c.pos]
		c.pos++
		return b
	}
	c.Fail(c.Pos(), ErrTruncated)
	return 0
}

// U16 reads two bytes.
func (c *Cursor) U16() uint16 {
	b := c.Bytes(2)
	switch {
	case b == nil:
		return 0
	case c.big:
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

// U24 reads three bytes (DW_FORM_strx3, DW_FORM_addrx3).
func (c *Cursor) U24() uint32 {
	b := c.Bytes(3)
	switch {
	case b == nil:
		return 0
	case c.big:
		return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])
	}
	return uint32(b[2])<<16 | uint32(b[1])<<8 | uint32(b[0])
}

// U32 reads four bytes.
func (c *Cursor) U32() uint32 {
	b := c.Bytes(4)
	switch {
	case b == nil:
		return 0
	case c.big:
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

// U64 reads eight bytes.
func (c *Cursor) U64() uint64 {
	b := c.Bytes(8)
	switch {
	case b == nil:
		return 0
	case c.big:
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

// Uint reads an unsigned number of size bytes: 1, 2, 3, 4 or 8; other sizes fail
// with ErrSize. Addresses are read with it, as a header states their size.
func (c *Cursor) Uint(size int) uint64 {
	switch size {
	case 8:
		return c.U64()
	case 4:
		return uint64(c.U32())
	case 2:
		return uint64(c.U16())
	case 1:
		return uint64(c.U8())
	case 3:
		return uint64(c.U24())
	}

	c.Fail(c.Pos(), ErrSize)
	return 0
}

// ULEB reads an unsigned LEB128 (DWARF 5 §7.6). Padding with zero groups is
// legal; a value of more than 64 bits fails.
func (c *Cursor) ULEB() uint64 {
	// Fast path: nearly all numbers have one to three bytes.
	if rest := c.data[c.pos:]; len(rest) >= 3 {
		v := uint64(rest[0] & 0x7f)
		if rest[0] < 0x80 {
			c.pos++
			return v
		}

		v |= uint64(rest[1]&0x7f) << 7
		if rest[1] < 0x80 {
			c.pos += 2
			return v
		}

		if rest[2] < 0x80 {
			c.pos += 3
			return v | uint64(rest[2])<<14
		}
	}
	return c.longULEB()
}

// longULEB is the slow path of ULEB: for numbers of any length, and at the end of
// the data.
func (c *Cursor) longULEB() (v uint64) {
	start := c.Pos()
	for shift := 0; ; shift += 7 {
		b := c.U8()
		if c.err != nil {
			return 0
		}

		// Bits from 64 on must be zero; group 63 has one bit of the value.
		if shift >= 64 && b&0x7f != 0 || shift == 63 && b&0x7f > 1 {
			c.Fail(start, ErrOverflow)
			return 0
		}

		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b < 0x80 {
			return v
		}
	}
}

// SLEB reads a signed LEB128 (DWARF 5 §7.6).
func (c *Cursor) SLEB() (v int64) {
	start := c.Pos()
	for shift := 0; ; shift += 7 {
		b := c.U8()
		if c.err != nil {
			return 0
		}

		// From bit 63 on only copies of the sign may follow.
		group := int64(b & 0x7f)
		if shift == 63 && group != 0 && group != 0x7f ||
			shift > 63 && group != (v>>63)&0x7f {
			c.Fail(start, ErrOverflow)
			return 0
		}

		if shift < 64 {
			v |= group << shift
		}

		if b < 0x80 {
			// The highest bit of the last group is the sign.
			if shift < 57 {
				v = v << (57 - shift) >> (57 - shift)
			}
			return v
		}
	}
}

// SkipLEB skips a LEB128, signed or unsigned, of any length.
func (c *Cursor) SkipLEB() {
	for c.pos < len(c.data) {
		c.pos++
		if c.data[c.pos-1] < 0x80 {
			return
		}
	}
	c.Fail(c.Pos(), ErrTruncated)
}

// CString returns the bytes up to the next NUL, which alias the cursor's data, and
// skips them and the NUL.
func (c *Cursor) CString() []byte {
	rest := c.data[c.pos:]
	n := bytes.IndexByte(rest, 0)
	if n < 0 {
		c.Fail(c.Pos(), ErrUnterminated)
		return nil
	}

	// The capacity ends before the NUL, so that append cannot overwrite it.
	c.pos += n + 1
	return rest[:n:n]
}

// InitialLength reads a DWARF unit length: 4 bytes, or 0xffffffff and 8 bytes
// in the 64-bit format (DWARF 5 §7.4).
func (c *Cursor) InitialLength() (length uint64, dwarf64 bool) {
	start := c.Pos()
	switch n := c.U32(); {
	case n == 0xffffffff:
		return c.U64(), true
	case n >= 0xfffffff0:
		c.Fail(start, ErrReserved)
		return 0, false
	default:
		return uint64(n), false
	}
}

// Offset reads a section offset: 4 bytes, or 8 in the 64-bit format (DWARF 5
// §7.4).
func (c *Cursor) Offset(dwarf64 bool) uint64 {
	if dwarf64 {
		return c.U64()
	}
	return uint64(c.U32())
}
