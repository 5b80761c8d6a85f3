package cfi

import (
	"bytes"
	"fmt"

	"symkit/internal/wire"
	"symkit/located"
)

// decoder reads the entries of a section and keeps the CIEs that it has read.
type decoder struct {
	sec  *Section
	cies map[uint64]cieResult
	// bytes is the size of all CIEs read. Entries do not overlap, so their sum is at most
	// the section's size, or some times that if there are more CIEs than are kept. CIE pointers
	// into the middle of entries could exceed that sum, and each such CIE would cost its full
	// length again.
	bytes   int
	cleared int // times that cies became too many
	last    struct {
		off uint64
		cieResult
	}
}

// maxCIEs bounds the CIEs that are kept: a CIE takes hundreds of bytes in memory, and 16 in the
// section. An FDE mostly has the last CIE before it.
const maxCIEs, rereads = 1 << 14, 4

type cieResult struct {
	cie *CIE
	err error
}

func newDecoder(s *Section) decoder { return decoder{sec: s, cies: map[uint64]cieResult{}} }

// cie returns the CIE at section offset off.
func (d *decoder) cie(off uint64) (*CIE, error) {
	// An FDE often has the CIE of the FDE before.
	if d.last.off == off && d.last.cie != nil {
		return d.last.cie, nil
	}

	// A damaged CIE is kept as well: each of its FDEs has the error.
	r, ok := d.cies[off]
	if !ok {
		if len(d.cies) >= maxCIEs {
			clear(d.cies)
			d.cleared++
		}
		r.cie, r.err = d.readCIE(off)
		d.cies[off] = r
	}

	d.last.off, d.last.cieResult = off, r
	return r.cie, r.err
}

func (d *decoder) readCIE(off uint64) (*CIE, error) {
	// The CIE pointer must lead to an entry that is a CIE.
	s := d.sec
	c := s.cursor()
	c.Seek(off)
	e := s.entry(&c)
	bad := c.Err() != nil || e.body.Err() != nil || e.kind != entryCIE
	if !bad {
		d.bytes += e.body.End() - int(off)
		bad = d.bytes > min(1+d.cleared, rereads)*len(s.Data)
	}
	if bad {
		return nil, &located.Error{Section: s.name(), Offset: int(off), Err: errCIEPointer}
	}

	// The header comes first: its alignment factors apply to the instructions.
	cie := &CIE{Offset: off, AddrSize: s.AddrSize, LSDAEncoding: peOmit}
	cie.header(s, &e.body)
	if err := e.body.Err(); err != nil {
		return nil, err
	}

	m := getMachine()
	defer putMachine(m)
	if err := m.initial(s, cie, e.body); err != nil {
		return nil, err
	}
	return cie, nil
}

// header reads the fields of the CIE up to the initial instructions.
func (c *CIE) header(s *Section, b *wire.Cursor) {
	at := b.Pos()
	c.Version = b.U8()
	if b.Err() == nil && c.Version != 1 && c.Version != 3 && c.Version != 4 {
		b.Fail(at, fmt.Errorf("%w %d", errVersion, c.Version))
	}

	// The augmentation decides which fields follow.
	at = b.Pos()
	aug := b.CString()
	c.Augmentation = string(aug)
	if c.Augmentation == "eh" {
		b.Skip(uint64(s.AddrSize)) // GCC before 3.0: a pointer to its own tables
	}
	if c.Version == 4 {
		c.sizes(b)
	}

	// The alignment factors and the column of the return address are in all versions;
	// version 1 has a byte for the column.
	c.CodeAlign = b.ULEB()
	c.DataAlign = b.SLEB()
	c.RA = readReg(b, c.Version == 1)
	switch {
	case b.Err() != nil:
	case len(aug) > 0 && aug[0] == 'z':
		c.hasData = true
		data := b.Sub(b.ULEB())

		// The size after 'z' bounds the augmentation data.
		c.augment(s, aug[1:], at, &data)
		if data.Err() != nil && b.Err() == nil {
			*b = data
		}
	case isMarks(aug): // as gas writes them into .debug_frame
		c.augment(s, aug, at, b)
	// armcc marks its .debug_frame with "armcc+", which has no data.
	case len(aug) == 0, c.Augmentation == "eh", bytes.Equal(aug, []byte("armcc+")):
	default:
		b.Fail(at, fmt.Errorf("%w %q", errAugmentation, c.Augmentation))
	}
}

// isMarks reports whether an augmentation without 'z' has only letters without
// augmentation data.
func isMarks(aug []byte) bool {
	return len(aug) > 0 && len(bytes.Trim(aug, "SBG")) == 0
}

// sizes reads address_size and segment_selector_size, which version 4 added.
func (c *CIE) sizes(b *wire.Cursor) {
	at := b.Pos()
	c.AddrSize = int(b.U8())
	if b.Err() == nil && !validAddrSize(c.AddrSize) {
		b.Fail(at, fmt.Errorf("%w %d", errAddrSize, c.AddrSize))
	}
	c.SegmentSize = int(b.U8())
}

// augment reads the augmentation data of the letters after 'z', in the order of the
// letters. After an unknown letter no data is read, because its size is not known; the
// length of the augmentation data skips the rest. The FDEs stay readable unless an 'R'
// follows: the encoding of their addresses is then lost.
func (c *CIE) augment(s *Section, letters []byte, at int, data *wire.Cursor) {
	known := true
	for _, l := range letters {
		switch l {
		case 'S':
			c.Signal = true
		case 'B':
			c.BKey = true
		case 'G':
			c.MTE = true
		case 'L', 'P', 'R':
			if known {
				c.pointerData(s, l, data)
			} else if l == 'R' {
				data.Fail(at, fmt.Errorf("%w %q", errAugmentation, c.Augmentation))
			}
		default:
			known = false
		}
	}
}

// pointerData reads the encoding of letter l, and for 'P' also the pointer.
func (c *CIE) pointerData(s *Section, l byte, data *wire.Cursor) {
	at := data.Pos()
	enc := data.U8()
	if data.Err() == nil && (!validEncoding(enc) || enc == peOmit && l == 'R') {
		data.Fail(at, fmt.Errorf("%w %#x", errEncoding, enc))
	}

	// Only the personality routine has its pointer in the CIE itself.
	switch l {
	case 'L':
		c.LSDAEncoding = enc
	case 'P':
		c.Personality = s.pointer(data, enc, c.AddrSize, 0)
	case 'R':
		c.FDEEncoding = enc
	}
}
