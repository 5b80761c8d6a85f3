//go:build oracle

package dump_test

import (
	"cmp"
	"debug/dwarf"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// call is an inlined call without its code.
type call struct {
	depth, line uint32
	file, name  string
}

func (c call) String() string {
	return fmt.Sprintf("%d: %s called at %s:%d", c.depth, c.name, c.file, c.line)
}

// inlineSweep compares our inlined calls with the DIEs, piece by piece of the
// code of all FUNCs.
type inlineSweep struct {
	s       *symFile
	tr      *truth
	owners  []dwarfRange  // subprograms that have the code at pos
	calls   []dwarfInline // inlined calls there
	nextFn  int
	nextIn  int
	bytes   uint64 // of code in inlined calls
	wrong   *diffs
	scratch []call
}

// checkInlines compares the inlined calls at every byte. Where several DIEs
// describe the code, ours have to be those of one of them. It returns a row of
// the table.
func checkInlines(t *testing.T, s *symFile, tr *truth) string {
	t.Helper()
	w := inlineSweep{s: s, tr: tr, wrong: newDiffs(t, "pieces of code with other inlined calls")}
	for i := range s.funcs {
		w.function(&s.funcs[i])
	}
	w.wrong.report()
	return fmt.Sprintf("%8d %10d", len(tr.inlines), w.bytes)
}

func (w *inlineSweep) function(f *symFunc) {
	var active []symInline
	next := 0
	for pos := f.lo; pos < f.hi; {
		end := w.advance(pos, f.hi)
		for ; next < len(f.inlines) && f.inlines[next].lo <= pos; next++ {
			active = append(active, f.inlines[next])
		}
		active = slices.DeleteFunc(active, func(in symInline) bool { return in.hi <= pos })
		if next < len(f.inlines) {
			end = min(end, f.inlines[next].lo)
		}
		for i := range active {
			end = min(end, active[i].hi)
		}
		w.compare(f, span{pos, end}, active)
		pos = end
	}
}

// advance makes active what holds at pos and returns where that changes, at
// most end.
func (w *inlineSweep) advance(pos, end uint64) uint64 {
	fns, ins := w.tr.ranges, w.tr.inlines
	for ; w.nextFn < len(fns) && fns[w.nextFn].lo <= pos; w.nextFn++ {
		w.owners = append(w.owners, fns[w.nextFn])
	}
	for ; w.nextIn < len(ins) && ins[w.nextIn].lo <= pos; w.nextIn++ {
		w.calls = append(w.calls, ins[w.nextIn])
	}
	w.owners = slices.DeleteFunc(w.owners, func(r dwarfRange) bool { return r.hi <= pos })
	w.calls = slices.DeleteFunc(w.calls, func(in dwarfInline) bool { return in.hi <= pos })
	if w.nextFn < len(fns) {
		end = min(end, fns[w.nextFn].lo)
	}
	if w.nextIn < len(ins) {
		end = min(end, ins[w.nextIn].lo)
	}
	for i := range w.owners {
		end = min(end, w.owners[i].hi)
	}
	for i := range w.calls {
		end = min(end, w.calls[i].hi)
	}
	return end
}

func (w *inlineSweep) compare(f *symFunc, at span, active []symInline) {
	if len(active) == 0 && len(w.calls) == 0 {
		return
	}
	w.bytes += at.hi - at.lo
	ours := w.scratch[:0]
	for _, in := range active {
		ours = append(ours, call{in.depth, in.line, w.s.files[in.file], w.s.origins[in.origin]})
	}
	w.scratch = ours
	slices.SortFunc(ours, func(a, b call) int { return cmp.Compare(a.depth, b.depth) })
	for _, owner := range w.owners {
		if w.same(ours, owner.die) {
			return
		}
	}
	w.wrong.add("%#x–%#x in %s: %v, want %v", at.lo, at.hi, f.name, ours, w.describe())
}

// same tells whether the calls are those that the subprogram at die has.
func (w *inlineSweep) same(ours []call, die dwarf.Offset) bool {
	n := 0
	for i := range w.calls {
		want := &w.calls[i]
		if want.owner != die {
			continue
		}
		n++
		if !slices.ContainsFunc(ours, func(c call) bool {
			return c.depth == want.depth && c.line == want.line && c.file == w.tr.files[want.file] && isNamed(c.name, want.name)
		}) {
			return false
		}
	}
	return n == len(ours)
}

// isNamed tells whether what we wrote, which may be a demangled linkage name
// with scopes and parameters, is a name of the function that DW_AT_name calls
// plain. Template arguments and operators are spelled in other ways there.
func isNamed(ours, plain string) bool {
	if strings.HasPrefix(plain, "operator") {
		plain = "operator"
	} else if i := strings.IndexByte(plain, '<'); i > 0 {
		plain = plain[:i]
	}
	return strings.Contains(ours, plain)
}

// describe lists the calls of all subprograms with the code.
func (w *inlineSweep) describe() (out []string) {
	for _, in := range w.calls {
		c := call{in.depth, in.line, w.tr.files[in.file], in.name}
		out = append(out, fmt.Sprintf("%v (in DIE %#x)", c, in.owner))
	}
	return out
}
