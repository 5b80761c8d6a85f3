package sframe

import (
	"symkit/internal/wire"
	"symkit/located"
)

// Bits of func_info and func_info2 (SFrame V3 §2.3.3).
const (
	infoFREType = 0x0f
	infoPCMask  = 0x10
	infoKeyB    = 0x20
	infoSignal  = 0x80

	info2Type = 0x1f

	// attributeSize is the size of the attributes before the FREs in version 3.
	attributeSize = 5

	// v1RepSize is the only block size ld 2.40 writes: AMD64 PLT entries.
	v1RepSize = 16
)

// FDE reads entry i of the table; i must be below NumFDEs.
func (c *Chunk) FDE(i int) (FDE, error) {
	var f FDE
	err := f.read(c, i)
	return f, err
}

// read sets every field of f except those of the current row.
func (f *FDE) read(c *Chunk, i int) error {
	size := c.entrySize()

	// The entry begins with the function's start, in version 3 in 64 bits.
	at := c.fdes0 + i*size
	big := c.big
	var r wire.Cursor
	r.Reset(sectionName, c.in.data[:c.end], big)
	r.Seek(uint64(at))
	b := r.Bytes(uint64(size)) // inside: place has checked the table
	f.Index, f.Offset, f.chunk = i, at, c
	start, rest := uint64(0), b[4:]
	if c.Version == 3 {
		start, rest = long(b, big), b[8:]
	} else {
		start = uint64(int64(int32(word(b, big))))
	}

	// The function's size and the offset of its FREs are in all versions.
	f.Start = c.anchor(at) + start
	f.Size = word(rest, big)
	off := word(rest[4:], big)
	if off > c.FRELen {
		r.Fail(at+size-len(rest)+4, errFREOffset)
	}

	// Version 3 has the other fields before the FREs, earlier versions in the entry.
	r.Seek(uint64(c.fres) + uint64(off))
	if c.Version == 3 {
		f.readAttribute(&r)
	} else {
		f.setInfo(&r, at+12, word(rest[8:], big), rest[12:])
	}

	// Section.limit has found how many FDEs may be used.
	f.freAt = r.Pos()
	if f.Start+uint64(f.Size) < f.Start {
		r.Fail(at, errRange)
	}
	if i >= c.usable {
		r.Fail(at, errSharing)
	}
	if f.PCMask && i >= c.maskable {
		r.Fail(at, errBlocks)
	}
	return r.Err()
}

// readAttribute reads the attributes that version 3 has before the FREs.
func (f *FDE) readAttribute(r *wire.Cursor) {
	at := r.Pos()
	b := r.Bytes(attributeSize)
	if b == nil {
		return
	}
	f.setInfo(r, at, uint32(half(b, f.chunk.big)), b[2:])
}

// setInfo sets the fields from the number of FREs, which is stored at offset at, and the
// bytes after it: func_info, func_info2 (version 3), block size (not version 1). The
// cursor is at the first FRE.
func (f *FDE) setInfo(r *wire.Cursor, at int, fres uint32, b []byte) {
	info, info2, rep := b[0], uint8(0), 1
	infoAt := at + 4
	f.RepSize = v1RepSize
	switch f.chunk.Version {
	case 2:
		f.RepSize = b[1]
	case 3:
		infoAt, rep = at+2, 2
		info2, f.RepSize = b[1], b[2]
	}

	// The bits of func_info; key B has a meaning on AArch64 only.
	f.NumFREs = fres
	f.Signal = f.chunk.Version == 3 && info&infoSignal != 0
	f.Flex = info2&info2Type == 1
	f.PCMask = info&infoPCMask != 0
	f.KeyB = info&infoKeyB != 0 && f.chunk.ABI.isAArch64()
	f.addrSize = 1 << (info & infoFREType)

	// The valid numbers of data words depend on the version and on the FDE type.
	f.minWords, f.maxWords = 0, f.chunk.maxWords
	if f.Flex {
		f.maxWords = maxWords
	}
	if f.chunk.Version == 1 {
		f.minWords = 1
	}

	// The fast path reads default FDEs without a fixed FP only.
	f.canFast = !f.Flex && f.chunk.FixedFP == 0 && !(f.chunk.regWords && f.chunk.FixedRA != 0)
	f.span = uint64(f.Size)
	if f.PCMask {
		f.span = uint64(f.RepSize)
	}

	// Each FRE takes at least its start field and the info byte.
	switch {
	case info&infoFREType > 2:
		r.Fail(infoAt, errFREType)
	case info2&info2Type > 1:
		r.Fail(infoAt+1, errFDEType)
	case f.PCMask && f.RepSize == 0:
		r.Fail(infoAt+rep, errRepSize)
	case uint64(f.NumFREs)*uint64(f.addrSize+1) > uint64(r.Len()):
		r.Fail(at, located.ErrTruncated)
	}
}

// anchor returns the address that the start field at offset at is relative to.
func (c *Chunk) anchor(at int) uint64 {
	if c.in.opts.Relocatable || c.Flags&funcStartPCRel != 0 {
		return c.in.opts.Addr + uint64(at)
	}
	if c.Flags&fdeSorted != 0 {
		// GNU ld up to 2.44 makes the field relative to the section.
		return c.in.opts.Addr + uint64(c.Offset)
	}

	// Neither flag: GNU ld always sorts, so another linker wrote the section. A linker
	// that does not know SFrame (lld) only applies the PC-relative relocations.
	return c.in.opts.Addr + uint64(at)
}
