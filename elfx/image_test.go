package elfx

import (
	"debug/elf"
	"errors"
	"strings"
	"testing"

	"symkit/internal/wire"
	"symkit/test/elftest"
)

// gABI has nothing on it: GDB manual, "Separate Debug Files".
func TestDebugLink(t *testing.T) {
	elftest.EveryKind(t, func(t *testing.T, class elf.Class, big bool) {
		s := &elftest.Spec{Class: class, Big: big}
		s.Sections = []elftest.Sec{s.LinkSection("a.debug", 0x12345678),
			{Name: ".gnu_debugaltlink", Kind: elf.SHT_PROGBITS, Data: []byte("../.dwz/x\x00ID")}}
		f := mustFile(t, s.Build())
		if link, err := f.DebugLink(); link != (DebugLink{"a.debug", 0x12345678}) || err != nil {
			t.Errorf("%+v, %v", link, err)
		}
		if link, err := f.AltLink(); link.Path != "../.dwz/x" || string(link.ID) != "ID" || link.Sup || err != nil {
			t.Errorf("%+v, %v", link, err)
		}
	})
	none := mustFile(t, (&elftest.Spec{}).Build())
	if link, err := none.DebugLink(); link.Name != "" || err != nil {
		t.Errorf("no link: %+v, %v", link, err)
	}
	for _, test := range []struct {
		section, data string
		want          error
		offset        int
	}{
		{".gnu_debuglink", "abc", wire.ErrUnterminated, 0},
		{".gnu_debuglink", "abc\x00\x01\x02", wire.ErrTruncated, 4},
		{".gnu_debuglink", "\x00\x00\x00\x00\x01\x02\x03\x04", ErrLinkName, 0},
		{".gnu_debuglink", "../../x\x00\x01\x02\x03\x04", ErrLinkName, 0},
		{".gnu_debugaltlink", "abc", wire.ErrUnterminated, 0},
		{".gnu_debugaltlink", "\x00ID", ErrLinkName, 0},
	} {
		f := mustFile(t, (&elftest.Spec{Sections: []elftest.Sec{{Name: test.section, Kind: elf.SHT_PROGBITS, Data: []byte(test.data)}}}).Build())
		_, err := f.DebugLink()
		if test.section == ".gnu_debugaltlink" {
			_, err = f.AltLink()
		}
		elftest.WantError(t, err, test.want, test.section, test.offset)
	}
}

func TestJoin(t *testing.T) {
	main := mustFile(t, elftest.StrippedSpec(elf.ELFCLASS64, false).Build())
	debug := mustFile(t, elftest.DebugSpec(elf.ELFCLASS64, false).Build())
	for _, pair := range [][2]*File{{main, debug}, {debug, main}} {
		m, err := Join(pair[0], pair[1])
		if err != nil || m.Main != main || m.Debug != debug || m.DWARF() != debug {
			t.Fatalf("%+v, %v", m, err)
		}
		for name, want := range map[string]*File{".text": main, ".eh_frame": main, ".debug_info": debug, ".debug_frame": debug, ".bss": nil, ".debug_line": nil} {
			s := m.Section(name)
			if want == nil && s != nil || want != nil && (s == nil || s.File() != want) {
				t.Errorf("%s: %+v", name, s)
			}
		}
		if data, err := m.SectionData(".eh_frame"); string(data) != "unwind" || err != nil {
			t.Errorf("%q, %v", data, err)
		}
		if data, err := m.SectionData(".debug_line"); data != nil || err != nil {
			t.Errorf("%q, %v", data, err)
		}
		if id, err := m.ModuleID(); id != "333231303534373638396162636465660" || err != nil {
			t.Errorf("%s, %v", id, err)
		}
	}
	full := mustFile(t, elftest.Plain(elf.ELFCLASS64, false).Build())
	if m, err := Join(full, main); err != nil || m.Main != main || m.Debug != full {
		t.Errorf("two binaries: %+v, %v", m, err)
	}
	if m, err := Join(debug, nil); err != nil || m.Main != debug || m.DWARF() != debug || m.Section(".text") != nil {
		t.Errorf("alone: %+v, %v", m, err)
	}
}

func TestJoinErrors(t *testing.T) {
	main := mustFile(t, elftest.StrippedSpec(elf.ELFCLASS64, false).Build())
	debug := func(change func(s *elftest.Spec)) *File {
		s := elftest.DebugSpec(elf.ELFCLASS64, false)
		change(s)
		return mustFile(t, s.Build())
	}
	moved := debug(func(*elftest.Spec) {})
	moved.Segments[0].Vaddr += 0x1000
	for _, test := range []struct {
		a, b *File
		want error
	}{
		{main, mustFile(t, elftest.DebugSpec(elf.ELFCLASS64, true).Build()), ErrOtherMachine},
		{main, debug(func(s *elftest.Spec) { s.Sections[1].Data = s.NoteBytes("GNU", 3, []byte("x"), 4) }), ErrOtherBuildID},
		{main, moved, ErrOtherLayout},
		{moved, debug(func(*elftest.Spec) {}), ErrNoCode},
	} {
		m, err := Join(test.a, test.b)
		if m != nil || !errors.Is(err, test.want) || !strings.HasPrefix(err.Error(), "test.elf: does not belong to test.elf: ") {
			t.Errorf("%v, want %v", err, test.want)
		}
	}
}

// Symbols come from whichever file has .symtab.
func TestImageSymbols(t *testing.T) {
	withSymbols := symbolSpec(elf.ELFCLASS64, false)
	debug := mustFile(t, withSymbols.Build())
	code := &elftest.Spec{Sections: []elftest.Sec{{Name: ".text", Kind: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC, Data: []byte("code")}}}
	m, err := Join(mustFile(t, code.Build()), debug)
	if err != nil {
		t.Fatal(err)
	}
	if table, err := m.Symbols(); err != nil || table == nil || len(table.Symbols) != 4 {
		t.Errorf("%v, %v", table, err)
	}
	m.Debug = nil
	if table, err := m.Symbols(); err != nil || table != nil {
		t.Errorf("%v, %v", table, err)
	}
}
