//go:build oracle

package records

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"symkit/dump"
	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/test/oracle"
	"symkit/test/oracle/readelf"
	"symkit/test/oracle/symfile"
	"symkit/test/oracle/toolchain"
)

// TestOracleOddPrograms dumps programs that are linked in unusual forms.
func TestOracleOddPrograms(t *testing.T) {
	x := toolchain.New(t, "gcc", "-g", "-O2", "-fasynchronous-unwind-tables")
	const freestanding = "int leaf(int x) { return x * 3; }\nint top(int x) { return leaf(x) + (x > 2 ? top(x - 1) : 0); }\nvoid _start(void) { top(3); for (;;); }\n"
	if err := os.WriteFile(x.Path("freestanding.c"), []byte(freestanding), 0o644); err != nil {
		t.Fatal(err)
	}

	hosted := []string{"main.cc", "shape.cc", "calc.o"}
	x.Run("gcc", append(x.Base, "-c", "calc.c")...)
	x.Run("g++", append(append([]string{"-static-pie", "-o", "static-pie"}, x.Base...), hosted...)...)
	// Prelink leaves a library at an address of its own.
	x.Run("g++", append(append([]string{"-shared", "-fPIC", "-Wl,-Ttext-segment=0x3400000000", "-o", "prelinked.so"}, x.Base...), "shape.cc")...)
	x.Run("gcc", append(x.Base, "-mx32", "-nostdlib", "-static", "-o", "x32", "freestanding.c")...)
	x.Run("clang", append(x.Base, "--target=powerpc64-linux-gnu", "-mabi=elfv1", "-gdwarf-4", "-ffreestanding", "-c", "-o", "ppc64.o", "freestanding.c")...)
	x.Run("powerpc64le-linux-gnu-ld", "-EB", "-m", "elf64ppc", "-o", "ppc64", "ppc64.o")

	var inputs []oracle.Input
	for _, name := range []string{"static-pie", "prelinked.so", "x32", "ppc64"} {
		inputs = append(inputs, oracle.Input{Name: name, Main: x.Path(name)})
	}

	compareAll(t, inputs)
	for name, arch := range map[string]string{"x32": "x86_64", "ppc64": "ppc64"} {
		if text := x.Dump(name, companion.Search{}); !strings.HasPrefix(text, "MODULE Linux "+arch+" ") {
			t.Errorf("%s: %s", name, toolchain.FirstLines(text, 1))
		}
	}

	withoutSections(t, x, "prelinked.so")
}

// withoutSections compares a library without section headers with itself
// stripped.
func withoutSections(t *testing.T, x *toolchain.Toolchain, library string) {
	t.Helper()
	x.Run("strip", "-o", "stripped", library)
	x.Run("llvm-objcopy", "--strip-sections", library, "sectionless")
	// Only section headers give the place of the PLT.
	records := regexp.MustCompile(`(?m)^(PUBLIC .*[^t]|STACK CFI .*)$`)
	want := records.FindAllString(x.Dump("stripped", companion.Search{}), -1)
	got := records.FindAllString(x.Dump("sectionless", companion.Search{}), -1)
	if len(want) < 20 || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("without section headers %d records, with them %d", len(got), len(want))
	}
}

// TestOracleVDSO dumps the code that the running kernel maps into every process.
func TestOracleVDSO(t *testing.T) {
	f, err := elfx.NewFile("vdso", oracle.VDSO(t))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := oracle.DumpImage(t, &elfx.Image{Main: f}, dump.Options{})
	s := symfile.Parse(t, text)
	if len(s.Publics) < 3 || len(s.CFI) < 3 || !strings.HasPrefix(s.Module.Name, "linux-") {
		t.Errorf("%s", text)
	}
	in := oracle.Input{Name: "vdso", Main: oracle.VDSOFile(t)}
	l := oracle.ReadLayout(t, in.Main)
	readelf.Compare(t, &in, s, &l)
}
