package sframe

import (
	"symkit/cfi"
	"symkit/internal/wire"
)

// FDE describes one function, or in a linker's PLT a run of equal blocks
// (SFrame V3 §2.3). It owns the storage that its iterators yield from: one
// goroutine at a time, and one iteration.
type FDE struct {
	// Index is the place in the chunk's table, Offset that of the entry, and of
	// its start field, in the section.
	Index, Offset int
	// Start is the virtual address of the first byte described, Size the number
	// of bytes; 0 occurs. Start + Size does not exceed 64 bits.
	Start uint64
	Size  uint32
	// NumFREs is 0 for a signal frame whose rules SFrame cannot hold.
	NumFREs uint32
	// RepSize is the size of a block where PCMask is set: 16 in version 1,
	// which does not store it.
	RepSize uint8
	// PCMask: the FREs describe a block that repeats through the function.
	PCMask bool
	// KeyB: a mangled return address is signed with pointer authentication
	// key B, not A (AArch64).
	KeyB bool
	// Signal: the frame of a signal trampoline (version 3).
	Signal bool
	// Flex: the FREs hold register and offset pairs (version 3).
	Flex bool

	chunk    *Chunk
	freAt    int    // offset of the first FRE in the section
	addrSize int    // of the FREs' start field
	span     uint64 // bytes that one pass over the FREs describes
	minWords uint8  // words of an FRE that have a meaning
	maxWords uint8
	usual    bool // quick may read the FREs

	// The current row.
	at   int // the place of its FRE
	row  cfi.Row
	regs [3]cfi.RegRule
}

// End is the address after the last byte described.
func (f *FDE) End() uint64 { return f.Start + uint64(f.Size) }

// Chunk is the chunk that the FDE belongs to.
func (f *FDE) Chunk() *Chunk { return f.chunk }

// Bits of func_info and func_info2 (SFrame V3 §2.3.3).
const (
	infoFREType = 0x0f
	infoPCMask  = 0x10
	infoKeyB    = 0x20
	infoSignal  = 0x80

	info2Type = 0x1f

	// attributeSize is the size of what version 3 keeps in front of the FREs.
	attributeSize = 5

	// v1RepSize is the only block size ld 2.40 writes: AMD64 PLT entries.
	v1RepSize = 16
)

// FDE reads entry i < NumFDEs of the table.
func (c *Chunk) FDE(i int) (FDE, error) {
	var f FDE
	err := f.read(c, i)
	return f, err
}

// read sets every field but those of the current row.
func (f *FDE) read(c *Chunk, i int) error {
	size := c.entrySize()
	at := c.fdes0 + i*size
	big := c.big
	var r wire.Cursor
	r.Reset(sectionName, c.data[:c.end], big)
	r.Seek(uint64(at))
	b := r.Bytes(uint64(size)) // inside: place has checked the table
	f.Index, f.Offset, f.chunk = i, at, c
	start, rest := uint64(0), b[4:]
	if c.Version == 3 {
		start, rest = long(b, big), b[8:]
	} else {
		start = uint64(int64(int32(word(b, big))))
	}

	f.Start = c.anchor(at) + start
	f.Size = word(rest, big)
	off := word(rest[4:], big)
	if off > c.FRELen {
		r.Fail(at+size-len(rest)+4, ErrFREOffset)
	}

	r.Seek(uint64(c.fres) + uint64(off))
	if c.Version == 3 {
		f.readAttribute(&r)
	} else {
		f.setInfo(&r, at+12, word(rest[8:], big), rest[12:])
	}

	f.freAt = r.Pos()
	if f.Start+uint64(f.Size) < f.Start {
		r.Fail(at, ErrRange)
	}
	if i >= c.usable {
		r.Fail(at, ErrSharing)
	}
	if f.PCMask && i >= c.maskable {
		r.Fail(at, ErrBlocks)
	}
	return r.Err()
}

// readAttribute reads what version 3 keeps in front of the FREs.
func (f *FDE) readAttribute(r *wire.Cursor) {
	at := r.Pos()
	b := r.Bytes(attributeSize)
	if b == nil {
		return
	}
	f.setInfo(r, at, uint32(half(b, f.chunk.big)), b[2:])
}

// setInfo takes the number of FREs, stored at offset at, and the bytes behind
// it: func_info, func_info2 (version 3), block size (not version 1). The cursor
// stands at the FREs.
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

	f.NumFREs = fres
	f.Signal = f.chunk.Version == 3 && info&infoSignal != 0
	f.Flex = info2&info2Type == 1
	f.PCMask = info&infoPCMask != 0
	f.KeyB = info&infoKeyB != 0 && f.chunk.ABI.isAArch64()
	f.addrSize = 1 << (info & infoFREType)
	f.minWords, f.maxWords = 0, f.chunk.maxWords
	if f.Flex {
		f.maxWords = MaxWords
	}
	if f.chunk.Version == 1 {
		f.minWords = 1
	}

	f.usual = !f.Flex && f.chunk.FixedFP == 0 && !(f.chunk.regWords && f.chunk.FixedRA != 0)
	f.span = uint64(f.Size)
	if f.PCMask {
		f.span = uint64(f.RepSize)
	}

	switch {
	case info&infoFREType > 2:
		r.Fail(infoAt, ErrFREType)
	case info2&info2Type > 1:
		r.Fail(infoAt+1, ErrFDEType)
	case f.PCMask && f.RepSize == 0:
		r.Fail(infoAt+rep, ErrRepSize)
	case uint64(f.NumFREs)*uint64(f.addrSize+1) > uint64(r.Len()):
		r.Fail(at, wire.ErrTruncated)
	}
}

// cursorAt makes c stand at an offset among the FREs and end with them.
func (f *FDE) cursorAt(c *wire.Cursor, at int) {
	c.Reset(sectionName, f.chunk.data[:f.chunk.end], f.chunk.big)
	c.Seek(uint64(at))
}

// anchor is the address from which the start field at offset at counts.
func (c *Chunk) anchor(at int) uint64 {
	if c.opts.Relocatable || c.Flags&FuncStartPCRel != 0 {
		return c.opts.Addr + uint64(at)
	}
	if c.Flags&FDESorted != 0 {
		// GNU ld up to 2.44 makes the field relative to the section.
		return c.opts.Addr + uint64(c.Offset)
	}

	// Neither: not from GNU ld, which always sorts. Linkers that do not know
	// SFrame (lld) have merely applied the PC-relative relocations.
	return c.opts.Addr + uint64(at)
}
