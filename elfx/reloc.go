package elfx

import (
	"debug/elf"
	"errors"

	"symkit/internal/wire"
)

// ErrNotRelocs: the section's type is not one of relocations.
var ErrNotRelocs = errors.New("not a relocation section")

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

// Relocs reads a SHT_REL or SHT_RELA section, or Android's packed form of one.
func (s *Section) Relocs() ([]Reloc, error) { return guarded(s.file, s.readRelocs) }

func (s *Section) readRelocs() ([]Reloc, error) {
	if s.Type == ShtAndroidRel || s.Type == ShtAndroidRela {
		return s.unpackRelocs()
	}
	c, err := s.relocCursor()
	if err != nil {
		return nil, err
	}

	// The section is a whole number of entries (relocCursor).
	relocs := make([]Reloc, uint64(c.Len())/s.Entsize)
	for i := range relocs {
		s.file.readReloc(&c, &relocs[i], s.Type == elf.SHT_RELA)
	}
	return relocs, c.Err()
}

// relocCursor returns a cursor over a SHT_REL or SHT_RELA section. The section is a
// whole number of entries.
func (s *Section) relocCursor() (c wire.Cursor, err error) {
	// An entry has an offset and r_info, and with SHT_RELA an addend.
	word := uint64(s.file.AddrSize())
	size := 2 * word
	switch s.Type {
	case elf.SHT_RELA:
		size += word
	case elf.SHT_REL:
	default:
		return c, &wire.Error{Section: s.label(), Err: ErrNotRelocs}
	}

	if s.Entsize != size {
		return c, &wire.Error{Section: s.label(), Err: ErrEntrySize}
	}
	data, err := s.bytes()
	if err != nil {
		return c, err
	}

	// A remainder means that the section is truncated.
	if over := uint64(len(data)) % size; over != 0 {
		at := len(data) - int(over)
		return c, &wire.Error{Section: s.label(), Offset: at, Err: wire.ErrTruncated}
	}
	return s.file.cursor(s.label(), data), nil
}

// readReloc reads one entry, with r_addend if addend is true.
func (f *File) readReloc(c *wire.Cursor, r *Reloc, addend bool) {
	if f.Class == elf.ELFCLASS32 {
		r.Offset = uint64(c.U32())
		info := c.U32()
		r.Sym, r.Type = info>>8, info&0xff
		if addend {
			r.Addend = int64(int32(c.U32()))
		}
		return
	}

	r.Offset = c.U64()
	if f.Machine == elf.EM_MIPS && !f.BigEndian {
		// r_info is not a 64-bit number but a structure: r_sym, then bytes r_ssym,
		// r_type3, r_type2, r_type (MIPS64 ELF, "Relocation").
		r.Sym = c.U32()
		ssym, t3, t2, t1 := c.U8(), c.U8(), c.U8(), c.U8()
		r.Type = uint32(ssym)<<24 | uint32(t3)<<16 | uint32(t2)<<8 | uint32(t1)
	} else {
		info := c.U64()
		r.Sym, r.Type = uint32(info>>32), uint32(info)
	}
	if addend {
		r.Addend = int64(c.U64())
	}
}
