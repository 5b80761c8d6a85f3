package cfi

import (
	"symkit/internal/wire"
	"symkit/located"
)

type entryKind uint8

const (
	entryEnd entryKind = iota // a zero length
	entryCIE
	entryFDE
)

// entry is one CIE or FDE: the fields that both have.
type entry struct {
	kind  entryKind
	off   uint64 // of the length field
	idPos uint64 // of the CIE id or CIE pointer
	id    uint64
	body  wire.Cursor // the bytes after the id
}

// entry reads the length and the id of the entry at c, and skips the entry. c fails if
// the length is not credible; the body fails if only this entry is damaged.
//
// In .eh_frame, the id has four bytes in the 64-bit format too (LSB 5.0 core §10.6.1.1).
// readelf reads eight bytes there.
func (s *Section) entry(c *wire.Cursor) entry {
	e := entry{off: uint64(c.Pos())}
	n, dwarf64 := c.InitialLength()

	// A length beyond the section's end leaves no position for the next entry.
	if n > uint64(c.Len()) {
		c.Fail(int(e.off), located.ErrTruncated)
	}
	if c.Err() != nil || n == 0 {
		return e
	}

	// The id distinguishes a CIE from an FDE, whose id is the pointer to its CIE.
	e.body = c.Sub(n)
	e.idPos = uint64(e.body.Pos())
	wide := dwarf64 && s.Kind == DebugFrame
	e.id = e.body.Offset(wide)
	e.kind = entryFDE
	if e.id == s.cieID(wide) {
		e.kind = entryCIE
	}
	return e
}

// cieID returns the id that marks a CIE: 0 in .eh_frame, all ones in .debug_frame (DWARF
// 5 §6.4.1).
func (s *Section) cieID(wide bool) uint64 {
	switch {
	case s.Kind == EHFrame:
		return 0
	case wide:
		return ^uint64(0)
	}
	return 0xffffffff
}

// cieOffset returns the section offset of the CIE that FDE e points to. In .eh_frame, the
// CIE pointer is the distance from the pointer back to the CIE.
func (s *Section) cieOffset(e *entry) (uint64, bool) {
	if s.Kind == DebugFrame {
		return e.id, e.id < uint64(len(s.Data))
	}
	return e.idPos - e.id, e.id <= e.idPos
}
