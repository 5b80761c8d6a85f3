package sframe

import (
	"symkit/internal/wire"
	"symkit/limits"
	"symkit/located"
)

// The flags that some version defines (SFrame V3 §2.1.3).
const (
	fdeSorted      = 1 // the FDEs are sorted by resolved start address
	framePointer   = 2 // all functions keep a frame pointer (versions 1 and 2)
	funcStartPCRel = 4 // start addresses are relative to their own field
)

// Offsets in the header, which no version has changed (SFrame V3 §2.1, §2.2).
const (
	offVersion = 2
	offFlags   = 3
	offABI     = 4
	offAuxLen  = 7
	offNumFDEs = 8
	offNumFREs = 12
	offFRELen  = 16
	offFDEOff  = 20
	offFREOff  = 24
	headerSize = 28

	magic = 0xdee2
)

// sectionName is the name of the input in errors.
const sectionName = ".sframe"

// Options are facts that Parse needs and that the section's bytes do not have.
type Options struct {
	// Addr is the virtual address of the section's first byte.
	Addr uint64
	// ABI is the ABI of the file's ELF header (see ABIOf): a chunk of another ABI is
	// rejected. 0 accepts any.
	ABI ABI
	// Relocatable means that the section is from an ET_REL file. The caller has applied
	// its relocations (R_X86_64_PC32, R_X86_64_PC64 and their like: symbol + addend -
	// place, the section lying at Addr). Every start address is then relative to its own
	// field, in every version and with any flags. An FDE whose start field (FDE.Offset)
	// has no relocation, or has R_*_NONE, is that of a discarded section: the caller must
	// drop the FDE.
	Relocatable bool
	// Segment means that the bytes are those of a PT_GNU_SFRAME segment, which GNU ld
	// makes longer than the section in it. Bytes after a chunk that are no header are
	// then ignored, and are no damage.
	Segment bool
	// Limits bound the rows: sframe-mask-rows and sframe-sharing; and the chunks, by FileSize:
	// frame-records.
	Limits limits.Limits
	// FileSize is the size in bytes of the file that has the section, which can be compressed there.
	// 0 stands for the size of the section.
	FileSize uint64
}

// Header is the header of a chunk as it is stored (SFrame V3 §2.2).
type Header struct {
	Version uint8
	Flags   uint8
	ABI     ABI
	// FixedFP and FixedRA are the offsets from the CFA at which all functions save the
	// frame pointer and the return address. 0 means not fixed.
	FixedFP, FixedRA int8
	// AuxLen is the length in bytes of the auxiliary header.
	AuxLen uint8
	// NumFDEs is cut to the entries that the table has room for.
	NumFDEs, NumFREs uint32
	// FRELen is the length of the FRE sub-section in bytes.
	FRELen uint32
	// FDEOff and FREOff are relative to the end of the header, the auxiliary header
	// included.
	FDEOff, FREOff uint32
}

// Chunk is one SFrame section with its own header.
type Chunk struct {
	Header
	// Offset is the section offset of the header.
	Offset int

	in               *Section
	fdes0, fres, end int // offsets of the FDE table, the FREs and their end
	usable, maskable int // indices of the first refused FDE: of any kind, of those that repeat

	*convention
	big      bool
	maxWords uint8 // that have a meaning in an FRE of a default FDE
	regWords bool  // an odd word names a register (V2 errata, s390x)
}

// aux returns the auxiliary header, whose contents no ABI defines yet. The result aliases
// the section.
func (c *Chunk) aux() []byte {
	return c.in.data[c.Offset+headerSize:][:c.AuxLen:c.AuxLen]
}

// entrySize returns the size of an entry of the FDE table.
func (h *Header) entrySize() int {
	switch h.Version {
	case 1:
		return 17
	case 2:
		return 20
	}
	return 16
}

// parseHeader reads the header at section offset at and checks it.
func (s *Section) parseHeader(at int) (Chunk, error) {
	c := Chunk{Offset: at, in: s}

	// The first byte of the magic gives the byte order.
	r := wire.New(sectionName, s.data, s.data[at] == magic>>8)
	r.Seek(uint64(at))
	if r.U16() != magic {
		r.Fail(at, errMagic)
	}

	// The fields in the order of the format.
	c.Version = r.U8()
	c.Flags = r.U8()
	c.ABI = ABI(r.U8())
	c.FixedFP = int8(r.U8())
	c.FixedRA = int8(r.U8())
	c.AuxLen = r.U8()
	c.NumFDEs, c.NumFREs = r.U32(), r.U32()
	c.FRELen, c.FDEOff, c.FREOff = r.U32(), r.U32(), r.U32()
	c.big = r.BigEndian()
	if r.Err() == nil {
		c.checkPreamble(&r)
	}
	if r.Err() == nil {
		c.place(&r)
	}
	return c, r.Err()
}

// placed reports whether the parts of the chunk are known.
func (c *Chunk) placed() bool { return c.fres > 0 }

// parseChunk reads the header at section offset at, and prepares the decoding of what follows.
func (s *Section) parseChunk(at int) (Chunk, error) {
	c, err := s.parseHeader(at)

	// A length beyond the section: the FREs end at the next header at the latest.
	if c.placed() && uint64(c.end) == uint64(len(s.data)) && err != nil {
		c.end = s.nextHeader(c.fres)
	}

	c.convention = &conventions[c.ABI&7]

	// An FRE of a default FDE has words for CFA, RA unless fixed, and FP.
	c.regWords = c.ABI == S390X && c.Version == 2
	c.maxWords = 3
	if c.FixedRA != 0 {
		c.maxWords = 2
	}
	return c, err
}

// checkPreamble checks the fields that do not depend on other parts of the section. The
// first failure is the error.
func (c *Chunk) checkPreamble(r *wire.Cursor) {
	if c.Version < 1 || c.Version > 3 {
		r.Fail(c.Offset+offVersion, errVersion)
	}

	// Version 3 has dropped the flag for frame pointers.
	valid := uint8(fdeSorted | framePointer | funcStartPCRel)
	if c.Version == 3 {
		valid &^= framePointer
	}
	if c.Flags&^valid != 0 {
		r.Fail(c.Offset+offFlags, errFlags)
	}
	if c.ABI < AArch64BE || c.ABI > S390X || c.ABI == S390X && c.Version == 1 {
		r.Fail(c.Offset+offABI, errABI)
	}
	if c.ABI.isBigEndian() != r.BigEndian() {
		r.Fail(c.Offset+offABI, errByteOrder)
	}
	if c.in.opts.ABI != 0 && c.ABI != c.in.opts.ABI {
		r.Fail(c.Offset+offABI, errMismatch)
	}

	// Relocations that were sorted away from their FDEs cannot be assigned any more.
	if c.in.opts.Relocatable && c.Flags&(fdeSorted|funcStartPCRel) == fdeSorted {
		r.Fail(c.Offset+offFlags, errUntrusted)
	}
}

// place finds the parts of the chunk and checks that they follow each other inside the
// section. The sums have 64 bits and cannot wrap. If the number of FDEs or the length of the FREs
// is too large, the parts are cut.
func (c *Chunk) place(r *wire.Cursor) {
	size := uint64(len(c.in.data))
	headerEnd := uint64(c.Offset) + headerSize + uint64(c.AuxLen)
	if headerEnd > size {
		r.Fail(c.Offset+offAuxLen, located.ErrTruncated)
		return
	}

	// Both offsets count from the end of the header.
	fdes := headerEnd + uint64(c.FDEOff)
	fres := headerEnd + uint64(c.FREOff)
	if fres > size {
		r.Fail(c.Offset+offFREOff, located.ErrTruncated)
		return
	}
	if fdes > fres {
		r.Fail(c.Offset+offFDEOff, errLayout)
		return
	}
	room := (fres - fdes) / uint64(c.entrySize())
	if uint64(c.NumFDEs) > room {
		r.Fail(c.Offset+offNumFDEs, errLayout)
		c.NumFDEs = uint32(room)
		if c.FDEOff != 0 {
			return // the offset may be wrong as well: no producer sets it
		}
	}

	// The FREs are the last part.
	end := fres + uint64(c.FRELen)
	if end > size {
		r.Fail(c.Offset+offFRELen, located.ErrTruncated)
		end = size
	}
	c.fdes0, c.fres, c.end = int(fdes), int(fres), int(end)
}
