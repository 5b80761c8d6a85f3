package elfx

import (
	"debug/elf"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/internal/wire"
)

// linkSection is a .gnu_debuglink.
func (s *spec) linkSection(name string, crc uint32) sec {
	e := s.enc()
	e.b = append(append(e.b, name...), 0)
	for len(e.b)%4 != 0 {
		e.b = append(e.b, 0)
	}
	return sec{name: ".gnu_debuglink", kind: elf.SHT_PROGBITS, data: e.u32(crc).b}
}

// debugSpec is the debug file of plain: everything loaded is NOBITS, except
// the build id.
func debugSpec(class elf.Class, big bool) *spec {
	s := plain(class, big)
	s.sections[0].kind, s.sections[0].size, s.sections[0].data = elf.SHT_NOBITS, 40, nil
	s.sections = append(s.sections, sec{name: ".eh_frame", kind: elf.SHT_NOBITS, flags: elf.SHF_ALLOC, size: 4},
		sec{name: ".debug_frame", kind: elf.SHT_PROGBITS, data: []byte("debug")})
	return s
}

// strippedSpec is plain without debug information.
func strippedSpec(class elf.Class, big bool) *spec {
	s := plain(class, big)
	s.sections = append(s.sections[:3:3], sec{name: ".eh_frame", kind: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC, data: []byte("unwind")})
	return s
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func openFile(t *testing.T, path string) *File {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// gABI has nothing on it: GDB manual, "Separate Debug Files".
func TestDebugLink(t *testing.T) {
	everyKind(t, func(t *testing.T, class elf.Class, big bool) {
		s := &spec{class: class, big: big}
		s.sections = []sec{s.linkSection("a.debug", 0x12345678),
			{name: ".gnu_debugaltlink", kind: elf.SHT_PROGBITS, data: []byte("../.dwz/x\x00ID")}}
		f := mustFile(t, s.build())
		if link, err := f.DebugLink(); link != (DebugLink{"a.debug", 0x12345678}) || err != nil {
			t.Errorf("%+v, %v", link, err)
		}
		if link, err := f.AltLink(); link.Path != "../.dwz/x" || string(link.ID) != "ID" || link.Sup || err != nil {
			t.Errorf("%+v, %v", link, err)
		}
	})
	none := mustFile(t, (&spec{}).build())
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
		f := mustFile(t, (&spec{sections: []sec{{name: test.section, kind: elf.SHT_PROGBITS, data: []byte(test.data)}}}).build())
		_, err := f.DebugLink()
		if test.section == ".gnu_debugaltlink" {
			_, err = f.AltLink()
		}
		wantError(t, err, test.want, test.section, test.offset)
	}
}

// Each place is found alone, and the first of them wins.
func TestFindDebug(t *testing.T) {
	root := t.TempDir()
	debug := debugSpec(elf.ELFCLASS64, false).build()
	stripped := strippedSpec(elf.ELFCLASS64, false)
	stripped.sections = append(stripped.sections, stripped.linkSection("prog.debug", crc32.ChecksumIEEE(debug)))
	prog, dir, dir2 := filepath.Join(root, "bin", "prog"), filepath.Join(root, "d1"), filepath.Join(root, "d2")
	write(t, prog, stripped.build())
	id := fmt.Sprintf("%x", "0123456789abcdefghij")
	places := []string{
		filepath.Join(dir, ".build-id", id[:2], id[2:]+".debug"),
		filepath.Join(dir2, ".build-id", id[:2], id[2:]+".debug"),
		filepath.Join(root, "bin", "prog.debug"),
		filepath.Join(root, "bin", ".debug", "prog.debug"),
		filepath.Join(dir, root, "bin", "prog.debug"),
		filepath.Join(dir2, root, "bin", "prog.debug"),
		filepath.Join(dir, "prog.debug"),
		filepath.Join(dir2, "prog.debug"),
	}
	f := openFile(t, prog)
	found, probes := f.FindDebug([]string{dir, dir2})
	if found != nil || len(probes) < len(places) {
		t.Fatalf("found %v, probes %v", found, probes)
	}
	for _, p := range probes {
		if !errors.Is(p.Err, fs.ErrNotExist) || p.Rejected() || strings.Contains(p.Err.Error(), p.Path) {
			t.Errorf("probe %+v", p)
		}
	}
	for i := len(places) - 1; i >= 0; i-- {
		write(t, places[i], debug)
		found, probes = f.FindDebug([]string{dir, dir2})
		if found == nil || found.Path() != places[i] || probes[len(probes)-1] != (Probe{Path: places[i], What: DebugFile}) {
			t.Fatalf("found %v instead of %s, probes %v", found, places[i], probes)
		}
		found.Close()
	}
}

func TestFindDebugRejects(t *testing.T) {
	root := t.TempDir()
	debug := debugSpec(elf.ELFCLASS64, false)
	good := debug.build()
	other := debugSpec(elf.ELFCLASS64, false)
	other.sections[1].data = other.noteBytes("GNU", 3, []byte("another"), 4)
	changed := debugSpec(elf.ELFCLASS64, false)
	changed.sections[3].data = []byte("changed")
	stripped := strippedSpec(elf.ELFCLASS64, false)
	stripped.sections = append(stripped.sections, stripped.linkSection("x", crc32.ChecksumIEEE(good)))
	prog := filepath.Join(root, "p", "prog")
	write(t, prog, stripped.build())
	f := openFile(t, prog)
	id := fmt.Sprintf("%x", "0123456789abcdefghij")
	byID := filepath.Join(".build-id", id[:2], id[2:]+".debug")
	for _, test := range []struct {
		path     string
		data     []byte
		want     error
		rejected bool
	}{
		{byID, other.build(), ErrOtherBuildID, true},
		{byID, debugSpec(elf.ELFCLASS32, false).build(), ErrOtherMachine, true},
		{byID, []byte("text"), ErrNotELF, true},
		{byID, stripped.build(), nil, false},
		{"x", other.build(), ErrOtherBuildID, true},
		{"x", changed.build(), ErrOtherChecksum, true},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, test.path)
		write(t, path, test.data)
		found, probes := f.FindDebug([]string{dir})
		i := 0
		for i < len(probes)-1 && probes[i].Path != path {
			i++
		}
		if p := probes[i]; p.Path != path || !errors.Is(p.Err, test.want) || p.Rejected() != test.rejected || (found == nil) != test.rejected {
			t.Errorf("%s: found %v, probe %+v", test.path, found, p)
		}
		if found != nil {
			found.Close()
		}
	}
	// A debug file alone finds itself.
	dir := t.TempDir()
	write(t, filepath.Join(dir, byID), good)
	found, probes := openFile(t, filepath.Join(dir, byID)).FindDebug([]string{dir})
	if found != nil || len(probes) != 1 || !errors.Is(probes[0].Err, ErrSameFile) || probes[0].Rejected() {
		t.Errorf("itself: %v, %+v", found, probes)
	}
	// Damage is reported without a second path.
	bad := &spec{sections: []sec{{name: ".gnu_debuglink", kind: elf.SHT_PROGBITS, data: []byte("x")}}}
	_, probes = mustFile(t, bad.build()).FindDebug(nil)
	if len(probes) != 1 || !probes[0].Rejected() || probes[0].Err.Error() != ".gnu_debuglink+0x0: unterminated string" {
		t.Errorf("damaged link: %+v", probes)
	}
}

// A debug file is found under the directory a symbolic link leads to.
func TestFindDebugSymlink(t *testing.T) {
	root := t.TempDir()
	debug := debugSpec(elf.ELFCLASS64, false).build()
	stripped := strippedSpec(elf.ELFCLASS64, false)
	stripped.sections = append(stripped.sections, stripped.linkSection("x", crc32.ChecksumIEEE(debug)))
	write(t, filepath.Join(root, "usr", "prog"), stripped.build())
	write(t, filepath.Join(root, "usr", ".debug", "x"), debug)
	if err := os.Symlink("usr", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("usr", "prog"), filepath.Join(root, "prog")); err != nil {
		t.Fatal(err)
	}
	found, probes := openFile(t, filepath.Join(root, "prog")).FindDebug(nil)
	if found == nil {
		t.Fatalf("not found: %+v", probes)
	}
	found.Close()
}

func TestFindAlt(t *testing.T) {
	root := t.TempDir()
	dwz := plain(elf.ELFCLASS64, false).build()
	for _, path := range []string{"../.dwz/x", filepath.Join(root, "abs"), "nowhere/x"} {
		s := &spec{machine: elf.EM_PPC64}
		s.sections = []sec{{name: ".gnu_debugaltlink", kind: elf.SHT_PROGBITS, data: []byte(path + "\x00" + "0123456789abcdefghij")}}
		prog := filepath.Join(root, "a", "b", "prog")
		write(t, prog, s.build())
		want := filepath.Join(root, "debug", ".dwz", "x")
		switch path {
		case "../.dwz/x":
			want = filepath.Join(root, "a", ".dwz", "x")
		case filepath.Join(root, "abs"):
			want = path
		}
		write(t, want, dwz)
		found, probes := (&Places{DebugDirs: []string{filepath.Join(root, "debug")}}).FindAlt(openFile(t, prog))
		if found == nil || found.Path() != want {
			t.Errorf("%s: %+v", path, probes)
			continue
		}
		found.Close()
	}
	if found, probes := (&Places{}).FindAlt(mustFile(t, dwz)); found != nil || probes != nil {
		t.Errorf("without a link: %v, %v", found, probes)
	}
}

func TestJoin(t *testing.T) {
	main := mustFile(t, strippedSpec(elf.ELFCLASS64, false).build())
	debug := mustFile(t, debugSpec(elf.ELFCLASS64, false).build())
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
	full := mustFile(t, plain(elf.ELFCLASS64, false).build())
	if m, err := Join(full, main); err != nil || m.Main != main || m.Debug != full {
		t.Errorf("two binaries: %+v, %v", m, err)
	}
	if m, err := Join(debug, nil); err != nil || m.Main != debug || m.DWARF() != debug || m.Section(".text") != nil {
		t.Errorf("alone: %+v, %v", m, err)
	}
}

func TestJoinErrors(t *testing.T) {
	main := mustFile(t, strippedSpec(elf.ELFCLASS64, false).build())
	debug := func(change func(s *spec)) *File {
		s := debugSpec(elf.ELFCLASS64, false)
		change(s)
		return mustFile(t, s.build())
	}
	moved := debug(func(*spec) {})
	moved.Segments[0].Vaddr += 0x1000
	for _, test := range []struct {
		a, b *File
		want error
	}{
		{main, mustFile(t, debugSpec(elf.ELFCLASS64, true).build()), ErrOtherMachine},
		{main, debug(func(s *spec) { s.sections[1].data = s.noteBytes("GNU", 3, []byte("x"), 4) }), ErrOtherBuildID},
		{main, moved, ErrOtherLayout},
		{moved, debug(func(*spec) {}), ErrNoCode},
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
	debug := mustFile(t, withSymbols.build())
	code := &spec{sections: []sec{{name: ".text", kind: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC, data: []byte("code")}}}
	m, err := Join(mustFile(t, code.build()), debug)
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
