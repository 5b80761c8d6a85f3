package elfx

import (
	"debug/elf"
	"errors"
	"strings"
	"testing"

	"symkit/test/elftest"
)

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
		if id := m.BuildID(); string(id) != "0123456789abcdefghij" {
			t.Errorf("build id %q", id)
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
		{moved, debug(func(*elftest.Spec) {}), errNoCode},
	} {
		m, err := Join(test.a, test.b)
		if m != nil || !errors.Is(err, test.want) || !strings.HasPrefix(err.Error(), "test.elf: does not belong to test.elf: ") {
			t.Errorf("%v, want %v", err, test.want)
		}
	}
}
