// Package plt finds the names that code without symbols can have: NAME@plt for a slot of the procedure
// linkage table, and the name of a section for its beginning.
package plt

import (
	"debug/elf"
	"encoding/binary"
	"slices"
	"strings"

	"symkit/check/internal/naming"
	"symkit/check/internal/truth/symtab"
	"symkit/elfx"
)

// Stubs are the slots and sections of a file that a PUBLIC may have the name of.
type Stubs struct {
	// Slots are those that were decoded.
	Slots []Slot
	// Losses are the reasons why relocations were not read.
	Losses []error

	file     *elfx.File
	symbols  *symtab.Table
	sections []*elfx.Section
	// slots has, by address, the names of the functions that stubs call. A slot jumps through a
	// word of the GOT, whose relocation has the symbol, or pushes the number of that relocation
	// (x86). On MIPS the symbol of an undefined function has the address of its stub.
	slots map[uint64][]uint32
	// targets are the names of all functions that relocations refer to, and texts, made when first
	// needed, all their spellings. Where slots are not decoded any of them is accepted.
	targets []uint32
	// calls are the names of the relocations of .rela.plt, in order, and words the addresses of their words in the GOT.
	calls [][]uint32
	words []uint64
	texts map[string]bool
	// unsure are the targets whose names no code here reads rightly.
	unsure []uint32
	exact  bool // slots are decoded
}

// Slot is a decoded slot: it begins at one of two addresses.
type Slot struct {
	At   [2]uint64
	Name uint32 // number in the names of the symbols
	Own  bool   // only symkit is known to name such a slot
}

// isPLT reports whether linkers write stubs to sections of this name.
func isPLT(name string) bool {
	return strings.HasPrefix(name, ".plt") || name == ".iplt" || name == ".MIPS.stubs"
}

// Read finds the stubs of a file, whose symbols are given.
func Read(main *elfx.File, symbols *symtab.Table) *Stubs {
	t := &Stubs{file: main, symbols: symbols, slots: map[uint64][]uint32{}}
	for i := range main.Sections {
		if s := &main.Sections[i]; s.Flags&elf.SHF_EXECINSTR != 0 {
			t.sections = append(t.sections, s)
		}
	}

	got := t.relocations()
	t.exact = decodesSlots(main.Machine)
	for _, s := range t.sections {
		data, err := s.Data()
		if err != nil || !t.exact || !isPLT(s.Name) {
			continue
		}
		if main.Machine == elf.EM_X86_64 || main.Machine == elf.EM_386 {
			t.decode(s.Addr, data, got)
			t.decodePush(s.Addr, data)
		} else {
			t.decodeLoads(newSlotCode(main, s, data), got)
		}
	}
	return t
}

// relocations returns the names of the functions that each word of the GOT is for, by address.
func (t *Stubs) relocations() map[uint64][]uint32 {
	got := map[uint64][]uint32{}
	main := t.file
	dynsym, err := main.Dynsym()
	if err != nil {
		return got
	}

	if dynsym != nil && main.Machine == elf.EM_MIPS {
		t.decodeMIPS(dynsym)
	}
	for i := range main.Sections {
		s := &main.Sections[i]
		if !isRelocs(s.Type) || s.Flags&elf.SHF_ALLOC == 0 || !s.Present() {
			continue
		}

		// A relocation without a symbol is that of an indirect function: its addend is the
		// resolver.
		relocs, err := s.Relocs()
		if err != nil {
			t.Losses = append(t.Losses, err)
			continue
		}
		ids := make([]uint32, 0, len(relocs)) // nearly all relocations have one name
		for _, rel := range relocs {
			from := len(ids)
			switch {
			case rel.Sym != 0 && dynsym != nil && uint64(rel.Sym) < uint64(len(dynsym.Symbols)):
				ids = append(ids, t.symbols.Names.Number(dynsym.NameOf(&dynsym.Symbols[rel.Sym]), nil, 0, naming.Traits{}))
			case rel.Sym == 0:
				for _, s := range t.symbols.At(uint64(rel.Addend)) {
					ids = append(ids, s.Name)
				}
			}

			names := ids[from:len(ids):len(ids)]
			got[rel.Offset] = join(got[rel.Offset], names)
			t.targets = append(t.targets, names...)
			if s.Name == ".rela.plt" || s.Name == ".rel.plt" {
				t.calls = append(t.calls, names)
				t.words = append(t.words, rel.Offset)
			}
		}
	}

	slices.Sort(t.targets)
	t.targets = slices.Compact(t.targets)
	return got
}

// join returns a and b. It copies neither if the other one is empty, and writes to none.
func join(a, b []uint32) []uint32 {
	if len(a) == 0 {
		return b[:len(b):len(b)]
	}
	return append(a[:len(a):len(a)], b...)
}

// slotSize is the least size of a slot: those of .plt.got have 8 bytes.
const slotSize = 8

// decodePush finds the slots of x86 that push the number of their relocation (on 32-bit its offset)
// and jump to the head of the PLT. Where indirect branches are tracked, slots of .plt do only that.
func (t *Stubs) decodePush(addr uint64, code []byte) {
	size := uint64(1)
	if t.file.Machine == elf.EM_386 {
		size = 8 // of a relocation
	}
	for at := 0; at+6 <= len(code); at++ {
		if code[at] != 0x68 || code[at+5] != 0xe9 && code[at+5] != 0xf2 { // jmp, bnd jmp
			continue
		}
		if at >= 5 && code[at-5] == 0xe9 {
			continue // the slot has a retpoline, and begins long before
		}
		n := uint64(binary.LittleEndian.Uint32(code[at+1:])) / size
		if n < uint64(len(t.calls)) {
			slot := uint64(at)&^(2*slotSize-1) + addr
			if len(t.slots[slot]) == 0 && len(t.calls[n]) > 0 {
				t.Slots = append(t.Slots, Slot{[2]uint64{slot, slot}, t.calls[n][0], true})
			}
			t.slots[slot] = join(t.slots[slot], t.calls[n])
		}
	}
}

// decode finds the slots of x86 that jump through a word of the GOT, or load the word for a retpoline.
func (t *Stubs) decode(addr uint64, code []byte, got map[uint64][]uint32) {
	base := t.base(code)
	for at := range code {
		// The slot begins at most 15 bytes before the jump, at a multiple of the slot's size.
		names := got[t.word(addr, code, at, base)]
		if len(names) == 0 {
			continue
		}
		j := Slot{Name: names[0]}
		for i, size := range []uint64{slotSize, 2 * slotSize} {
			j.At[i] = (uint64(at) &^ (size - 1)) + addr
			t.slots[j.At[i]] = join(t.slots[j.At[i]], names)
		}
		t.Slots = append(t.Slots, j)
	}
}

// word returns the address of the GOT's word that the instruction at an offset of the code jumps through, or loads for
// a retpoline, 0 for another instruction. An address is relative to the next instruction (64-bit), absolute (32-bit),
// or relative to the GOT (32-bit, position-independent), whose address is base.
func (t *Stubs) word(addr uint64, code []byte, at int, base uint64) uint64 {
	wide := t.file.Machine == elf.EM_X86_64
	size, ofGOT := 0, false // of the bytes before the address
	switch c := code[at:]; {
	case len(c) >= 2 && c[0] == 0xff && c[1] == 0x25: // jmp *word
		size = 2
	case len(c) >= 2 && c[0] == 0xff && c[1] == 0xa3 && !wide: // jmp *word(%ebx)
		size, ofGOT = 2, true
	case len(c) >= 3 && c[0] == 0x4c && c[1] == 0x8b && c[2] == 0x1d && wide: // mov word(%rip), %r11
		size = 3
	case len(c) >= 3 && c[0] == 0x50 && c[1] == 0x8b && c[2] == 0x83 && !wide: // push %eax; mov word(%ebx), %eax
		size, ofGOT = 3, true
	case len(c) >= 2 && c[0] == 0x50 && c[1] == 0xa1 && !wide: // push %eax; mov word, %eax
		size = 2
	}
	if size == 0 || at+size+4 > len(code) {
		return 0
	}

	disp := binary.LittleEndian.Uint32(code[at+size:])
	switch {
	case wide:
		return addr + uint64(at+size+4) + uint64(int64(int32(disp)))
	case ofGOT:
		return uint64(uint32(base) + disp) // disp may be negative
	}
	return uint64(disp)
}

// base returns the address that position-independent slots of i386 expect in %ebx. A slot jumps through the word of
// the relocation that the slot pushes (i386 psABI, "Procedure Linkage Table"); where no slot does, the address is that
// of .got.plt or .got.
func (t *Stubs) base(code []byte) uint64 {
	for at := 0; at+11 <= len(code) && t.file.Machine == elf.EM_386; at += slotSize {
		n := binary.LittleEndian.Uint32(code[at+7:]) / 8
		if code[at] == 0xff && code[at+1] == 0xa3 && code[at+6] == 0x68 && uint64(n) < uint64(len(t.words)) {
			return uint64(uint32(t.words[n]) - binary.LittleEndian.Uint32(code[at+2:]))
		}
	}
	for _, name := range []string{".got.plt", ".got"} {
		s := t.file.Section(name)
		if s != nil {
			return s.Addr
		}
	}
	return 0
}

// Judge compares name with the names for the stub at addr.
func (t *Stubs) Judge(addr uint64, name string) naming.Verdict {
	i := slices.IndexFunc(t.sections, func(s *elfx.Section) bool { return addr >= s.Addr && addr-s.Addr < s.Size })
	if i < 0 {
		return naming.Wrong
	}
	s := t.sections[i]
	if addr == s.Addr && (name == naming.Escaped(s.Name) || strings.HasPrefix(name, "<"+s.Name+" ELF section in ")) {
		return naming.Right // the second name is the one that Mozilla's tool writes
	}

	target, ok := strings.CutSuffix(name, "@plt")
	if !ok || !isPLT(s.Name) {
		return naming.Wrong
	}
	if !t.exact && len(t.slots[addr]) == 0 {
		return t.ofTargets(target)
	}
	return t.best(t.slots[addr], target)
}

// best returns the best verdict on a name for any of the functions ids.
func (t *Stubs) best(ids []uint32, name string) (best naming.Verdict) {
	for _, id := range ids {
		best = max(best, t.symbols.Names.Judge(id, name))
	}
	return best
}

// ofTargets returns the best verdict on a name for any of the targets.
func (t *Stubs) ofTargets(name string) naming.Verdict {
	names := t.symbols.Names
	if t.texts == nil {
		t.texts = map[string]bool{}
		for _, id := range t.targets {
			names.Texts(id, func(s string) bool { t.texts[s] = true; return true })
			if names.IsUnsure(id) {
				t.unsure = append(t.unsure, id)
			}
		}
	}
	if t.texts[naming.Normalise(name)] {
		return naming.Right
	}
	return t.best(t.unsure, name)
}

// isRelocs reports whether sections of a type hold relocations with symbols.
func isRelocs(t elf.SectionType) bool {
	return t == elf.SHT_RELA || t == elf.SHT_REL || t == androidRela || t == androidRel
}

// Android's packed relocations (bionic's linker, SHT_LOOS + 1 and + 2).
const androidRel, androidRela elf.SectionType = 0x60000001, 0x60000002
