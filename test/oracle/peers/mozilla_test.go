//go:build oracle

package peers

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"symkit/dump"
	"symkit/test/oracle"
	"symkit/test/oracle/symfile"
	"symkit/test/testfile"
)

// TestOracleMozilla compares the full inline stack of every PC with what
// Mozilla's dump_syms wrote: every difference is in docs/differences.md, and
// everything there is a difference.
func TestOracleMozilla(t *testing.T) {
	for _, in := range oracle.FromCorpus(t, "python3.11-dbg/usr/bin/python3.11d", "") {
		theirs := symfile.Parse(t, testfile.Expected(t, in.Name+".mozilla-inlines.sym"))
		ours := symfile.Parse(t, oracle.Dump(t, &in, dump.Options{Inlines: true}))
		c := differ{ours: ours, theirs: theirs, counts: map[string]int{}}
		c.stacks(t)
		c.check(t, in.Name+".mozilla")
	}
}

// stacks compares the stacks of every PC that is in a function of either.
func (c *differ) stacks(t *testing.T) {
	t.Helper()
	ours, theirs := symfile.NewIndex(c.ours, 0), symfile.NewIndex(c.theirs, 0)
	all := append(edges(c.ours), edges(c.theirs)...)
	slices.Sort(all)
	all = slices.Compact(all)
	var out []place
	compared := uint64(0)
	for i, pc := range all[:max(len(all)-1, 0)] {
		if theirs.Function(pc) == nil && ours.Function(pc) == nil {
			continue
		}
		end := all[i+1]
		compared += end - pc
		got, want := stackText(t, ours, pc), stackText(t, theirs, pc)
		if got == want {
			continue
		}
		what := fmt.Sprintf("%s, not %s", got, want)
		if n := len(out) - 1; n >= 0 && out[n].Hi == pc && out[n].what == what {
			out[n].Hi = end
		} else {
			out = append(out, place{oracle.Span{Lo: pc, Hi: end}, what})
		}
	}

	for _, d := range out {
		c.add("stack %x–%x: %s", d.Lo, d.Hi, d.what)
	}

	t.Logf("%d ranges of code, %d bytes compared", len(all), compared)
}

// edges returns the addresses where the stack may change.
func edges(s *symfile.File) (out []uint64) {
	for i := range s.Funcs {
		f := &s.Funcs[i]
		out = append(out, f.Lo, f.Hi)
		for _, l := range f.Lines {
			out = append(out, l.Addr, l.Addr+uint64(l.Size))
		}
		for _, in := range f.Inlines {
			out = append(out, in.Lo, in.Hi)
		}
	}
	return out
}

// stackText returns the stack at pc in one line.
func stackText(t *testing.T, x *symfile.Index, pc uint64) string {
	t.Helper()
	s, err := x.Stack(pc)
	if err != nil {
		t.Errorf("%#x: %v", pc, err)
	}
	if len(s) == 0 {
		return "nothing"
	}

	parts := make([]string, len(s))
	for i, f := range s {
		if f.File != "" {
			f.File = path.Clean(f.File)
		}
		parts[i] = fmt.Sprintf("%s %s:%d", f.Name, f.File, f.Line)
	}
	return strings.Join(parts, " < ")
}
