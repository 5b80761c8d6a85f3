package companion

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

	"symkit/elfx"
	"symkit/test/elftest"
)

// mustFile parses a file that has to be good.
func mustFile(t testing.TB, data []byte) *elfx.File {
	t.Helper()
	f, err := elfx.NewFile("test.elf", data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func openFile(t *testing.T, path string) *elfx.File {
	t.Helper()
	f, err := elfx.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// Each place is found alone, and the first of them wins.
func TestFindDebug(t *testing.T) {
	root := t.TempDir()
	debug := elftest.DebugSpec(elf.ELFCLASS64, false).Build()
	stripped := elftest.StrippedSpec(elf.ELFCLASS64, false)
	stripped.Sections = append(stripped.Sections, stripped.LinkSection("prog.debug", crc32.ChecksumIEEE(debug)))
	prog, dir, dir2 := filepath.Join(root, "bin", "prog"), filepath.Join(root, "d1"), filepath.Join(root, "d2")
	elftest.Write(t, prog, stripped.Build())
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
	found, probes := (&Search{DebugDirs: []string{dir, dir2}}).FindDebug(t.Context(), f)
	if found != nil || len(probes) < len(places) {
		t.Fatalf("found %v, probes %v", found, probes)
	}
	for _, p := range probes {
		if !errors.Is(p.Err, fs.ErrNotExist) || p.Rejected() || strings.Contains(p.Err.Error(), p.Path) {
			t.Errorf("probe %+v", p)
		}
	}
	for i := len(places) - 1; i >= 0; i-- {
		elftest.Write(t, places[i], debug)
		found, probes = (&Search{DebugDirs: []string{dir, dir2}}).FindDebug(t.Context(), f)
		if found == nil || found.Path() != places[i] || probes[len(probes)-1] != (Probe{Path: places[i], What: DebugFile}) {
			t.Fatalf("found %v instead of %s, probes %v", found, places[i], probes)
		}
		found.Close()
	}
}

func TestFindDebugRejects(t *testing.T) {
	root := t.TempDir()
	debug := elftest.DebugSpec(elf.ELFCLASS64, false)
	good := debug.Build()
	other := elftest.DebugSpec(elf.ELFCLASS64, false)
	other.Sections[1].Data = other.NoteBytes("GNU", 3, []byte("another"), 4)
	changed := elftest.DebugSpec(elf.ELFCLASS64, false)
	changed.Sections[3].Data = []byte("changed")
	stripped := elftest.StrippedSpec(elf.ELFCLASS64, false)
	stripped.Sections = append(stripped.Sections, stripped.LinkSection("x", crc32.ChecksumIEEE(good)))
	prog := filepath.Join(root, "p", "prog")
	elftest.Write(t, prog, stripped.Build())
	f := openFile(t, prog)
	id := fmt.Sprintf("%x", "0123456789abcdefghij")
	byID := filepath.Join(".build-id", id[:2], id[2:]+".debug")
	for _, test := range []struct {
		path     string
		data     []byte
		want     error
		rejected bool
	}{
		{byID, other.Build(), elfx.ErrOtherBuildID, true},
		{byID, elftest.DebugSpec(elf.ELFCLASS32, false).Build(), elfx.ErrOtherMachine, true},
		{byID, []byte("text"), elfx.ErrNotELF, true},
		{byID, stripped.Build(), nil, false},
		{"x", other.Build(), elfx.ErrOtherBuildID, true},
		{"x", changed.Build(), errOtherChecksum, true},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, test.path)
		elftest.Write(t, path, test.data)
		found, probes := (&Search{DebugDirs: []string{dir}}).FindDebug(t.Context(), f)
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
	elftest.Write(t, filepath.Join(dir, byID), good)
	found, probes := (&Search{DebugDirs: []string{dir}}).FindDebug(t.Context(), openFile(t, filepath.Join(dir, byID)))
	if found != nil || len(probes) != 1 || !errors.Is(probes[0].Err, errSameFile) || probes[0].Rejected() {
		t.Errorf("itself: %v, %+v", found, probes)
	}
	// Damage is reported without a second path.
	bad := &elftest.Spec{Sections: []elftest.Sec{{Name: ".gnu_debuglink", Kind: elf.SHT_PROGBITS, Data: []byte("x")}}}
	_, probes = (&Search{DebugDirs: nil}).FindDebug(t.Context(), mustFile(t, bad.Build()))
	if len(probes) != 1 || !probes[0].Rejected() || probes[0].Err.Error() != ".gnu_debuglink+0x0: unterminated string" {
		t.Errorf("damaged link: %+v", probes)
	}
}

// A debug file is found under the directory a symbolic link leads to.
func TestFindDebugSymlink(t *testing.T) {
	root := t.TempDir()
	debug := elftest.DebugSpec(elf.ELFCLASS64, false).Build()
	stripped := elftest.StrippedSpec(elf.ELFCLASS64, false)
	stripped.Sections = append(stripped.Sections, stripped.LinkSection("x", crc32.ChecksumIEEE(debug)))
	elftest.Write(t, filepath.Join(root, "usr", "prog"), stripped.Build())
	elftest.Write(t, filepath.Join(root, "usr", ".debug", "x"), debug)
	if err := os.Symlink("usr", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("usr", "prog"), filepath.Join(root, "prog")); err != nil {
		t.Fatal(err)
	}
	found, probes := (&Search{DebugDirs: nil}).FindDebug(t.Context(), openFile(t, filepath.Join(root, "prog")))
	if found == nil {
		t.Fatalf("not found: %+v", probes)
	}
	found.Close()
}

func TestFindAlt(t *testing.T) {
	root := t.TempDir()
	dwz := elftest.Plain(elf.ELFCLASS64, false).Build()
	for _, path := range []string{"../.dwz/x", filepath.Join(root, "abs"), "nowhere/x"} {
		s := &elftest.Spec{Machine: elf.EM_PPC64}
		s.Sections = []elftest.Sec{{Name: ".gnu_debugaltlink", Kind: elf.SHT_PROGBITS, Data: []byte(path + "\x00" + "0123456789abcdefghij")}}
		prog := filepath.Join(root, "a", "b", "prog")
		elftest.Write(t, prog, s.Build())
		want := filepath.Join(root, "debug", ".dwz", "x")
		switch path {
		case "../.dwz/x":
			want = filepath.Join(root, "a", ".dwz", "x")
		case filepath.Join(root, "abs"):
			want = path
		}
		elftest.Write(t, want, dwz)
		found, probes := (&Search{DebugDirs: []string{filepath.Join(root, "debug")}}).findAlt(t.Context(), openFile(t, prog))
		if found == nil || found.Path() != want {
			t.Errorf("%s: %+v", path, probes)
			continue
		}
		found.Close()
	}
	if found, probes := (&Search{}).findAlt(t.Context(), mustFile(t, dwz)); found != nil || probes != nil {
		t.Errorf("without a link: %v, %v", found, probes)
	}
}
