//go:build oracle

package oracle_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"symkit/dump"
	"symkit/elfx"
)

// toolchain makes one program in all the forms that it can have. All commands
// run in one directory; sources are named from there.
type toolchain struct {
	t    *testing.T
	dir  string
	cc   string   // compiler of C; C++ is its sibling
	base []string // flags of all compilations
}

func newToolchain(t *testing.T, cc string, flags ...string) *toolchain {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/companions")); err != nil {
		t.Fatal(err)
	}
	return &toolchain{t: t, dir: dir, cc: cc, base: flags}
}

func (x *toolchain) path(name string) string { return filepath.Join(x.dir, name) }

// run runs a command in the directory.
func (x *toolchain) run(name string, args ...string) {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(x.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = x.dir
	if text, err := cmd.CombinedOutput(); err != nil {
		x.t.Fatalf("%v: %v\n%s", cmd, err, text)
	}
}

// cxx is the compiler of C++.
func (x *toolchain) cxx() string {
	if strings.HasSuffix(x.cc, "gcc") {
		return strings.TrimSuffix(x.cc, "gcc") + "g++"
	}
	return x.cc + "++"
}

// link compiles the sources, each by itself as builds do, to PROGRAM-SOURCE.o and
// links them. Compiler flags count for both.
func (x *toolchain) link(program string, flags ...string) {
	x.t.Helper()
	flags = slices.Concat(x.base, flags)
	link := []string{"-o", program, "-Wl,--build-id=sha1"}
	for _, source := range []string{"main.cc", "shape.cc", "calc.c"} {
		cc, object := x.cxx(), program+"-"+strings.TrimSuffix(source, filepath.Ext(source))+".o"
		if strings.HasSuffix(source, ".c") {
			cc = x.cc
		}
		x.run(cc, slices.Concat(flags, []string{"-c", source, "-o", object})...)
		link = append(link, object)
	}
	x.run(x.cxx(), append(slices.Clone(flags), link...)...)
}

// dump is the symbol file of a program of the directory, without what tells one
// link from another: its build id.
func (x *toolchain) dump(program string, places elfx.Places) string {
	x.t.Helper()
	return dumpCompanions(x.t, x.path(program), places)
}

func dumpCompanions(t *testing.T, path string, places elfx.Places) string {
	t.Helper()
	f, err := elfx.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	img := &elfx.Image{Main: f}
	if s := f.Section(".debug_info"); s == nil || !s.Present() {
		if debug, _ := places.FindDebug(f); debug != nil {
			if img, err = elfx.Join(f, debug); err != nil {
				t.Fatal(err)
			}
		}
	}
	defer img.Close()
	others := img.FindCompanions(places)
	defer others.Close()
	text, stats := dumpImage(t, img, dump.Options{Name: "app", ID: "0", Inlines: true, Companions: others})
	for _, warning := range stats.Warnings {
		t.Errorf("%s: %s", filepath.Base(path), warning)
	}
	return codeID.ReplaceAllString(string(text), "")
}

// codeID is the record of a build id.
var codeID = regexp.MustCompile(`(?m)^INFO CODE_ID .*\n`)

// same compares the dump of a program with what the plain one gave.
func (x *toolchain) same(what, program string, places elfx.Places, want string) {
	x.t.Helper()
	if got := x.dump(program, places); got != want {
		x.t.Errorf("%s: another dump than of the program linked plainly:\n%s", what, firstLines(cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")), 40))
	}
}

func firstLines(text string, n int) string {
	lines := strings.SplitN(text, "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "\n")
}

// move moves the files that match the pattern into a new directory.
func (x *toolchain) move(pattern, dir string) {
	x.t.Helper()
	paths, err := filepath.Glob(x.path(pattern))
	if err != nil || len(paths) == 0 {
		x.t.Fatalf("no %s: %v", pattern, err)
	}
	if err := os.MkdirAll(x.path(dir), 0o755); err != nil {
		x.t.Fatal(err)
	}
	for _, path := range paths {
		if err := os.Rename(path, filepath.Join(x.path(dir), filepath.Base(path))); err != nil {
			x.t.Fatal(err)
		}
	}
}

// plain links the program plainly and returns its dump.
func (x *toolchain) plain() string {
	x.t.Helper()
	x.link("plain")
	text := x.dump("plain", elfx.Places{})
	for _, record := range []string{"\nFUNC ", "\nINLINE ", "\nPUBLIC ", "\nSTACK CFI INIT "} {
		if strings.Count(text, record) < 5 {
			x.t.Fatalf("only %d records%s in the plain program", strings.Count(text, record), strings.TrimSpace(record))
		}
	}
	return text
}

// TestOracleSplitDWARF: where the functions of a program are described changes
// nothing: .dwo files where they were made, moved, packed by each of the tools,
// with type units, in the objects themselves; the skeletons in the program or
// in its debug file.
func TestOracleSplitDWARF(t *testing.T) {
	for _, cc := range []string{"gcc", "clang"} {
		for _, flags := range [][]string{
			{"-g", "-gdwarf-4", "-O2"},
			{"-g", "-gdwarf-5", "-O2"},
			{"-g", "-gdwarf-5", "-O1", "-fPIE", "-ffunction-sections", "-Wl,--gc-sections"},
		} {
			t.Run(cc+strings.Join(flags, ""), func(t *testing.T) {
				t.Parallel()
				splitForms(newToolchain(t, cc, flags...))
			})
		}
	}
}

func splitForms(x *toolchain) {
	want := x.plain()
	none := elfx.Places{}
	x.link("split", "-gsplit-dwarf")
	x.same("split", "split", none, want)
	x.packed("split", want)

	x.link("types", "-fdebug-types-section")
	x.same("type units", "types", none, want)
	x.link("splittypes", "-gsplit-dwarf", "-fdebug-types-section")
	x.same("split with type units", "splittypes", none, want)
	x.packed("splittypes", want)

	x.run("objcopy", "--only-keep-debug", "split", "split.debug")
	x.run("objcopy", "--strip-all", "--add-gnu-debuglink=split.debug", "split", "stripped")
	x.same("split, skeletons in the debug file", "stripped", elfx.Places{SplitDirs: []string{x.path("moved-split")}}, want)

	if x.cc == "clang" {
		x.link("single", "-gsplit-dwarf=single")
		x.same("split DWARF in the objects", "single", none, want)
	}
}

// packed compares a split program with its .dwo files moved, then packed.
func (x *toolchain) packed(program, want string) {
	x.t.Helper()
	var dwos []string
	for _, source := range []string{"main", "shape", "calc"} {
		dwos = append(dwos, program+"-"+source+".dwo")
	}
	for _, tool := range x.packers() {
		out := x.path(tool)
		if err := os.MkdirAll(out, 0o755); err != nil {
			x.t.Fatal(err)
		}
		x.run(tool, append([]string{"-o", filepath.Join(out, program+".dwp")}, dwos...)...)
	}
	moved := "moved-" + program
	x.move(program+"-*.dwo", moved)
	x.same(program+", .dwo files moved", program, elfx.Places{SplitDirs: []string{x.path(moved)}}, want)
	for _, tool := range x.packers() {
		x.same(program+", "+tool, program, elfx.Places{SplitDirs: []string{x.path(tool)}}, want)
	}
}

// packers are the tools that can pack what the compiler makes: binutils' dwp
// knows no DWARF 5, LLVM 14's goes into an endless loop on some of GCC's.
func (x *toolchain) packers() []string {
	switch {
	case !slices.Contains(x.base, "-gdwarf-5"):
		return []string{"dwp", "llvm-dwp"}
	case x.cc == "gcc" && slices.Contains(x.base, "-O2"):
		return nil
	}
	return []string{"llvm-dwp"}
}

// TestOracleSeparated: where and how the debug information of one program is
// stored changes nothing.
func TestOracleSeparated(t *testing.T) {
	for _, cc := range []string{"gcc", "clang"} {
		for _, flags := range [][]string{{"-g", "-gdwarf-4", "-O2"}, {"-g", "-gdwarf-5", "-O2"}} {
			t.Run(cc+strings.Join(flags, ""), func(t *testing.T) {
				t.Parallel()
				separatedForms(newToolchain(t, cc, flags...))
			})
		}
	}
}

func separatedForms(x *toolchain) {
	want := x.plain()
	none := elfx.Places{}
	for _, kind := range []string{"zlib", "zstd", "zlib-gnu"} {
		x.run("objcopy", "--compress-debug-sections="+kind, "plain", kind)
		x.same(kind, kind, none, want)
		debug := kind + ".debug"
		x.run("objcopy", "--only-keep-debug", "--compress-debug-sections="+kind, "plain", debug)
		x.run("objcopy", "--strip-all", "--add-gnu-debuglink="+debug, "plain", kind+"-stripped")
		x.same(kind+" in a debug file", kind+"-stripped", none, want)
	}
	x.run("eu-strip", "-f", "eu.debug", "-o", "eu", "plain")
	x.same("eu-strip", "eu", none, want)
	x.run("eu-strip", "--reloc-debug-sections", "-f", "eu2.debug", "-o", "eu2", "plain")
	x.same("eu-strip --reloc-debug-sections", "eu2", none, want)

	x.miniDebug(want)
	if x.cc == "gcc" { // dwz refuses the .debug_addr of clang's DWARF 5
		x.dwz(want)
	}
}

// dwz compares a program with what dwz makes of it, by itself and with another
// one, and of its debug file.
func (x *toolchain) dwz(want string) {
	x.t.Helper()
	none := elfx.Places{}
	x.link("twin", "-DTWIN")
	for _, version := range []string{"", "-5"} {
		if version == "-5" && slices.Contains(x.base, "-gdwarf-4") {
			continue // dwz makes DWARF 5's supplementary files of DWARF 5 alone
		}
		a, b, common := "a"+version, "b"+version, "common"+version+".debug"
		x.run("cp", "plain", a)
		x.run("cp", "twin", b)
		args := append([]string{"-q", "-m", common, "-M", common}, strings.Fields(version)...)
		x.run("dwz", append(args, a, b)...)
		x.same("dwz "+version, a, none, want)
		x.run("objcopy", "--only-keep-debug", "--compress-debug-sections", a, a+".debug")
		x.run("strip", "-o", a+"-stripped", a)
		x.run("objcopy", "--add-gnu-debuglink="+a+".debug", a+"-stripped")
		x.same("dwz "+version+" and a debug file", a+"-stripped", none, want)
	}
	x.run("cp", "plain", "alone")
	x.run("dwz", "-q", "alone")
	x.same("dwz of one file", "alone", none, want)
}

// miniDebug compares MiniDebugInfo with what a symbol table gives: the PUBLIC
// and STACK CFI records of a program without DWARF.
func (x *toolchain) miniDebug(plain string) {
	x.t.Helper()
	x.run("strip", "-g", "-o", "symbols", "plain")
	want := x.dump("symbols", elfx.Places{})
	if !strings.Contains(want, "\nPUBLIC ") || strings.Contains(want, "\nFUNC ") || want == plain {
		x.t.Fatal("strip -g left DWARF or no symbols")
	}
	x.run("objcopy", "--only-keep-debug", "plain", "mini.debug")
	x.run("objcopy", "--strip-debug", "mini.debug", "mini.symbols")
	x.run("xz", "-f", "mini.symbols")
	x.run("objcopy", "--strip-all", "--add-section=.gnu_debugdata=mini.symbols.xz", "plain", "mini")
	x.same("MiniDebugInfo, against the symbol table", "mini", elfx.Places{}, want)
}

// TestOracleLinkTime: units made at link time, which refer to one another. GCC
// does not split these.
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
			x := newToolchain(t, test.cc, test.flags...)
			want := x.plain()
			if test.cc == "clang" {
				x.link("split", "-gsplit-dwarf", "-Wl,--plugin-opt=dwo_dir="+x.path("dwo"))
				x.same("split", "split", elfx.Places{}, want)
			}
			x.run("objcopy", "--only-keep-debug", "plain", "lto.debug")
			x.run("objcopy", "--strip-all", "--add-gnu-debuglink=lto.debug", "plain", "stripped")
			x.same("stripped", "stripped", elfx.Places{}, want)
		})
	}
}

// TestOracleRustSplit: what rustc leaves beside the program, .dwo files or a
// .dwp, of DWARF 4 and 5.
func TestOracleRustSplit(t *testing.T) {
	source, err := filepath.Abs("testdata/stacks/main.rs")
	if err != nil {
		t.Fatal(err)
	}
	for _, dwarf := range []string{"4", "5"} {
		t.Run("DWARF "+dwarf, func(t *testing.T) {
			t.Parallel()
			x := &toolchain{t: t, dir: t.TempDir()}
			flags := []string{"-g", "-O", "-C", "dwarf-version=" + dwarf, "-C", "codegen-units=4", source}
			x.run("rustc", append(flags, "-o", "plain", "-C", "split-debuginfo=off")...)
			want := x.dump("plain", elfx.Places{})
			for _, how := range []string{"unpacked", "packed"} {
				x.run("rustc", append(flags, "-o", how, "-C", "split-debuginfo="+how)...)
				x.same(how, how, elfx.Places{}, want)
			}
		})
	}
}
