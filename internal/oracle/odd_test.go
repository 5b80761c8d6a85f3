//go:build oracle

package oracle_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"symkit/dump"
	"symkit/elfx"
)

// TestOracleOddPrograms: programs that are not linked as most are.
func TestOracleOddPrograms(t *testing.T) {
	x := newToolchain(t, "gcc", "-g", "-O2", "-fasynchronous-unwind-tables")
	const bare = "int leaf(int x) { return x * 3; }\nint top(int x) { return leaf(x) + (x > 2 ? top(x - 1) : 0); }\nvoid _start(void) { top(3); for (;;); }\n"
	if err := os.WriteFile(x.path("bare.c"), []byte(bare), 0o644); err != nil {
		t.Fatal(err)
	}
	hosted := []string{"main.cc", "shape.cc", "calc.o"}
	x.run("gcc", append(x.base, "-c", "calc.c")...)
	x.run("g++", append(append([]string{"-static-pie", "-o", "static-pie"}, x.base...), hosted...)...)
	// As prelink left it: a library at an address of its own.
	x.run("g++", append(append([]string{"-shared", "-fPIC", "-Wl,-Ttext-segment=0x3400000000", "-o", "prelinked.so"}, x.base...), "shape.cc")...)
	x.run("gcc", append(x.base, "-mx32", "-nostdlib", "-static", "-o", "x32", "bare.c")...)
	x.run("clang", append(x.base, "--target=powerpc64-linux-gnu", "-mabi=elfv1", "-gdwarf-4", "-ffreestanding", "-c", "-o", "ppc64.o", "bare.c")...)
	x.run("powerpc64le-linux-gnu-ld", "-EB", "-m", "elf64ppc", "-o", "ppc64", "ppc64.o")
	var inputs []input
	for _, name := range []string{"static-pie", "prelinked.so", "x32", "ppc64"} {
		inputs = append(inputs, input{name: name, main: x.path(name)})
	}
	compareAll(t, inputs)
	for name, arch := range map[string]string{"x32": "x86_64", "ppc64": "ppc64"} {
		if text := x.dump(name, elfx.Places{}); !strings.HasPrefix(text, "MODULE Linux "+arch+" ") {
			t.Errorf("%s: %s", name, firstLines(text, 1))
		}
	}
	withoutSections(t, x, "prelinked.so")
}

// withoutSections compares a library without section headers with itself
// stripped.
func withoutSections(t *testing.T, x *toolchain, library string) {
	t.Helper()
	x.run("strip", "-o", "stripped", library)
	x.run("llvm-objcopy", "--strip-sections", library, "sectionless")
	// Where the PLT is, only section headers tell.
	records := regexp.MustCompile(`(?m)^(PUBLIC .*[^t]|STACK CFI .*)$`)
	want := records.FindAllString(x.dump("stripped", elfx.Places{}), -1)
	got := records.FindAllString(x.dump("sectionless", elfx.Places{}), -1)
	if len(want) < 20 || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("without section headers %d records, with them %d", len(got), len(want))
	}
}

// TestOracleVDSO dumps the code that the running kernel maps into every process.
func TestOracleVDSO(t *testing.T) {
	f, err := elfx.NewFile("vdso", vdso(t))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := dumpImage(t, &elfx.Image{Main: f}, dump.Options{})
	s := parseSym(t, text)
	if len(s.publics) < 3 || len(s.cfi) < 3 || !strings.HasPrefix(s.module.Name, "linux-") {
		t.Errorf("%s", text)
	}
	in := input{name: "vdso", main: vdsoFile(t)}
	l := readLayout(t, in.main)
	checkCFI(t, &in, s, &l)
}
