package elfx

import (
	"debug/elf"
	"encoding/binary"
	"testing"

	"symkit/test/elftest"
)

// Every loaded section in header order from 0, each at its alignment; those
// that are not loaded at 0. Symbols follow their sections.
func TestLayout(t *testing.T) {
	f := mustFile(t, objectSpec(elf.EM_X86_64, elf.ELFCLASS64, false, true, make([]byte, 8)).Build())
	for name, want := range map[string]uint64{".rodata": 0, ".text": textAddr, ".tdata": tdataAddr, ".debug_info": 0, ".symtab": 0} {
		if got := f.Section(name).Addr; got != want {
			t.Errorf("%s at %#x, want %#x", name, got, want)
		}
	}
	table, err := f.Symtab()
	if err != nil {
		t.Fatal(err)
	}
	for sym, want := range map[int]uint64{symText: textAddr, symFunc: textAddr + 0x10, symUndef: 0x99, symCommon: 32,
		symAbs: 0x1234, symTLS: 4, symTdata: tdataAddr, symLost: 1} {
		if got := table.Symbols[sym].Value; got != want {
			t.Errorf("symbol %d at %#x, want %#x", sym, got, want)
		}
	}
	if r := f.ExecRanges(); len(r) != 1 || r[0] != (Range{textAddr, textAddr + 0x30}) {
		t.Errorf("code at %#x", r)
	}
	if f.LoadAddress() != 0 {
		t.Errorf("load address %#x", f.LoadAddress())
	}
}

// headerField64 is the place of a field in the header of a 64-bit section.
func headerField64(l *elftest.Placed, section string, field int) []byte {
	return l.Data[l.Shoff+l.Index[section]*l.Shentsize+field:]
}

const shAddr, shSize, shAlign = 16, 32, 48

// An object that was laid out before keeps its addresses; one whose addresses
// overlap is laid out anew.
func TestLayoutGiven(t *testing.T) {
	for _, test := range []struct{ rodata, text, tdata, want uint64 }{
		{0x1000, 0x2000, 0x3000, 0x2000},
		{0, 0x10, 0x40, 0x10},
		{0, 0x8, 0x40, textAddr},
		{0x1000, 0x2000, 0, textAddr},
		{0x1000, 1<<64 - 8, 0x3000, textAddr},
	} {
		l := objectSpec(elf.EM_X86_64, elf.ELFCLASS64, false, true, make([]byte, 8)).Layout()
		for name, addr := range map[string]uint64{".rodata": test.rodata, ".text": test.text, ".tdata": test.tdata} {
			binary.LittleEndian.PutUint64(headerField64(l, name, shAddr), addr)
		}
		if got := mustFile(t, l.Data).Section(".text").Addr; got != test.want {
			t.Errorf("%+v: .text at %#x", test, got)
		}
	}
}

// Sizes and alignments that leave the address space end the layout.
func TestLayoutTooLarge(t *testing.T) {
	for _, test := range []struct {
		field int
		value uint64
		lost  bool
		tdata uint64
	}{
		{shSize, 1 << 63, false, textAddr + 1<<63},
		{shSize, 1<<64 - textAddr, true, 0},
		{shAlign, 1 << 63, false, 1<<63 + 0x40},
		{shAlign, 3, false, 0x40}, // no power of two: none
	} {
		l := objectSpec(elf.EM_X86_64, elf.ELFCLASS64, false, true, make([]byte, 8)).Layout()
		binary.LittleEndian.PutUint64(headerField64(l, ".text", test.field), test.value)
		f := mustFile(t, l.Data)
		if got := f.Section(".tdata").Addr; got != test.tdata {
			t.Errorf("%+v: .tdata at %#x", test, got)
		}
		if test.lost != (len(f.Losses()) == 1) {
			t.Errorf("%+v: %v", test, f.Losses())
		} else if test.lost {
			elftest.WantError(t, f.Losses()[0], errLayout, sectionHeaders, l.Index[".text"]*l.Shentsize)
		}
	}
	s := objectSpec(elf.EM_386, elf.ELFCLASS32, false, false, make([]byte, 8))
	s.Sections[1] = elftest.Sec{Name: ".text", Kind: elf.SHT_NOBITS, Flags: elf.SHF_ALLOC, Size: 1<<32 - 1}
	l := s.Layout()
	f := mustFile(t, l.Data)
	if len(f.Losses()) != 1 {
		t.Fatalf("32-bit: %v", f.Losses())
	}
	elftest.WantError(t, f.Losses()[0], errLayout, sectionHeaders, l.Index[".text"]*l.Shentsize)
}

// Two objects with code at other places are no pair.
func TestLayoutJoin(t *testing.T) {
	a := objectSpec(elf.EM_X86_64, elf.ELFCLASS64, false, true, make([]byte, 8))
	b := objectSpec(elf.EM_X86_64, elf.ELFCLASS64, false, true, make([]byte, 8))
	if _, err := Join(mustFile(t, a.Build()), mustFile(t, b.Build())); err != nil {
		t.Error(err)
	}
	b.Sections[0].Data = make([]byte, 100)
	if _, err := Join(mustFile(t, a.Build()), mustFile(t, b.Build())); err == nil {
		t.Error("joined")
	}
}

// FuzzRelocate relocates anything; what is damaged has a place, and data keeps
// its length.
func FuzzRelocate(f *testing.F) {
	for _, test := range applied {
		f.Add(uint16(test.machine), test.class == elf.ELFCLASS64, test.big, test.rela, []byte(test.field),
			test.r.Offset, uint64(test.r.Addend), test.r.Type, test.r.Sym)
	}
	f.Fuzz(func(t *testing.T, machine uint16, wide, big, rela bool, data []byte, offset, addend uint64, kind, sym uint32) {
		class := elf.ELFCLASS32
		if wide {
			class = elf.ELFCLASS64
		}
		r := Reloc{Offset: offset, Addend: int64(addend), Type: kind, Sym: sym}
		file := mustFile(t, objectSpec(elf.Machine(machine), class, big, rela, data, r, r).Build())
		got, err := file.SectionData(".debug_info")
		if err != nil || len(got) != len(data) {
			t.Fatalf("%d bytes of %d, %v", len(got), len(data), err)
		}
		useAll(t, file)
		for _, err := range file.RelocLosses() {
			elftest.WantPlace(t, err, len(data))
		}
	})
}

// BenchmarkRelocate applies a million relocations per operation.
func BenchmarkRelocate(b *testing.B) {
	const n = 1 << 20
	relocs := make([]Reloc, n)
	for i := range relocs {
		relocs[i] = Reloc{Offset: uint64(i) * 8, Type: uint32(elf.R_X86_64_64), Sym: symFunc}
	}
	data := objectSpec(elf.EM_X86_64, elf.ELFCLASS64, false, true, make([]byte, 8*n), relocs...).Build()
	b.SetBytes(24 * n)
	b.ReportAllocs()
	for b.Loop() {
		f := mustFile(b, data)
		if _, err := f.SectionData(".debug_info"); err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
}
