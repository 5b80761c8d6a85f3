//go:build oracle

package toolchain

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"symkit/dump"
	"symkit/elfx"
	"symkit/elfx/archive"
	"symkit/test/oracle"
	"symkit/test/oracle/symfile"
)

// crossCompilers are a compiler and the linker for each machine. Linkers do not relax
// code here: the program would have other functions than the objects.
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

// TestOracleObjects: objects have the functions of the program that is linked of them:
// names, sizes, lines, inlined calls and unwind rules, relative to their starts. There
// are groups that two objects have, type units in sections of their own, and members
// of an archive.
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
				compareObjects(New(t, c.compile[0], flags...), c.ld)
			})
		}
	}
}

// compareObjects compares the objects of one compiler with the program.
func compareObjects(x *Toolchain, ld []string) {
	x.Run(x.cxx(), append(slices.Clone(x.Base), "-c", "shape.cc")...)
	x.Run(x.cxx(), append(slices.Clone(x.Base), "-c", "main.cc")...)
	x.Run(x.cc, append(slices.Clone(x.Base), "-c", "calc.c")...)
	objects := []string{"shape.o", "main.o", "calc.o"}
	x.Run("ar", append([]string{"rc", "all.a"}, objects...)...)
	x.Run(ld[0], slices.Concat(ld[1:], []string{"-e", "0", "--unresolved-symbols=ignore-all", "-o", "linked"}, objects)...)
	want := functionTexts(x.t, &elfx.Image{Main: oracle.OpenELF(x.t, x.Path("linked"))})
	got := map[string][]string{}
	for _, name := range objects {
		alone := functionTexts(x.t, &elfx.Image{Main: oracle.OpenELF(x.t, x.Path(name))})
		member, err := archive.OpenMember(x.Path("all.a"), name)
		if err != nil {
			x.t.Fatal(err)
		}
		if diff := cmp.Diff(alone, functionTexts(x.t, &elfx.Image{Main: member})); diff != "" {
			x.t.Errorf("%s: another dump as a member of an archive:\n%s", name, FirstLines(diff, 20))
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
		x.t.Errorf("-linked +objects:\n%s", FirstLines(diff, 40))
	}
}

// functionTexts dumps a module and closes it. It returns, by the name of a function,
// the records of each of its parts, with addresses relative to the start of the part
// and names instead of numbers.
func functionTexts(t *testing.T, img *elfx.Image) map[string][]string {
	t.Helper()
	defer img.Close()
	text, _ := oracle.DumpImage(t, img, dump.Options{Name: "x", ID: "0", Inlines: true})
	s := symfile.Parse(t, text)
	texts := map[string][]string{}
	for _, f := range s.Funcs {
		var b strings.Builder
		fmt.Fprintf(&b, "size %#x\n", f.Hi-f.Lo)
		for _, in := range f.Inlines {
			fmt.Fprintf(&b, "inline %d %s:%d %s %#x-%#x\n", in.Depth, s.Files[in.File], in.Line, s.Origins[in.Origin], in.Lo-f.Lo, in.Hi-f.Lo)
		}
		for _, l := range f.Lines {
			fmt.Fprintf(&b, "line %#x %#x %s:%d\n", l.Addr-f.Lo, l.Size, s.Files[l.File], l.Line)
		}
		for _, c := range s.CFI {
			if c.Lo >= f.Lo && c.Lo < f.Hi {
				fmt.Fprintf(&b, "rules %#x %v %s\n", c.Lo-f.Lo, c.Init, c.Rules)
			}
		}
		texts[f.Name] = append(texts[f.Name], b.String())
	}

	for _, parts := range texts {
		slices.Sort(parts)
	}
	return texts
}
