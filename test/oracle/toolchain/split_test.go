//go:build oracle

package toolchain

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"symkit/elfx/companion"
)

// same compares the symbol file of a program with that of the plain one.
func (x *Toolchain) same(what, program string, places companion.Search, want string) {
	x.t.Helper()
	if got := x.Dump(program, places); got != want {
		x.t.Errorf("%s: another dump than of the program linked plainly:\n%s", what, FirstLines(cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")), 40))
	}
}

// move moves the files that match the pattern into a new directory.
func (x *Toolchain) move(pattern, dir string) {
	x.t.Helper()
	paths, err := filepath.Glob(x.Path(pattern))
	if err != nil || len(paths) == 0 {
		x.t.Fatalf("no %s: %v", pattern, err)
	}
	if err := os.MkdirAll(x.Path(dir), 0o755); err != nil {
		x.t.Fatal(err)
	}

	for _, path := range paths {
		if err := os.Rename(path, filepath.Join(x.Path(dir), filepath.Base(path))); err != nil {
			x.t.Fatal(err)
		}
	}
}

// plain links the program plainly and returns its dump.
func (x *Toolchain) plain() string {
	x.t.Helper()
	x.link("plain")
	text := x.Dump("plain", companion.Search{})
	for _, record := range []string{"\nFUNC ", "\nINLINE ", "\nPUBLIC ", "\nSTACK CFI INIT "} {
		if strings.Count(text, record) < 5 {
			x.t.Fatalf("only %d records%s in the plain program", strings.Count(text, record), strings.TrimSpace(record))
		}
	}
	return text
}

// TestOracleSplitDWARF: the place of the units of a program changes nothing. They are
// in .dwo files where the compiler wrote them, moved, packed by each of the tools,
// with type units, in the objects themselves; the skeletons in the program or in its
// debug file.
func TestOracleSplitDWARF(t *testing.T) {
	for _, cc := range []string{"gcc", "clang"} {
		for _, flags := range [][]string{
			{"-g", "-gdwarf-4", "-O2"},
			{"-g", "-gdwarf-5", "-O2"},
			{"-g", "-gdwarf-5", "-O1", "-fPIE", "-ffunction-sections", "-Wl,--gc-sections"},
		} {
			t.Run(cc+strings.Join(flags, ""), func(t *testing.T) {
				t.Parallel()
				splitForms(New(t, cc, flags...))
			})
		}
	}
}

// splitForms compares the forms of one compiler.
func splitForms(x *Toolchain) {
	want := x.plain()
	none := companion.Search{}
	x.link("split", "-gsplit-dwarf")
	x.same("split", "split", none, want)
	x.packed("split", want)

	x.link("types", "-fdebug-types-section")
	x.same("type units", "types", none, want)
	x.link("splittypes", "-gsplit-dwarf", "-fdebug-types-section")
	x.same("split with type units", "splittypes", none, want)
	x.packed("splittypes", want)

	x.Run("objcopy", "--only-keep-debug", "split", "split.debug")
	x.Run("objcopy", "--strip-all", "--add-gnu-debuglink=split.debug", "split", "stripped")
	x.same("split, skeletons in the debug file", "stripped", companion.Search{SplitDirs: []string{x.Path("moved-split")}}, want)

	if x.cc == "clang" {
		x.link("single", "-gsplit-dwarf=single")
		x.same("split DWARF in the objects", "single", none, want)
	}
}

// packed compares a split program with its .dwo files moved, then packed.
func (x *Toolchain) packed(program, want string) {
	x.t.Helper()
	var dwos []string
	for _, source := range []string{"main", "shape", "calc"} {
		dwos = append(dwos, program+"-"+source+".dwo")
	}

	for _, tool := range x.packers() {
		out := x.Path(tool)
		if err := os.MkdirAll(out, 0o755); err != nil {
			x.t.Fatal(err)
		}
		x.Run(tool, append([]string{"-o", filepath.Join(out, program+".dwp")}, dwos...)...)
	}

	moved := "moved-" + program
	x.move(program+"-*.dwo", moved)
	x.same(program+", .dwo files moved", program, companion.Search{SplitDirs: []string{x.Path(moved)}}, want)
	for _, tool := range x.packers() {
		x.same(program+", "+tool, program, companion.Search{SplitDirs: []string{x.Path(tool)}}, want)
	}
}

// packers returns the tools that can pack the compiler's .dwo files: binutils' dwp
// knows no DWARF 5, LLVM 14's loops forever on some of GCC's.
func (x *Toolchain) packers() []string {
	switch {
	case !slices.Contains(x.Base, "-gdwarf-5"):
		return []string{"dwp", "llvm-dwp"}
	case x.cc == "gcc" && slices.Contains(x.Base, "-O2"):
		return nil
	}
	return []string{"llvm-dwp"}
}

// TestOracleLinkTime: units made at link time refer to one another. GCC does not
// split such units.
func TestOracleLinkTime(t *testing.T) {
	for _, test := range []struct {
		cc    string
		flags []string
	}{
		{"gcc", []string{"-g", "-gdwarf-4", "-O2", "-flto"}},
		{"gcc", []string{"-g", "-gdwarf-5", "-O2", "-flto"}},
		{"clang", []string{"-g", "-gdwarf-4", "-O2", "-flto", "-fuse-ld=lld"}},
		{"clang", []string{"-g", "-gdwarf-5", "-O2", "-flto=thin", "-fuse-ld=lld"}},
	} {
		t.Run(test.cc+strings.Join(test.flags, ""), func(t *testing.T) {
			t.Parallel()
			x := New(t, test.cc, test.flags...)
			want := x.plain()
			if test.cc == "clang" {
				x.link("split", "-gsplit-dwarf", "-Wl,--plugin-opt=dwo_dir="+x.Path("dwo"))
				x.same("split", "split", companion.Search{}, want)
			}
			x.Run("objcopy", "--only-keep-debug", "plain", "lto.debug")
			x.Run("objcopy", "--strip-all", "--add-gnu-debuglink=lto.debug", "plain", "stripped")
			x.same("stripped", "stripped", companion.Search{}, want)
		})
	}
}

// TestOracleRustSplit: rustc leaves .dwo files or a .dwp beside the program, of
// DWARF 4 and 5.
func TestOracleRustSplit(t *testing.T) {
	source, err := filepath.Abs("../testdata/stacks/main.rs")
	if err != nil {
		t.Fatal(err)
	}

	for _, dwarf := range []string{"4", "5"} {
		t.Run("DWARF "+dwarf, func(t *testing.T) {
			t.Parallel()
			x := &Toolchain{t: t, dir: t.TempDir()}
			flags := []string{"-g", "-O", "-C", "dwarf-version=" + dwarf, "-C", "codegen-units=4", source}
			x.Run("rustc", append(flags, "-o", "plain", "-C", "split-debuginfo=off")...)
			want := x.Dump("plain", companion.Search{})
			for _, how := range []string{"unpacked", "packed"} {
				x.Run("rustc", append(flags, "-o", how, "-C", "split-debuginfo="+how)...)
				x.same(how, how, companion.Search{}, want)
			}
		})
	}
}
