//go:build oracle

// Differential tests: what is dumped of real files against what others read
// in them. Functions and lines are compared with debug/dwarf, unwind rules with
// readelf, whole files with Breakpad's dump_syms. The tests named Oracle have
// small inputs; those named Corpus take minutes and gigabytes of memory.

package oracle_test

import (
	"bytes"
	"debug/elf"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/dump"
)

func TestOracleCorpus(t *testing.T) {
	compareAll(t, slices.Concat(
		fromCorpus(t, "python3.11-dbg/usr/bin/python3.11d", ""),
		fromCorpus(t, "libc6/lib/x86_64-linux-gnu/libc.so.6", "libc6-dbg"),
		fromCorpus(t, "libc6/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", "libc6-dbg"),
		fromCorpus(t, "libstdc++6-12-dbg/usr/lib/x86_64-linux-gnu/debug/libstdc++.so.6.*.*", ""),
		fromCorpus(t, "valgrind/usr/libexec/valgrind/memcheck-*-linux", "valgrind-dbg"),
		fromCorpus(t, "valgrind/usr/libexec/valgrind/vgpreload_memcheck-*-linux.so", "valgrind-dbg"),
	))
}

func TestOracleFixtures(t *testing.T) {
	compareAll(t, fixtures(t))
}

// TestOracleDefects has the programs that show where Breakpad and Mozilla fail.
func TestOracleDefects(t *testing.T) {
	compareAll(t, defects(t))
}

func TestCorpusCeph(t *testing.T) {
	compareAll(t, withLoneDebugFiles(t, fromCorpus(t, "ceph-osd/usr/bin/ceph-*", "ceph-osd-dbg"), "ceph-osd-dbg"))
}

func TestCorpusJVM(t *testing.T) {
	compareAll(t, fromCorpus(t, "openjdk-17-jre-headless/usr/lib/jvm/*/lib/server/libjvm.so", "openjdk-17-dbg"))
}

func TestCorpusKernel(t *testing.T) {
	compareAll(t, fromCorpus(t, "linux-image-*-dbg/usr/lib/debug/boot/vmlinux-*", ""))
}

// withLoneDebugFiles adds the debug files of a package whose binaries are not
// among the inputs.
func withLoneDebugFiles(t *testing.T, inputs []input, debugPackage string) []input {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(corpusDir(t), debugPackage, "usr/lib/debug/.build-id/*/*.debug"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no debug files in %s: %v", debugPackage, err)
	}
	for _, path := range paths {
		if !slices.ContainsFunc(inputs, func(in input) bool { return in.debug == path }) {
			inputs = append(inputs, input{name: filepath.Base(path), main: path})
		}
	}
	return inputs
}

// compareAll compares each input with its oracles, and prints the figures.
func compareAll(t *testing.T, inputs []input) {
	var table strings.Builder
	fmt.Fprintf(&table, "%-45s %11s %10s %10s %10s %10s %9s %8s %10s %7s %8s %8s\n", "file", "subprograms", "bytes", "covered",
		"line rows", "bytes", "ambiguous", "inlines", "bytes", "FDEs", "rows", "with exp")
	for i := range inputs {
		in := &inputs[i]
		t.Run(in.name, func(t *testing.T) {
			fmt.Fprintf(&table, "%-45s %s\n", in.name, compare(t, in))
		})
	}
	t.Logf("compared:\n%s", table.String())
}

// compare returns a row of the table.
func compare(t *testing.T, in *input) string {
	l := readLayout(t, in.main)
	s := parseSym(t, dumpText(t, in, dump.Options{Inlines: true}))
	row := compareDWARF(t, in, s, &l)
	frames := checkCFI(t, in, s, &l)
	if in.name == "python3.11d" && (frames.fdes != 11319 || frames.rows != 91458) {
		t.Errorf("%d FDEs, %d rows compared, want 11319 and 91458", frames.fdes, frames.rows)
	}
	return row + " " + frames.String()
}

func compareDWARF(t *testing.T, in *input, s *symFile, l *layout) string {
	tr, err := readTruth(dwarfOracle(t, in), l)
	if err != nil {
		t.Errorf("oracle: %v", err)
		return "debug/dwarf failed"
	}

	tr.symbols = readSymbols(t, []string{in.dwarfFile(), in.main})
	return checkFuncs(t, s, tr, l) + " " + checkLines(t, s, tr) + " " + checkInlines(t, s, tr)
}

// dwarfOracle is the file whose DWARF tells the truth of in: its own, or, for
// fixtures that debug/dwarf does not read, that of the twin with the same code.
// It knows no dwz and no .dwo, and takes the string offsets of 64-bit DWARF 5
// for 4 bytes long.
func dwarfOracle(t *testing.T, in *input) string {
	t.Helper()
	own := in.dwarfFile()
	for _, c := range []struct{ variant, plain string }{
		{"-dw5-dwz.elf", "-dw5.elf"},
		{"-dw5-sup.elf", "-dw5.elf"},
		{"-dw4-split.elf", "-dw4.elf"},
		{"-dw5-split.elf", "-dw5.elf"},
		{"-dw5-64.elf", "-dw5.elf"},
	} {
		name, ok := strings.CutSuffix(own, c.variant)
		if !ok {
			continue
		}
		twin := name + c.plain
		if !bytes.Equal(textOf(t, own), textOf(t, twin)) {
			t.Fatalf("%s has other code than its twin %s", own, twin)
		}
		return twin
	}
	return own
}

func textOf(t *testing.T, path string) []byte {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := f.Section(".text").Data()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return text
}
