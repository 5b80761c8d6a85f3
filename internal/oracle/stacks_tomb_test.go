//go:build oracle

package oracle_test

import (
	"path/filepath"
	"testing"

	"symkit/dump"
)

// TestOracleTomb compares every byte of tomb's code with llvm-symbolizer: a
// line sequence of discarded code whose address goes back to 0 in the middle
// hides main's lines and inlined calls from Mozilla's dump_syms.
func TestOracleTomb(t *testing.T) {
	path := unpack(t, filepath.Join(expectedDir(t), "defects", "tomb.elf.xz"), filepath.Join(t.TempDir(), "tomb"))
	in := input{name: "tomb", main: path}
	x := newStackIndex(parseSym(t, dumpText(t, &in, dump.Options{Inlines: true})), readLayout(t, path).load)
	names := readAliases(t, &in)
	wrong := newDiffs(t, "stacks that are not llvm-symbolizer's")
	var pcs []uint64
	main := false
	for _, f := range x.funcs {
		for pc := f.lo; pc < f.hi; pc++ {
			pcs = append(pcs, pc+x.load)
		}
		main = main || f.name == "main" && len(f.lines) > 1 && len(f.inlines) > 0
	}
	if !main {
		t.Error("main has no lines or no inlined calls")
	}
	for i, want := range llvmSymbolizer(t, path, pcs) {
		got, err := x.stack(pcs[i])
		want = normal(want)
		if err != nil || !names.same(normal(got), want, x.function(pcs[i]).lo+x.load, named) {
			wrong.add("%#x: %v %v\n\twant%v", pcs[i], err, got, want)
		}
	}
	wrong.report()
	t.Logf("%d addresses compared", len(pcs))
}
