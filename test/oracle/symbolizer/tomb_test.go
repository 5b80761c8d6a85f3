//go:build oracle

package symbolizer

import (
	"path/filepath"
	"testing"

	"symkit/dump"
	"symkit/test/oracle"
	"symkit/test/oracle/symfile"
)

// TestOracleTomb compares every byte of tomb's code with llvm-symbolizer. Mozilla's
// dump_syms loses main's lines and inlined calls because of a line sequence of
// discarded code whose address goes back to 0 in the middle.
func TestOracleTomb(t *testing.T) {
	path := oracle.Unpack(t, "../../../check/testdata/defects/tomb.elf.xz", filepath.Join(t.TempDir(), "tomb"))
	in := oracle.Input{Name: "tomb", Main: path}
	x := symfile.NewIndex(symfile.Parse(t, oracle.Dump(t, &in, dump.Options{Inlines: true})), oracle.ReadLayout(t, path).Load)
	names := readAliases(t, &in)
	wrong := oracle.NewDiffs(t, "stacks that are not llvm-symbolizer's")
	var pcs []uint64
	main := false
	for _, f := range x.Funcs {
		for pc := f.Lo; pc < f.Hi; pc++ {
			pcs = append(pcs, pc+x.Load)
		}
		main = main || f.Name == "main" && len(f.Lines) > 1 && len(f.Inlines) > 0
	}

	if !main {
		t.Error("main has no lines or no inlined calls")
	}

	for i, want := range llvmSymbolizer(t, path, pcs) {
		got, err := x.Stack(pcs[i])
		want = normal(want)
		if err != nil || !names.same(normal(got), want, x.Function(pcs[i]).Lo+x.Load, named) {
			wrong.Add("%#x: %v %v\n\twant%v", pcs[i], err, got, want)
		}
	}
	wrong.Report()
	t.Logf("%d addresses compared", len(pcs))
}
