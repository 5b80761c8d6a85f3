package elfx

import (
	"debug/elf"
	"fmt"
	"testing"
)

// Sections of one name in an object are one, what is in no group first; a
// relocation against one leads to its place in the whole (gABI, "Section
// Groups").
func TestParts(t *testing.T) {
	everyKind(t, func(t *testing.T, class elf.Class, big bool) {
		// The last section, 10, is the main one; symbol 4 is the section 9.
		s := &spec{kind: elf.ET_REL, machine: elf.EM_X86_64, class: class, big: big}
		entry := uint64(12)
		if class == elf.ELFCLASS64 {
			entry = 24
		}
		sym := s.enc()
		sym.symbol(Symbol{})
		sym.symbol(Symbol{Type: elf.STT_SECTION, Shndx: 4})
		debug := func(name, data string, flags elf.SectionFlag) sec {
			// build tells sections apart by what it takes for their names.
			return sec{name: name + "\x00" + data, kind: elf.SHT_PROGBITS, flags: flags, data: []byte(data), align: 1}
		}
		s.sections = []sec{
			debug(".debug_info", "type1", elf.SHF_GROUP),
			debug(".text", "text", elf.SHF_ALLOC|elf.SHF_GROUP),
			debug(".text", "more", elf.SHF_ALLOC),
			debug(".debug_info", "T2", elf.SHF_GROUP),
			debug(".debug_str", "one", 0),
			{name: ".strtab", kind: elf.SHT_STRTAB, data: []byte{0}},
			{name: ".symtab", kind: elf.SHT_SYMTAB, link: ".strtab", entsize: map[elf.Class]uint64{elf.ELFCLASS64: 24, elf.ELFCLASS32: 16}[class], data: sym.b},
			debug(".debug_info", "main....", 0),
			{name: ".rela.debug_info", kind: elf.SHT_RELA, info: 8, link: ".symtab", entsize: entry,
				data: s.relocBytes(true, []Reloc{{Offset: 4, Type: uint32(elf.R_X86_64_32), Sym: 1, Addend: 1}})},
		}
		f := mustFile(t, s.build())
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
	object := func(sections ...sec) *File {
		for i := range sections {
			sections[i].name, sections[i].kind = fmt.Sprintf(".debug_info\x00%d", i), elf.SHT_PROGBITS
		}
		return mustFile(t, (&spec{kind: elf.ET_REL, sections: sections}).build())
	}
	_, err := object(sec{data: []byte("one")}, sec{data: []byte("two"), flags: elf.SHF_COMPRESSED}).SectionData(".debug_info")
	if err == nil {
		t.Fatal("no error")
	}
	// Each of these claims the most that is believed without a look.
	zstd := (&spec{}).enc().u32(uint32(elf.COMPRESS_ZSTD), 0).u64(freeSize, 1)
	f := object(sec{data: zstd.b, flags: elf.SHF_COMPRESSED}, sec{data: zstd.b, flags: elf.SHF_COMPRESSED})
	_, err = f.SectionData(".debug_info")
	wantError(t, err, ErrParts, ".debug_info", 0)
	// A linked file's sections are what they are.
	linked := (&spec{sections: []sec{{name: ".debug_info\x00a", kind: elf.SHT_PROGBITS, data: []byte("a")}, {name: ".debug_info\x00b", kind: elf.SHT_PROGBITS, data: []byte("b")}}}).build()
	if data, err := mustFile(t, linked).SectionData(".debug_info"); string(data) != "a" || err != nil {
		t.Error(fmt.Sprintf("%q", data), err)
	}
}
