package elfx

import (
	"debug/elf"
	"fmt"
	"testing"

	"symkit/internal/bounds"
	"symkit/test/elftest"
)

// Sections of one name in an object are one, what is in no group first; a
// relocation against one leads to its place in the whole (gABI, "Section
// Groups").
func TestParts(t *testing.T) {
	elftest.EveryKind(t, func(t *testing.T, class elf.Class, big bool) {
		// The last section, 10, is the main one; symbol 4 is the section 9.
		s := &elftest.Spec{Kind: elf.ET_REL, Machine: elf.EM_X86_64, Class: class, Big: big}
		entry := uint64(12)
		if class == elf.ELFCLASS64 {
			entry = 24
		}
		sym := s.Enc()
		appendSymbol(sym, Symbol{})
		appendSymbol(sym, Symbol{Type: elf.STT_SECTION, Shndx: 4})
		debug := func(name, data string, flags elf.SectionFlag) elftest.Sec {
			// build distinguishes sections by the bytes that it takes for their names.
			return elftest.Sec{Name: name + "\x00" + data, Kind: elf.SHT_PROGBITS, Flags: flags, Data: []byte(data), Align: 1}
		}
		s.Sections = []elftest.Sec{
			debug(".debug_info", "type1", elf.SHF_GROUP),
			debug(".text", "text", elf.SHF_ALLOC|elf.SHF_GROUP),
			debug(".text", "more", elf.SHF_ALLOC),
			debug(".debug_info", "T2", elf.SHF_GROUP),
			debug(".debug_str", "one", 0),
			{Name: ".strtab", Kind: elf.SHT_STRTAB, Data: []byte{0}},
			{Name: ".symtab", Kind: elf.SHT_SYMTAB, Link: ".strtab", Entsize: map[elf.Class]uint64{elf.ELFCLASS64: 24, elf.ELFCLASS32: 16}[class], Data: sym.B},
			debug(".debug_info", "main....", 0),
			{Name: ".rela.debug_info", Kind: elf.SHT_RELA, Info: 8, Link: ".symtab", Entsize: entry,
				Data: relocBytes(s, true, []Reloc{{Offset: 4, Type: uint32(elf.R_X86_64_32), Sym: 1, Addend: 1}})},
		}
		f := mustFile(t, s.Build())
		word := "\x0e\x00\x00\x00" // 8 of main, 5 of type1, and 1
		if big {
			word = "\x00\x00\x00\x0e"
		}
		data, err := f.SectionData(".debug_info")
		if want := "main" + word + "type1T2"; string(data) != want || err != nil {
			t.Errorf("%q, %v, want %q", data, err, want)
		}
		if again, _ := f.SectionData(".debug_info"); len(again) == 0 || &again[0] != &data[0] {
			t.Error("another copy")
		}
		for name, want := range map[string]string{".debug_str": "one", ".text": "text"} {
			if data, err := f.SectionData(name); string(data) != want || err != nil {
				t.Errorf("%s: %q, %v", name, data, err)
			}
		}
		if losses := append(f.Losses(), f.RelocLosses()...); len(losses) > 0 {
			t.Error(losses)
		}
	})
}

// Parts that cannot be read, and parts of which there are too many.
func TestPartsErrors(t *testing.T) {
	object := func(sections ...elftest.Sec) *File {
		for i := range sections {
			sections[i].Name, sections[i].Kind = fmt.Sprintf(".debug_info\x00%d", i), elf.SHT_PROGBITS
		}
		return mustFile(t, (&elftest.Spec{Kind: elf.ET_REL, Sections: sections}).Build())
	}
	_, err := object(elftest.Sec{Data: []byte("one")}, elftest.Sec{Data: []byte("two"), Flags: elf.SHF_COMPRESSED}).SectionData(".debug_info")
	if err == nil {
		t.Fatal("no error")
	}
	// Each of these claims the most that is believed without a look.
	zstd := (&elftest.Spec{}).Enc().U32(uint32(elf.COMPRESS_ZSTD), 0).U64(bounds.FreeSize, 1)
	f := object(elftest.Sec{Data: zstd.B, Flags: elf.SHF_COMPRESSED}, elftest.Sec{Data: zstd.B, Flags: elf.SHF_COMPRESSED})
	_, err = f.SectionData(".debug_info")
	elftest.WantError(t, err, errParts, ".debug_info", 0)
	// A linked file's sections are what they are.
	linked := (&elftest.Spec{Sections: []elftest.Sec{{Name: ".debug_info\x00a", Kind: elf.SHT_PROGBITS, Data: []byte("a")}, {Name: ".debug_info\x00b", Kind: elf.SHT_PROGBITS, Data: []byte("b")}}}).Build()
	if data, err := mustFile(t, linked).SectionData(".debug_info"); string(data) != "a" || err != nil {
		t.Error(fmt.Sprintf("%q", data), err)
	}
}
