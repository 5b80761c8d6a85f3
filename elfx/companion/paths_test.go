package companion

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"symkit/elfx"
	"symkit/test/elftest"
)

// The checksums of the two .debug_sup must be equal; there is no build id.
func TestFindSup(t *testing.T) {
	root := t.TempDir()
	prog, common := filepath.Join(root, "prog"), filepath.Join(root, "common")
	elftest.Write(t, prog, elftest.SupSpec(elf.ELFCLASS64, false, 0, "common", "SUM").Build())
	for _, test := range []struct {
		data []byte
		want error
	}{
		{elftest.SupSpec(elf.ELFCLASS64, false, 1, "", "SUM").Build(), nil},
		{elftest.SupSpec(elf.ELFCLASS64, false, 1, "", "OTHER").Build(), errOtherSup},
		{elftest.SupSpec(elf.ELFCLASS64, false, 0, "common", "SUM").Build(), errOtherSup},
		{elftest.Plain(elf.ELFCLASS64, false).Build(), errOtherSup},
		{elftest.Plain(elf.ELFCLASS32, false).Build(), elfx.ErrOtherMachine},
	} {
		elftest.Write(t, common, test.data)
		asked := 0
		places := Search{Fetch: func(context.Context, []byte) (string, error) { asked++; return common, nil }}
		found, probes := places.findAlt(t.Context(), openFile(t, prog))
		if (found != nil) != (test.want == nil) || !errors.Is(probes[0].Err, test.want) || probes[0].What != altFile || asked > 0 {
			t.Errorf("want %v: found %v, %+v, fetched %d times", test.want, found, probes, asked)
		}
		if found != nil {
			found.Close()
		}
	}
}

// placesTree has a program below a system root, and a debug file for it.
type placesTree struct {
	root, prog, id string
	debug          []byte
}

func newPlacesTree(t *testing.T) placesTree {
	debug := elftest.DebugSpec(elf.ELFCLASS64, false).Build()
	stripped := elftest.StrippedSpec(elf.ELFCLASS64, false)
	stripped.Sections = append(stripped.Sections, stripped.LinkSection("x.debug", crc32.ChecksumIEEE(debug)))
	root := filepath.Join(t.TempDir(), "root")
	prog := filepath.Join(root, "usr", "bin", "x")
	elftest.Write(t, prog, stripped.Build())
	return placesTree{root, prog, fmt.Sprintf("%x", "0123456789abcdefghij"), debug}
}

// Each place below a system root is found alone: build-id directories, and the
// directory of the program as it is called inside.
func TestSysroot(t *testing.T) {
	x := newPlacesTree(t)
	byID := filepath.Join(".build-id", x.id[:2], x.id[2:]+".debug")
	other := t.TempDir()
	for _, test := range []struct {
		name, path string
		places     Search
	}{
		{"build-id directory", filepath.Join(x.root, DefaultDebugDir, byID), Search{Sysroots: []string{x.root}}},
		{"build-id directory given itself", filepath.Join(x.root, byID), Search{DebugDirs: []string{filepath.Join(x.root, ".build-id")}}},
		{"mirrored", filepath.Join(x.root, DefaultDebugDir, "usr/bin/x.debug"), Search{Sysroots: []string{x.root}}},
		{"mirrored without /usr", filepath.Join(x.root, DefaultDebugDir, "bin/x.debug"), Search{Sysroots: []string{x.root}}},
		{"top of usr/lib/debug", filepath.Join(x.root, DefaultDebugDir, "x.debug"), Search{Sysroots: []string{x.root}}},
		{"the second of two", filepath.Join(other, DefaultDebugDir, byID), Search{Sysroots: []string{x.root, other}}},
		{"mirrored in another directory", filepath.Join(other, "usr/bin/x.debug"), Search{DebugDirs: []string{other}, Sysroots: []string{x.root}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			elftest.Write(t, test.path, x.debug)
			defer os.Remove(test.path)
			found, probes := test.places.FindDebug(t.Context(), openFile(t, x.prog))
			if found == nil || found.Path() != test.path {
				t.Fatalf("found %v, probes %+v", found, probes)
			}
			found.Close()
			for _, p := range probes[:len(probes)-1] {
				if !errors.Is(p.Err, fs.ErrNotExist) || p.What != DebugFile {
					t.Errorf("probe %+v", p)
				}
			}
		})
	}
}

// A system root that is named by a symbolic link, and one that the program is
// not below.
func TestSysrootNames(t *testing.T) {
	x := newPlacesTree(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(x.root, link); err != nil {
		t.Fatal(err)
	}
	debug := filepath.Join(x.root, DefaultDebugDir, "usr/bin/x.debug")
	elftest.Write(t, debug, x.debug)
	found, probes := (&Search{Sysroots: []string{link}}).FindDebug(t.Context(), openFile(t, x.prog))
	if found == nil {
		t.Fatalf("%+v", probes)
	}
	found.Close()
	outside := filepath.Join(t.TempDir(), "x")
	data, err := os.ReadFile(x.prog)
	if err != nil {
		t.Fatal(err)
	}
	elftest.Write(t, outside, data)
	if found, _ := (&Search{Sysroots: []string{link}}).FindDebug(t.Context(), openFile(t, outside)); found != nil {
		t.Errorf("found %s", found.Path())
	}
}

// The places of dwz's file and of split DWARF, below a system root too.
func TestCompanionPlaces(t *testing.T) {
	x := newPlacesTree(t)
	places := Search{DebugDirs: []string{"/d"}, SplitDirs: []string{"/s"}, Sysroots: []string{x.root}}
	f := openFile(t, x.prog)
	m := &elfx.Image{Main: f}
	inside := x.root + DefaultDebugDir
	for _, test := range []struct {
		name string
		got  []string
		want []string
	}{
		{"absolute alt", places.altPaths(f, AltLink{Path: "/usr/lib/debug/.dwz/arch/p", ID: []byte{0xab, 1}}), []string{
			x.root + "/usr/lib/debug/.dwz/arch/p", "/usr/lib/debug/.dwz/arch/p", "/d/.dwz/p", "/d/.dwz/arch/p",
			inside + "/.dwz/p", "/d/.build-id/ab/01.debug", inside + "/.build-id/ab/01.debug"}},
		{"relative alt", places.altPaths(f, AltLink{Path: "../p"}), []string{x.root + "/usr/p", "/d/.dwz/p", inside + "/.dwz/p"}},
		{"dwo", places.splitPaths(m, "/build", "a/b.dwo"), []string{
			x.root + "/build/a/b.dwo", "/build/a/b.dwo", "/s/a/b.dwo", "/s/b.dwo", x.root + "/usr/bin/a/b.dwo", x.root + "/usr/bin/b.dwo"}},
		{"absolute dwo", places.splitPaths(m, "/build", "/a/b.dwo"), []string{x.root + "/a/b.dwo", "/a/b.dwo", "/s/b.dwo", x.root + "/usr/bin/b.dwo"}},
		{"dwo of a build that can be moved", places.splitPaths(m, "out", "b.dwo"), []string{"/s/b.dwo", "/s/out/b.dwo", x.root + "/usr/bin/out/b.dwo"}},
		{"dwp", places.packagePaths(m), []string{
			x.prog + ".dwp", "/s/x.dwp", "/d/usr/bin/x.dwp", "/d/x.dwp", inside + "/usr/bin/x.dwp", inside + "/bin/x.dwp", inside + "/x.dwp"}},
	} {
		rest := test.got
		for _, want := range test.want {
			i := 0
			for i < len(rest) && rest[i] != want {
				i++
			}
			if i == len(rest) {
				t.Errorf("%s: no %s in order among %q", test.name, want, test.got)
				break
			}
			rest = rest[i+1:]
		}
	}
}

func TestFetch(t *testing.T) {
	x := newPlacesTree(t)
	debug := filepath.Join(x.root, "fetched")
	other := elftest.DebugSpec(elf.ELFCLASS64, false)
	other.Sections[1].Data = other.NoteBytes("GNU", 3, []byte("another"), 4)
	refused := errors.New("refused")
	for _, test := range []struct {
		name     string
		data     []byte
		err      error
		want     error
		rejected bool
	}{
		{"the right file", x.debug, nil, nil, false},
		{"another's", other.Build(), nil, elfx.ErrOtherBuildID, true},
		{"none", nil, fs.ErrNotExist, fs.ErrNotExist, false},
		{"no answer", nil, refused, refused, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			elftest.Write(t, debug, test.data)
			places := Search{Fetch: func(_ context.Context, id []byte) (string, error) {
				if fmt.Sprintf("%x", id) != x.id {
					t.Errorf("asked for %x", id)
				}
				return debug, test.err
			}}
			found, probes := places.FindDebug(t.Context(), openFile(t, x.prog))
			last := probes[len(probes)-1]
			if (found != nil) != (test.want == nil) || !errors.Is(last.Err, test.want) || last.Rejected() != test.rejected {
				t.Errorf("found %v, %+v", found, last)
			}
			if found != nil {
				found.Close()
			}
		})
	}
}
