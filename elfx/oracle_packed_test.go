//go:build oracle

package elfx

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"symkit/elfx/internal/elftest"
)

// TestOracleXZ unpacks what the xz program packs in every way it has.
func TestOracleXZ(t *testing.T) {
	path := filepath.Join(fixtureDir, "cxx-x86_64-gcc12-O2-dw5.elf")
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-0"}, {"-9e"}, {"--block-size=4096"}, {"-T2", "--block-size=5000"}, {"--check=sha256"}, {"--check=crc32"}, {"--check=none"},
		{"--lzma2=dict=1536MiB,mode=fast,mf=hc3"}, {"--lzma2=preset=6,lc=0,lp=4,pb=0"}} {
		packed := []byte(run(t, "xz", append(args, "-c", path)...))
		if got, err := unpack(packed); !bytes.Equal(got, want) || err != nil {
			t.Errorf("%q: %d bytes, %v", args, len(got), err)
		}
	}
	_, err = unpack([]byte(run(t, "xz", "--x86", "--lzma2", "-c", path)))
	elftest.WantError(t, err, ErrXZ, ".x", xzEnds)
}

// TestOracleMiniDebugInfo packs the functions of each toolchain's library as
// Fedora does (GDB manual, "MiniDebugInfo").
func TestOracleMiniDebugInfo(t *testing.T) {
	for _, c := range compilers {
		dir := t.TempDir()
		at := func(name string) string { return filepath.Join(dir, name) }
		elftest.Write(t, at("a.c"), []byte(oracleSource))
		run(t, c.prefix+"gcc", "-g", "-O1", "-fPIC", "-shared", "-Wl,--build-id", "-o", at("a.so"), at("a.c"))
		run(t, c.prefix+"objcopy", "--only-keep-debug", at("a.so"), at("a.debug"))
		run(t, c.prefix+"objcopy", "-S", "--remove-section=.gdb_index", "--remove-section=.comment", "--keep-symbol=visible", at("a.debug"), at("mini"))
		run(t, "xz", at("mini"))
		run(t, c.prefix+"objcopy", "--strip-all", "--add-section", ".gnu_debugdata="+at("mini.xz"), at("a.so"), at("stripped.so"))
		mini, err := openFile(t, at("stripped.so")).DebugData()
		if err != nil {
			t.Fatal(err)
		}
		defer mini.Close()
		table, err := mini.Symtab()
		if err != nil || table == nil {
			t.Fatalf("%s: %v, %v", c.arch, table, err)
		}
		if got := functions(table); got != "visible " {
			t.Errorf("%s: functions %q", c.arch, got)
		}
	}
}

// TestOracleArchives lists and opens what ar, llvm-ar and zip write.
func TestOracleArchives(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	elftest.Write(t, at("a.c"), []byte(oracleSource))
	names := []string{"a.o", "an_object_with_a_long_name.o", "another object of the same kind.o"}
	var files []string
	for i, name := range names {
		run(t, "gcc", "-c", "-g", []string{"-O0", "-O1", "-O2"}[i], "-o", at(name), at("a.c"))
		files = append(files, at(name))
	}
	elftest.Write(t, at("notes.txt"), []byte("text"))
	files = append(files, at("notes.txt"))
	for _, c := range []struct {
		archive string
		command []string
	}{
		{"gnu.a", []string{"ar", "rcs"}}, {"plain.a", []string{"ar", "rcS"}}, {"llvm.a", []string{"llvm-ar", "rcs"}},
		{"bsd.a", []string{"llvm-ar", "--format=bsd", "rcs"}}, {"darwin.a", []string{"llvm-ar", "--format=darwin", "rcs"}},
		{"stored.apk", []string{"zip", "-q", "-j", "-0"}}, {"deflated.jar", []string{"zip", "-q", "-j", "-9"}},
	} {
		run(t, c.command[0], slices.Concat(c.command[1:], []string{at(c.archive)}, files)...)
		var got []string
		for m, err := range Members(at(c.archive)) {
			if err != nil {
				t.Fatalf("%s: %v", c.archive, err)
			}
			got = append(got, m.Name)
			want, err := os.ReadFile(at(m.Name))
			if err != nil {
				t.Fatal(err)
			}
			f, err := m.Open()
			if err != nil {
				t.Fatal(err)
			}
			// Darwin's members are padded to 8 bytes, counted in.
			if len(f.data) < len(want) || len(f.data) >= len(want)+8 || !bytes.Equal(f.data[:len(want)], want) {
				t.Errorf("%s: %s: %d bytes, want %d", c.archive, m.Name, len(f.data), len(want))
			}
			f.Close()
		}
		if !slices.Equal(got, names) {
			t.Errorf("%s: %q", c.archive, got)
		}
	}
	run(t, "ar", append([]string{"rcsT", at("thin.a")}, files...)...)
	got, errs := listing(at("thin.a"))
	if !slices.Equal(got, files[:len(names)]) || errs != nil { // named as they were given
		t.Errorf("thin: %q, %v", got, errs)
	}
	run(t, "ar", "rcsT", at("nested.a"), at("gnu.a"))
	if got, errs := listing(at("nested.a")); len(got) != 0 || len(errs) == 0 || !errors.Is(errs[0], ErrThin) {
		t.Errorf("nested: %q, %v", got, errs)
	}
}
