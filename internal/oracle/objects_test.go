//go:build oracle

package oracle_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"symkit/dump"
	"symkit/elfx"
)

// crossCompilers are a compiler for each machine, and the linker for it. Linkers
// that shorten code would leave other functions than the objects have.
var crossCompilers = []struct {
	compile, ld []string
}{
	{[]string{"gcc"}, []string{"ld"}},
	{[]string{"clang"}, []string{"ld"}},
	{[]string{"i686-linux-gnu-gcc"}, []string{"i686-linux-gnu-ld"}},
	{[]string{"aarch64-linux-gnu-gcc"}, []string{"aarch64-linux-gnu-ld"}},
	{[]string{"arm-linux-gnueabihf-gcc", "-mthumb"}, []string{"arm-linux-gnueabihf-ld"}},
	{[]string{"arm-linux-gnueabihf-gcc", "-marm"}, []string{"arm-linux-gnueabihf-ld"}},
	{[]string{"riscv64-linux-gnu-gcc"}, []string{"riscv64-linux-gnu-ld", "--no-relax"}},
	{[]string{"s390x-linux-gnu-gcc"}, []string{"s390x-linux-gnu-ld"}},
	{[]string{"powerpc64le-linux-gnu-gcc"}, []string{"powerpc64le-linux-gnu-ld"}},
	{[]string{"mips-linux-gnu-gcc"}, []string{"mips-linux-gnu-ld"}},
}

// TestOracleObjects: an object has the functions of the program linked of it:
// names, sizes, lines, inlined calls and unwind rules, relative to their starts.
// Groups that another object has too, type units in sections of their own, and
// members of an archive are among them.
func TestOracleObjects(t *testing.T) {
	for _, c := range crossCompilers {
		for _, flags := range [][]string{
			{"-gdwarf-4"}, {"-gdwarf-5"},
			{"-gdwarf-4", "-fdebug-types-section", "-ffunction-sections"},
			{"-gdwarf-5", "-fdebug-types-section", "-ffunction-sections"},
		} {
			t.Run(strings.Join(append(c.compile, flags...), ""), func(t *testing.T) {
				t.Parallel()
				flags := slices.Concat(c.compile[1:], flags, []string{"-O2", "-fasynchronous-unwind-tables"})
				compareObjects(newToolchain(t, c.compile[0], flags...), c.ld)
			})
		}
	}
}

func compareObjects(x *toolchain, ld []string) {
	x.run(x.cxx(), append(slices.Clone(x.base), "-c", "shape.cc")...)
	x.run(x.cxx(), append(slices.Clone(x.base), "-c", "main.cc")...)
	x.run(x.cc, append(slices.Clone(x.base), "-c", "calc.c")...)
	objects := []string{"shape.o", "main.o", "calc.o"}
	x.run("ar", append([]string{"rc", "all.a"}, objects...)...)
	x.run(ld[0], slices.Concat(ld[1:], []string{"-e", "0", "--unresolved-symbols=ignore-all", "-o", "linked"}, objects)...)
	want := functionTexts(x.t, &elfx.Image{Main: openELF(x.t, x.path("linked"))})
	got := map[string][]string{}
	for _, name := range objects {
		alone := functionTexts(x.t, &elfx.Image{Main: openELF(x.t, x.path(name))})
		member, err := elfx.OpenMember(x.path("all.a"), name)
		if err != nil {
			x.t.Fatal(err)
		}
		if diff := cmp.Diff(alone, functionTexts(x.t, &elfx.Image{Main: member})); diff != "" {
			x.t.Errorf("%s: another dump as a member of an archive:\n%s", name, firstLines(diff, 20))
		}
		for name, text := range alone {
			if _, ok := got[name]; !ok { // of a group that several have, the first is linked
				got[name] = text
			}
		}
	}
	if len(want) < 12 {
		x.t.Fatalf("only %d functions: %q", len(want), slices.Sorted(maps.Keys(want)))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		x.t.Errorf("-linked +objects:\n%s", firstLines(diff, 40))
	}
}

func openELF(t *testing.T, path string) *elfx.File {
	t.Helper()
	f, err := elfx.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// functionTexts dumps a module: for each part of a function its records with
// addresses relative to its start and names instead of numbers, by the name of
// the function. It closes the module.
func functionTexts(t *testing.T, img *elfx.Image) map[string][]string {
	t.Helper()
	defer img.Close()
	text, _ := dumpImage(t, img, dump.Options{Name: "x", ID: "0", Inlines: true})
	s := parseSym(t, text)
	texts := map[string][]string{}
	for _, f := range s.funcs {
		var b strings.Builder
		fmt.Fprintf(&b, "size %#x\n", f.hi-f.lo)
		for _, in := range f.inlines {
			fmt.Fprintf(&b, "inline %d %s:%d %s %#x-%#x\n", in.depth, s.files[in.file], in.line, s.origins[in.origin], in.lo-f.lo, in.hi-f.lo)
		}
		for _, l := range f.lines {
			fmt.Fprintf(&b, "line %#x %#x %s:%d\n", l.Addr-f.lo, l.Size, s.files[l.File], l.Line)
		}
		for _, c := range s.cfi {
			if c.lo >= f.lo && c.lo < f.hi {
				fmt.Fprintf(&b, "rules %#x %v %s\n", c.lo-f.lo, c.init, c.rules)
			}
		}
		texts[f.name] = append(texts[f.name], b.String())
	}
	for _, parts := range texts {
		slices.Sort(parts)
	}
	return texts
}

// TestOracleDescriptors: of 64-bit PowerPC's first ABI the symbols lead to code
// through descriptors: a program, a library and an object without DWARF have a
// PUBLIC where there was a FUNC.
func TestOracleDescriptors(t *testing.T) {
	x := newToolchain(t, "clang", "--target=powerpc64-linux-gnu", "-mabi=elfv1", "-ffreestanding", "-fasynchronous-unwind-tables", "-g", "-O2", "-fPIC")
	source := "int leaf(int x) { return x * 3; }\nstatic int hidden(int x) { return leaf(x) + 1; }\nint (*table[])(int) = {leaf, hidden};\nint top(int x) { return table[x & 1](x); }\n"
	if err := os.WriteFile(x.path("opd.c"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	x.run(x.cc, append(slices.Clone(x.base), "-c", "opd.c")...)
	ld := []string{"-EB", "-m", "elf64ppc", "opd.o"}
	x.run("powerpc64le-linux-gnu-ld", append(ld, "-e", "top", "-o", "program")...)
	x.run("powerpc64le-linux-gnu-ld", append(ld, "-shared", "-o", "library.so")...)
	for _, name := range []string{"opd.o", "program", "library.so"} {
		want := functionTexts(t, &elfx.Image{Main: openELF(t, x.path(name))})
		if len(want) != 3 {
			t.Fatalf("%s: functions %q", name, slices.Sorted(maps.Keys(want)))
		}
		x.run("powerpc64le-linux-gnu-strip", "-g", "-o", "stripped", name)
		s := parseSym(t, []byte(x.dump("stripped", elfx.Places{})))
		full := parseSym(t, []byte(x.dump(name, elfx.Places{})))
		at := map[string]uint64{}
		for _, p := range s.publics {
			at[string(p.Name)] = p.Addr
		}
		for _, f := range full.funcs {
			if addr, ok := at[f.name]; !ok || addr != f.lo {
				t.Errorf("%s: PUBLIC %s at %#x, the FUNC is at %#x", name, f.name, addr, f.lo)
			}
		}
	}
}
