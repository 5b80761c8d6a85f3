// Package reloc applies relocations to the bytes of a section with debug or unwind
// information. howto.go lists, for each relocation type of each machine, the value and
// the field; apply.go computes the value and writes the field.
package reloc

import (
	"debug/elf"
	"errors"

	"symkit/internal/wire"
)

// Reasons for which a field was not relocated.
var (
	ErrType   = errors.New("unknown relocation type")
	ErrPlace  = errors.New("relocation outside the section")
	ErrSymbol = errors.New("relocation against a symbol that does not exist")
)

// Entry is one relocation (gABI, "Relocation").
type Entry struct {
	Offset uint64
	Addend int64
	Type   uint32 // on 64-bit MIPS up to three types, the first in the low byte
	Sym    uint32
}

// Symbol has the properties of a symbol that a relocation uses.
type Symbol struct {
	Value, Size uint64
	Base        uint64 // virtual address of the symbol's section
	TLS         bool
}

// Section is the bytes that relocations apply to.
type Section struct {
	Machine   elf.Machine
	Class     elf.Class
	BigEndian bool
	Data      []byte
	Addr      uint64 // virtual address of Data
	InField   bool   // SHT_REL: the addend is in the field
	// Symbol returns a symbol by its index, or ErrSymbol. A symbol in another file, or
	// without an address, has the value 0.
	Symbol func(index uint32) (Symbol, error)
}

// Apply applies r. After an error (ErrType, ErrPlace, ErrSymbol), the field is
// unchanged.
func (s *Section) Apply(r *Entry) error {
	if s.Class == elf.ELFCLASS64 && s.Machine == elf.EM_MIPS && r.Type > 0xff {
		return s.applyChain(r)
	}
	h := s.howto(r.Type)
	if h.calc == calcNone {
		return nil
	}

	// Check the field before it is read or written.
	at, err := s.place(r, h)
	if err != nil {
		return err
	}

	// The addend is in the entry or in the field; in the sums of RISC-V and LoongArch,
	// the field is an operand instead.
	addend := uint64(r.Addend)
	if s.InField && h.calc != calcAdd && h.calc != calcSub {
		addend = s.get(at, h.field)
	}
	v, err := s.value(r, h, addend)
	if err != nil {
		return err
	}

	// Some types add to the field or subtract from it.
	switch h.calc {
	case calcAdd:
		v = s.get(at, h.field) + v
	case calcSub:
		v = s.get(at, h.field) - v
	}
	s.put(at, h.field, v)
	return nil
}

// applyChain applies up to three relocation types of one entry of 64-bit MIPS: each
// result is the addend of the next type, and only the last type writes its field (MIPS64
// ELF, "Relocation"). Only the first type has a symbol. If r_ssym is not 0, the second
// type has a special symbol, which is not supported.
func (s *Section) applyChain(r *Entry) error {
	step := *r
	var last howto
	for kinds := r.Type; kinds != 0; kinds >>= 8 {
		step.Type = kinds & 0xff
		h := s.howto(step.Type)
		if h.calc == calcNone {
			continue
		}
		if _, err := s.place(&step, h); err != nil || r.Type>>24 != 0 {
			return ErrType
		}

		// The result is the addend of the next type.
		v, err := s.value(&step, h, uint64(step.Addend))
		if err != nil {
			return err
		}
		last, step.Addend, step.Sym = h, int64(v), 0
	}
	if last.calc != calcUnknown {
		s.put(r.Offset, last.field, uint64(step.Addend))
	}
	return nil
}

// howto returns how to apply a type of relocation; the zero value is unknown.
func (s *Section) howto(kind uint32) howto {
	table := machineOf(s.Machine).howtos
	if uint64(kind) < uint64(len(table)) {
		return table[kind]
	}
	return howto{}
}

// place returns the offset of r's field, after a check that the whole field is in the
// section.
func (s *Section) place(r *Entry, h howto) (at uint64, err error) {
	// The size of the field in bytes; a ULEB128 has at least one.
	n := uint64(h.field)
	switch h.field {
	case fieldLow6, fieldULEB:
		n = 1
	case fieldLow31:
		n = 4
	}

	size := uint64(len(s.Data))
	switch {
	case h.calc == calcUnknown:
		return 0, ErrType
	case r.Offset > size || n > size-r.Offset:
		return 0, ErrPlace
	case h.field == fieldULEB && s.uleb(r.Offset) == nil:
		return 0, ErrPlace
	}
	return r.Offset, nil
}

// value returns the result of r's calculation without the field's content.
func (s *Section) value(r *Entry, h howto, addend uint64) (uint64, error) {
	// Without a symbol, the value is the addend alone.
	if r.Sym == 0 { // the undefined symbol
		if h.calc == calcRel {
			addend -= s.Addr + r.Offset
		}
		return addend, nil
	}

	sym, err := s.Symbol(r.Sym)
	if err != nil {
		return 0, err
	}

	// The calculation decides which value of the symbol counts: its address, its size, or its
	// offset in the TLS block.
	v := sym.Value
	switch h.calc {
	case calcSize:
		return sym.Size + addend, nil
	case calcRel:
		return v + addend - (s.Addr + r.Offset), nil
	case calcTLS:
		if !sym.TLS { // the section's symbol
			v -= sym.Base
		}
		v -= dtvOffset(s.Machine)
	}
	return v + addend, nil
}

// dtvOffset returns the offset of a machine's thread pointers from the start of a TLS
// block. Compilers add it to the addend (TLS_DTV_OFFSET of the psABIs).
func dtvOffset(m elf.Machine) uint64 {
	switch m {
	case elf.EM_MIPS, elf.EM_MIPS_RS3_LE, elf.EM_PPC, elf.EM_PPC64:
		return 0x8000
	case elf.EM_RISCV:
		return 0x800
	}
	return 0
}

// uleb returns the bytes of the ULEB128 at an offset, or nil if it is damaged.
func (s *Section) uleb(at uint64) []byte {
	c := wire.New("", s.Data, false)
	c.Seek(at)
	c.SkipLEB()
	if c.Err() != nil {
		return nil
	}
	return s.Data[at:c.Pos()]
}

// get reads a field at an offset that place has checked.
func (s *Section) get(at uint64, f field) (v uint64) {
	switch f {
	case fieldLow6:
		return uint64(s.Data[at] & 0x3f)
	case fieldLow31:
		return s.get(at, 4) & 0x7fffffff
	case fieldULEB:
		for i, b := range s.uleb(at) {
			v |= uint64(b&0x7f) << (7 * i)
		}
		return v
	}
	c := wire.New("", s.Data[at:], s.BigEndian)
	return c.Uint(int(f))
}

// put writes the low bits of v into a field at an offset that place has checked. A
// ULEB128 keeps its length, so that no other byte moves.
func (s *Section) put(at uint64, f field, v uint64) {
	switch f {
	case fieldLow6:
		s.Data[at] = s.Data[at]&0xc0 | uint8(v)&0x3f
	case fieldLow31:
		s.put(at, 4, s.get(at, 4)&(1<<31)|v&0x7fffffff)
	case fieldULEB:
		b := s.uleb(at)
		for i := range b {
			b[i] = b[i]&0x80 | uint8(v&0x7f)
			v >>= 7
		}
	default:
		b := s.Data[at:][:f]
		for i := range b {
			k := i
			if s.BigEndian {
				k = len(b) - 1 - i
			}
			b[k] = uint8(v)
			v >>= 8
		}
	}
}
