package elfx

import (
	"debug/elf"
	"math"

	"symkit/internal/wire"
)

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
		r.Fail(r.Pos(), wire.ErrTruncated)
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
