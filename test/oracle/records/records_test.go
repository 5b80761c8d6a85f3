//go:build oracle

package records

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/dump"
	"symkit/test/oracle"
	"symkit/test/oracle/dwarftruth"
	"symkit/test/oracle/readelf"
	"symkit/test/oracle/symfile"
)

func TestOracleCorpus(t *testing.T) {
	compareAll(t, slices.Concat(
		oracle.FromCorpus(t, "python3.11-dbg/usr/bin/python3.11d", ""),
		oracle.FromCorpus(t, "libc6/lib/x86_64-linux-gnu/libc.so.6", "libc6-dbg"),
		oracle.FromCorpus(t, "libc6/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", "libc6-dbg"),
		oracle.FromCorpus(t, "libstdc++6-12-dbg/usr/lib/x86_64-linux-gnu/debug/libstdc++.so.6.*.*", ""),
		oracle.FromCorpus(t, "valgrind/usr/libexec/valgrind/memcheck-*-linux", "valgrind-dbg"),
		oracle.FromCorpus(t, "valgrind/usr/libexec/valgrind/vgpreload_memcheck-*-linux.so", "valgrind-dbg"),
	))
}

func TestOracleFixtures(t *testing.T) {
	compareAll(t, oracle.Fixtures(t))
}

// TestOracleDefects dumps the programs that show where Breakpad and Mozilla fail.
func TestOracleDefects(t *testing.T) {
	compareAll(t, oracle.Defects(t))
}

func TestCorpusCeph(t *testing.T) {
	compareAll(t, withLoneDebugFiles(t, oracle.FromCorpus(t, "ceph-osd/usr/bin/ceph-*", "ceph-osd-dbg"), "ceph-osd-dbg"))
}

func TestCorpusJVM(t *testing.T) {
	compareAll(t, oracle.FromCorpus(t, "openjdk-17-jre-headless/usr/lib/jvm/*/lib/server/libjvm.so", "openjdk-17-dbg"))
}

func TestCorpusKernel(t *testing.T) {
	compareAll(t, oracle.FromCorpus(t, "linux-image-*-dbg/usr/lib/debug/boot/vmlinux-*", ""))
}

// withLoneDebugFiles adds the debug files of a package whose binaries are not
// among the inputs.
func withLoneDebugFiles(t *testing.T, inputs []oracle.Input, debugPackage string) []oracle.Input {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(oracle.CorpusDir(t), debugPackage, "usr/lib/debug/.build-id/*/*.debug"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no debug files in %s: %v", debugPackage, err)
	}
	for _, path := range paths {
		if !slices.ContainsFunc(inputs, func(in oracle.Input) bool { return in.Debug == path }) {
			inputs = append(inputs, oracle.Input{Name: filepath.Base(path), Main: path})
		}
	}
	return inputs
}

// compareAll compares each module, and prints the figures.
func compareAll(t *testing.T, inputs []oracle.Input) {
	var table strings.Builder
	fmt.Fprintf(&table, "%-45s %s %7s %8s %8s\n", "file", dwarftruth.Columns, "FDEs", "rows", "with exp")
	for i := range inputs {
		in := &inputs[i]
		t.Run(in.Name, func(t *testing.T) {
			fmt.Fprintf(&table, "%-45s %s\n", in.Name, compare(t, in))
		})
	}
	t.Logf("compared:\n%s", table.String())
}

// compare compares one module and returns its row of the table.
func compare(t *testing.T, in *oracle.Input) string {
	l := oracle.ReadLayout(t, in.Main)
	s := symfile.Parse(t, oracle.Dump(t, in, dump.Options{Inlines: true}))
	row := dwarftruth.Compare(t, in, s, &l)
	frames := readelf.Compare(t, in, s, &l)
	if in.Name == "python3.11d" && (frames.FDEs != 11319 || frames.Rows != 91458) {
		t.Errorf("%d FDEs, %d rows compared, want 11319 and 91458", frames.FDEs, frames.Rows)
	}
	return row + " " + frames.String()
}
