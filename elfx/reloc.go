package elfx

import (
	"debug/elf"
	"errors"
	"fmt"
	"math"

	"symkit/internal/wire"
	"symkit/located"
)

// errNotRelocs: the section's type is not one of relocations, or not one that is known.
var errNotRelocs = errors.New("not relocations of a known format")

// Section types of compact relocations (CREL, proposed for the gABI): the number that LLVM
// uses until the proposal is accepted, and the proposed number.
const (
	shtCrelLLVM elf.SectionType = 0x40000014
	shtCrel     elf.SectionType = 20
)

// isCrel reports whether a section type is that of compact relocations.
func isCrel(t elf.SectionType) bool { return t == shtCrel || t == shtCrelLLVM }

// isRelocs reports whether sections of a type have relocations that apply to the
// sections of an object.
func isRelocs(t elf.SectionType) bool { return t == elf.SHT_REL || t == elf.SHT_RELA || isCrel(t) }

// Reloc is one relocation (gABI, "Relocation").
type Reloc struct {
	// Offset is a virtual address, or, in a relocatable object, an offset in the
	// section that sh_info names.
	Offset uint64
	// Addend is 0 in a SHT_REL section, whose addends are in the relocated fields.
	Addend int64
	// Type depends on the processor. On 64-bit MIPS, Type holds up to three types,
	// the first in the low byte.
	Type uint32
	// Sym is an index into the symbol table that sh_link names.
	Sym uint32
}

// relocReader reads the entries of a relocation section, one after the other.
type relocReader struct {
	wire.Cursor
	last    Reloc // the entry that next has read
	file    *File
	count   uint64 // of entries that are left
	compact bool
	addends bool // entries have addends; otherwise these are in the relocated fields
	shift   uint // of the offsets of compact relocations
}

// newRelocReader returns a reader of a section of type SHT_REL, SHT_RELA or CREL. The count
// of entries is at most the number of bytes.
func newRelocReader(s *Section) (r relocReader, err error) {
	r = relocReader{file: s.file, compact: isCrel(s.Type), addends: s.Type == elf.SHT_RELA}
	switch {
	case !isRelocs(s.Type):
		return r, &located.Error{Section: s.label(), Err: fmt.Errorf("%w: type %#x", errNotRelocs, uint32(s.Type))}
	case !r.compact && s.Entsize != r.entrySize():
		return r, &located.Error{Section: s.label(), Err: errEntrySize}
	}
	data, err := s.unpacked()
	if err != nil {
		return r, err
	}
	r.Cursor = s.file.cursor(s.label(), data)
	if r.compact {
		r.header()
		return r, r.Err()
	}

	// A remainder means that the section is truncated.
	over := uint64(len(data)) % s.Entsize
	if over != 0 {
		at := len(data) - int(over)
		return r, &located.Error{Section: s.label(), Offset: at, Err: located.ErrTruncated}
	}
	r.count = uint64(len(data)) / s.Entsize
	return r, nil
}

// entrySize returns the size of an entry that is not compact: an offset, r_info, and with
// SHT_RELA an addend.
func (r *relocReader) entrySize() uint64 {
	words := 2
	if r.addends {
		words = 3
	}
	return uint64(words * r.file.AddrSize())
}

// next reads one entry. It returns false at the end and after an error.
func (r *relocReader) next() bool {
	if r.count == 0 {
		return false
	}
	r.count--
	switch {
	case r.compact:
		r.delta()
	case r.file.Class == elf.ELFCLASS32:
		r.entry32()
	default:
		r.entry64()
	}
	return r.Err() == nil
}

// entry32 reads an Elf32_Rel or an Elf32_Rela.
func (r *relocReader) entry32() {
	r.last.Offset = uint64(r.U32())
	info := r.U32()
	r.last.Sym, r.last.Type = info>>8, info&0xff
	if r.addends {
		r.last.Addend = int64(int32(r.U32()))
	}
}

// entry64 reads an Elf64_Rel or an Elf64_Rela.
func (r *relocReader) entry64() {
	r.last.Offset = r.U64()
	if r.file.Machine == elf.EM_MIPS && !r.file.BigEndian {
		// r_info is not a 64-bit number but a structure: r_sym, then bytes r_ssym,
		// r_type3, r_type2, r_type (MIPS64 ELF, "Relocation").
		r.last.Sym = r.U32()
		ssym, t3, t2, t1 := r.U8(), r.U8(), r.U8(), r.U8()
		r.last.Type = uint32(ssym)<<24 | uint32(t3)<<16 | uint32(t2)<<8 | uint32(t1)
	} else {
		info := r.U64()
		r.last.Sym, r.last.Type = uint32(info>>32), uint32(info)
	}
	if r.addends {
		r.last.Addend = int64(r.U64())
	}
}

// Compact relocations (CREL): a header, then one entry a relocation, all in LEB128. The
// members of an entry are differences to the entry before; the low bits of the first byte
// say which members differ.
const (
	crelShift  = 3 // header: the shift of the offsets
	crelAddend = 4 // header: entries have addends; entry: the addend differs
	crelCount  = 3 // header: bits below the count

	crelSym  = 1 // entry: the symbol differs
	crelType = 2 // entry: the type differs
)

// header reads the header of compact relocations.
func (r *relocReader) header() {
	h := r.ULEB()
	r.count, r.addends, r.shift = h>>crelCount, h&crelAddend != 0, uint(h&crelShift)
	if r.Err() == nil && r.count > uint64(r.Len()) {
		r.Fail(r.Pos(), located.ErrTruncated)
	}
	if r.Err() != nil {
		r.count = 0
	}
}

// delta reads an entry of compact relocations.
func (r *relocReader) delta() {
	// The first byte has the flags and the low bits of the offset's difference; a ULEB128
	// with all further bits follows if its high bit is set.
	flags := uint(2)
	if r.addends {
		flags = 3
	}
	first := r.U8()
	delta := uint64(first&0x7f) >> flags
	if first >= 0x80 {
		delta |= r.ULEB() << (7 - flags)
	}
	r.last.Offset += delta << r.shift

	if first&crelSym != 0 {
		r.last.Sym += uint32(r.SLEB())
	}
	if first&crelType != 0 {
		r.last.Type += uint32(r.SLEB())
	}
	if r.addends && first&crelAddend != 0 {
		r.last.Addend += r.SLEB()
	}
	if r.file.Class == elf.ELFCLASS32 {
		r.last.Offset &= math.MaxUint32
		r.last.Addend = int64(int32(r.last.Addend))
	}
}
