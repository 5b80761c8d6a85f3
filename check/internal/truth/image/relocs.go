package image

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"

	"symkit/elfx"
	"symkit/internal/wire"
)

// ErrNotRelocated: bytes of a relocatable object are not what their relocations say.
var ErrNotRelocated = errors.New("not relocated")

// relocatedSections are the sections whose bytes decide what a symbol file says.
var relocatedSections = []string{".debug_info", ".debug_types", ".debug_line", ".debug_addr", ".debug_ranges",
	".debug_rnglists", ".debug_str_offsets", ".debug_frame", ".eh_frame"}

// absolute has the relocation types whose field is the symbol's address plus the addend, and
// the size of the field, by machine (the psABIs).
var absolute = map[elf.Machine]map[uint32]int{
	elf.EM_X86_64:    {1: 8, 10: 4},
	elf.EM_386:       {1: 4},
	elf.EM_ARM:       {2: 4},
	elf.EM_AARCH64:   {257: 8, 258: 4},
	elf.EM_RISCV:     {1: 4, 2: 8},
	elf.EM_LOONGARCH: {1: 4, 2: 8},
	elf.EM_S390:      {4: 4, 22: 8},
	elf.EM_PPC:       {1: 4},
	elf.EM_PPC64:     {1: 4, 38: 8},
	elf.EM_MIPS:      {2: 4, 18: 8},
	elf.EM_SPARC:     {3: 4, 23: 4},
	elf.EM_SPARCV9:   {3: 4, 23: 4, 32: 8, 54: 8},
}

// Unrelocated compares the bytes of a relocatable object, as elfx gives them, with its
// relocations, which it decodes anew. It returns an error for each section with a field that
// does not have its value, or with relocations of a form that is not known.
func Unrelocated(f *elfx.File) (wrong []error) {
	if f.Type != elf.ET_REL {
		return nil
	}
	table, err := f.Symtab()
	if err != nil || table == nil {
		return nil
	}
	for i := range f.Sections {
		s := &f.Sections[i]
		if uint64(s.Info) >= uint64(len(f.Sections)) {
			continue
		}
		target := &f.Sections[s.Info]
		if !isRelocationOf(s, target) || f.Section(target.Name) != target {
			continue
		}
		err := relocated(s, target, table.Symbols)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", f.Path(), err))
		}
	}
	return wrong
}

// isRelocationOf reports whether s has relocations of target, to judge by its name, whatever
// its type: ".rela.debug_info" is about .debug_info.
func isRelocationOf(s, target *elfx.Section) bool {
	return slices.Contains(relocatedSections, target.Name) && len(s.Name) > len(target.Name) &&
		strings.HasSuffix(s.Name, target.Name) && target.Present() && s.Type != elf.SHT_PROGBITS
}

// relocated compares the fields of target that are absolute addresses with their relocations.
func relocated(s, target *elfx.Section, symbols []elfx.Symbol) error {
	data, err := target.Data()
	if err != nil {
		return nil // reported where the section is read
	}
	return compareFields(s, target, data, symbols)
}

// compareFields compares data, the bytes of target, with the relocations in s.
func compareFields(s, target *elfx.Section, data []byte, symbols []elfx.Symbol) error {
	raw, err := s.Raw()
	if err != nil {
		return nil // reported by the reader of target
	}
	f := s.File()
	r := relocations{Cursor: wire.New(s.Name, raw, f.BigEndian), f: f, kind: s.Type}
	if !r.start() {
		return &wire.Error{Section: target.Name, Err: fmt.Errorf("%w: %s has type %#x", ErrNotRelocated, s.Name, uint32(s.Type))}
	}

	// Addends in the fields are lost when the fields are relocated: they are in the file, if
	// the section is not compressed there.
	var before []byte
	if !r.addends && target.Flags&elf.SHF_COMPRESSED == 0 {
		before, _ = target.Raw()
	}

	first, wrong := uint64(0), 0
	for r.next() {
		size := absolute[f.Machine][r.typ]
		want, ok := addressOf(f, symbols, r.sym)
		if size == 0 || !ok || r.offset > uint64(len(data)) || uint64(size) > uint64(len(data))-r.offset {
			continue
		}
		switch {
		case r.addends:
			want += r.addend
		case r.offset+uint64(size) <= uint64(len(before)):
			want += field(before, r.offset, size, f.BigEndian)
		default:
			continue
		}
		if field(data, r.offset, size, f.BigEndian) == want<<(64-8*size)>>(64-8*size) {
			continue
		}
		if wrong == 0 {
			first = r.offset
		}
		wrong++
	}
	if wrong == 0 {
		return r.Err()
	}
	return &wire.Error{Section: target.Name, Offset: int(first), Err: fmt.Errorf("%w (fields: %d)", ErrNotRelocated, wrong)}
}

// field returns the number in the size bytes at an offset.
func field(data []byte, at uint64, size int, big bool) uint64 {
	c := wire.New("", data[at:][:size], big)
	return c.Uint(size)
}

// addressOf returns the value of a symbol. It is 0 if the symbol is in another file or common;
// ok is false for symbols that have no address.
func addressOf(f *elfx.File, symbols []elfx.Symbol, index uint32) (value uint64, ok bool) {
	if index == 0 {
		return 0, true
	}
	if uint64(index) >= uint64(len(symbols)) {
		return 0, false
	}
	s := &symbols[index]
	switch {
	case s.Type == elf.STT_TLS:
		return 0, false
	case s.Shndx == elfx.ShnAbs:
		return s.Value, true
	case s.Shndx == elfx.ShnUndef || s.Shndx >= elfx.ShnReserve:
		return 0, true
	}
	return s.Value, uint64(s.Shndx) < uint64(len(f.Sections))
}

// relocations decodes a relocation section: one entry at a time.
type relocations struct {
	wire.Cursor
	f       *elfx.File
	kind    elf.SectionType
	addends bool

	offset, addend uint64
	sym, typ       uint32

	compact bool
	left    uint64 // entries of a compact section
	shift   uint
}

// Section types of compact relocations (CREL): the number proposed for the gABI, and LLVM's until then.
const shtCrel, shtCrelLLVM elf.SectionType = 20, 0x40000014

// start prepares the first entry. It returns false if the form is not known.
func (r *relocations) start() bool {
	switch r.kind {
	case elf.SHT_RELA:
		r.addends = true
	case elf.SHT_REL:
	case shtCrel, shtCrelLLVM:
		header := r.ULEB()
		r.compact, r.left, r.addends, r.shift = true, header/8, header&4 != 0, uint(header%4)
	default:
		return false
	}
	return true
}

// next reads an entry.
func (r *relocations) next() bool {
	if r.compact {
		if r.left == 0 {
			return false
		}
		r.left--
		r.difference()
		return r.Err() == nil
	}

	if r.Len() == 0 {
		return false
	}
	word := r.f.AddrSize()
	r.offset = r.Uint(word)
	switch {
	case word == 4:
		info := r.U32()
		r.sym, r.typ = info>>8, info&0xff
	case r.f.Machine == elf.EM_MIPS: // r_sym, then four bytes, the last of which is r_type
		r.sym = r.U32()
		b := r.Bytes(4)
		r.typ = ^uint32(0)
		if b != nil && b[0]|b[1]|b[2] == 0 {
			r.typ = uint32(b[3])
		}
	default:
		info := r.U64()
		r.sym, r.typ = uint32(info>>32), uint32(info)
	}
	if r.addends {
		r.addend = signed(r.Uint(word), word)
	}
	return r.Err() == nil
}

// difference reads an entry of compact relocations: what differs from the entry before
// (the gABI's proposal of CREL).
func (r *relocations) difference() {
	bits := uint(2)
	if r.addends {
		bits = 3
	}
	b := r.U8()
	step := uint64(b&0x7f) >> bits
	if b&0x80 != 0 {
		step += r.ULEB() << (7 - bits)
	}
	word := r.f.AddrSize()
	r.offset = (r.offset + step<<r.shift) << (64 - 8*word) >> (64 - 8*word)
	if b&1 != 0 {
		r.sym += uint32(r.SLEB())
	}
	if b&2 != 0 {
		r.typ += uint32(r.SLEB())
	}
	if r.addends && b&4 != 0 {
		r.addend = signed(r.addend+uint64(r.SLEB()), word)
	}
}

// signed extends the sign of a number of 4 or 8 bytes.
func signed(v uint64, size int) uint64 {
	if size == 4 {
		return uint64(int64(int32(v)))
	}
	return v
}
