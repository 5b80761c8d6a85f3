//go:build oracle

package oracle_test

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/dump"
)

// TestOracleMozilla compares the full inline stack of every PC with what
// Mozilla's dump_syms wrote: every difference has to be in docs/differences.md,
// and what is there has to be a difference.
func TestOracleMozilla(t *testing.T) {
	for _, in := range fromCorpus(t, "python3.11-dbg/usr/bin/python3.11d", "") {
		theirs := parseSym(t, readXZ(t, filepath.Join(expectedDir(t), in.name+".mozilla-inlines.sym.xz")))
		ours := parseSym(t, dumpText(t, &in, dump.Options{Inlines: true}))
		c := symDiff{ours: ours, theirs: theirs, counts: map[string]int{}}
		c.stacks(t)
		c.check(t, in.name+".mozilla")
	}
}

// stacks compares the stacks of every PC that is in a function of either.
func (c *symDiff) stacks(t *testing.T) {
	t.Helper()
	ours, theirs := newStackIndex(c.ours, 0), newStackIndex(c.theirs, 0)
	all := append(edges(c.ours), edges(c.theirs)...)
	slices.Sort(all)
	all = slices.Compact(all)
	var out []place
	compared := uint64(0)
	for i, pc := range all[:max(len(all)-1, 0)] {
		if theirs.function(pc) == nil && ours.function(pc) == nil {
			continue
		}
		end := all[i+1]
		compared += end - pc
		got, want := stackText(t, ours, pc), stackText(t, theirs, pc)
		if got == want {
			continue
		}
		what := fmt.Sprintf("%s, not %s", got, want)
		if n := len(out) - 1; n >= 0 && out[n].hi == pc && out[n].what == what {
			out[n].hi = end
		} else {
			out = append(out, place{span{pc, end}, what})
		}
	}
	for _, d := range out {
		c.add("stack %x–%x: %s", d.lo, d.hi, d.what)
	}
	t.Logf("%d pieces of code, %d bytes compared", len(all), compared)
}

// edges are the addresses where the stack may change.
func edges(s *symFile) (out []uint64) {
	for i := range s.funcs {
		f := &s.funcs[i]
		out = append(out, f.lo, f.hi)
		for _, l := range f.lines {
			out = append(out, l.Addr, l.Addr+uint64(l.Size))
		}
		for _, in := range f.inlines {
			out = append(out, in.lo, in.hi)
		}
	}
	return out
}

// stackText is the stack at pc in one line.
func stackText(t *testing.T, x *stackIndex, pc uint64) string {
	t.Helper()
	s, err := x.stack(pc)
	if err != nil {
		t.Errorf("%#x: %v", pc, err)
	}
	if len(s) == 0 {
		return "nothing"
	}
	parts := make([]string, len(s))
	for i, f := range s {
		if f.file != "" {
			f.file = path.Clean(f.file)
		}
		parts[i] = fmt.Sprintf("%s %s:%d", f.name, f.file, f.line)
	}
	return strings.Join(parts, " < ")
}
