//go:build oracle

package toolchain

import (
	"maps"
	"os"
	"slices"
	"testing"

	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/test/oracle"
	"symkit/test/oracle/symfile"
)

// TestOracleDescriptors: in 64-bit PowerPC's first ABI, symbols point to descriptors,
// which point to code. Without DWARF, a program, a library and an object have a PUBLIC
// where they have a FUNC with it.
func TestOracleDescriptors(t *testing.T) {
	x := New(t, "clang", "--target=powerpc64-linux-gnu", "-mabi=elfv1", "-ffreestanding", "-fasynchronous-unwind-tables", "-g", "-O2", "-fPIC")
	source := "int leaf(int x) { return x * 3; }\nstatic int hidden(int x) { return leaf(x) + 1; }\nint (*table[])(int) = {leaf, hidden};\nint top(int x) { return table[x & 1](x); }\n"
	if err := os.WriteFile(x.Path("opd.c"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}

	x.Run(x.cc, append(slices.Clone(x.Base), "-c", "opd.c")...)
	ld := []string{"-EB", "-m", "elf64ppc", "opd.o"}
	x.Run("powerpc64le-linux-gnu-ld", append(ld, "-e", "top", "-o", "program")...)
	x.Run("powerpc64le-linux-gnu-ld", append(ld, "-shared", "-o", "library.so")...)
	for _, name := range []string{"opd.o", "program", "library.so"} {
		want := functionTexts(t, &elfx.Image{Main: oracle.OpenELF(t, x.Path(name))})
		if len(want) != 3 {
			t.Fatalf("%s: functions %q", name, slices.Sorted(maps.Keys(want)))
		}
		x.Run("powerpc64le-linux-gnu-strip", "-g", "-o", "stripped", name)
		s := symfile.Parse(t, []byte(x.Dump("stripped", companion.Search{})))
		full := symfile.Parse(t, []byte(x.Dump(name, companion.Search{})))
		at := map[string]uint64{}
		for _, p := range s.Publics {
			at[string(p.Name)] = p.Addr
		}
		for _, f := range full.Funcs {
			if addr, ok := at[f.Name]; !ok || addr != f.Lo {
				t.Errorf("%s: PUBLIC %s at %#x, the FUNC is at %#x", name, f.Name, addr, f.Lo)
			}
		}
	}
}
