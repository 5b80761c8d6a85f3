package elfx

import (
	"debug/elf"

	"symkit/internal/wire"
)

// applier applies relocations to the bytes of one section.
type applier struct {
	file    *File
	symbols []Symbol
	howtos  []howto
	data    []byte
	addr    uint64 // of data's first byte
	inField bool   // SHT_REL: the addend is in the field
	lost    []lostRelocs
}

// apply applies r, or leaves the field and says why.
func (a *applier) apply(r *Reloc) error {
	if a.file.Class == elf.ELFCLASS64 && a.file.Machine == elf.EM_MIPS && r.Type > 0xff {
		return a.applyChain(r)
	}
	h := a.howto(r.Type)
	if h.calc == calcNone {
		return nil
	}
	at, err := a.place(r, h)
	if err != nil {
		return err
	}
	addend := uint64(r.Addend)
	if a.inField && h.calc != calcAdd && h.calc != calcSub {
		addend = a.get(at, h.field)
	}
	v, err := a.value(r, h, addend)
	if err != nil {
		return err
	}
	switch h.calc {
	case calcAdd:
		v = a.get(at, h.field) + v
	case calcSub:
		v = a.get(at, h.field) - v
	}
	a.put(at, h.field, v)
	return nil
}

// applyChain applies up to three relocations in one, as 64-bit MIPS has them:
// each result is the addend of the next, and the last one's field is written
// (MIPS64 ELF, "Relocation"). Only the first has a symbol; in r_ssym other than
// 0 the second has a special one.
func (a *applier) applyChain(r *Reloc) error {
	step := *r
	var last howto
	for kinds := r.Type; kinds != 0; kinds >>= 8 {
		step.Type = kinds & 0xff
		h := a.howto(step.Type)
		if h.calc == calcNone {
			continue
		}
		if _, err := a.place(&step, h); err != nil || r.Type>>24 != 0 {
			return ErrRelocType
		}
		v, err := a.value(&step, h, uint64(step.Addend))
		if err != nil {
			return err
		}
		last, step.Addend, step.Sym = h, int64(v), 0
	}
	if last.calc != calcUnknown {
		a.put(r.Offset, last.field, uint64(step.Addend))
	}
	return nil
}

func (a *applier) howto(kind uint32) howto {
	if uint64(kind) < uint64(len(a.howtos)) {
		return a.howtos[kind]
	}
	return howto{}
}

// place checks that the whole field is in the section.
func (a *applier) place(r *Reloc, h howto) (at uint64, err error) {
	n := uint64(h.field)
	switch h.field {
	case fieldLow6:
		n = 1
	case fieldLow31:
		n = 4
	case fieldULEB:
		n = 1
	}
	size := uint64(len(a.data))
	switch {
	case h.calc == calcUnknown:
		return 0, ErrRelocType
	case r.Offset > size || n > size-r.Offset:
		return 0, ErrRelocPlace
	case h.field == fieldULEB && a.uleb(r.Offset) == nil:
		return 0, ErrRelocPlace
	}
	return r.Offset, nil
}

// value is what r computes, without what the field holds.
func (a *applier) value(r *Reloc, h howto, addend uint64) (uint64, error) {
	if r.Sym == 0 { // the undefined symbol
		if h.calc == calcRel {
			addend -= a.addr + r.Offset
		}
		return addend, nil
	}
	if uint64(r.Sym) >= uint64(len(a.symbols)) {
		return 0, ErrRelocSymbol
	}
	s := &a.symbols[r.Sym]
	v, base := s.Value, uint64(0)
	switch {
	case s.Shndx == ShnAbs:
	case s.Shndx == ShnUndef || s.Shndx >= ShnReserve:
		v = 0 // in another file, or without a place: common
	case uint64(s.Shndx) >= uint64(len(a.file.Sections)):
		return 0, ErrRelocSymbol
	default:
		base = a.file.Sections[s.Shndx].Addr
	}
	switch h.calc {
	case calcSize:
		return s.Size + addend, nil
	case calcRel:
		return v + addend - (a.addr + r.Offset), nil
	case calcTLS:
		if s.Type != elf.STT_TLS { // the section's symbol
			v -= base
		}
		v -= dtvOffset(a.file.Machine)
	}
	return v + addend, nil
}

// dtvOffset is what a machine's thread pointers into TLS blocks are ahead of the
// blocks; compilers add it to the addend (TLS_DTV_OFFSET of the psABIs).
func dtvOffset(m elf.Machine) uint64 {
	switch m {
	case elf.EM_MIPS, elf.EM_MIPS_RS3_LE, elf.EM_PPC, elf.EM_PPC64:
		return 0x8000
	case elf.EM_RISCV:
		return 0x800
	}
	return 0
}

// uleb is the bytes of the ULEB128 at a place, or nil.
func (a *applier) uleb(at uint64) []byte {
	c := wire.New("", a.data, false)
	c.Seek(at)
	c.SkipLEB()
	if c.Err() != nil {
		return nil
	}
	return a.data[at:c.Pos()]
}

// get reads a field whose place was checked.
func (a *applier) get(at uint64, f field) (v uint64) {
	switch f {
	case fieldLow6:
		return uint64(a.data[at] & 0x3f)
	case fieldLow31:
		return a.get(at, 4) & 0x7fffffff
	case fieldULEB:
		for i, b := range a.uleb(at) {
			v |= uint64(b&0x7f) << (7 * i)
		}
		return v
	}
	c := a.file.cursor("", a.data[at:])
	return c.Uint(int(f))
}

// put writes the low bits of v into a field whose place was checked. A ULEB128
// keeps its length, so that nothing behind it moves.
func (a *applier) put(at uint64, f field, v uint64) {
	switch f {
	case fieldLow6:
		a.data[at] = a.data[at]&0xc0 | uint8(v)&0x3f
	case fieldLow31:
		a.put(at, 4, a.get(at, 4)&(1<<31)|v&0x7fffffff)
	case fieldULEB:
		b := a.uleb(at)
		for i := range b {
			b[i] = b[i]&0x80 | uint8(v&0x7f)
			v >>= 7
		}
	default:
		b := a.data[at:][:f]
		for i := range b {
			k := i
			if a.file.BigEndian {
				k = len(b) - 1 - i
			}
			b[k] = uint8(v)
			v >>= 8
		}
	}
}
