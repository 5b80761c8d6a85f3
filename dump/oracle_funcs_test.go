//go:build oracle

package dump_test

import (
	"fmt"
	"slices"
	"testing"
)

// checkFuncs compares the FUNC records with the subprograms: every byte of
// every subprogram is in a FUNC, every FUNC is code of a subprogram, in
// address order and without overlap. It returns a row of the table.
func checkFuncs(t *testing.T, s *symFile, tr *truth, l *layout) string {
	t.Helper()
	order := newDiffs(t, "FUNC records out of order, overlapping or outside of executable sections")
	for i, f := range s.funcs {
		if i > 0 && f.lo < s.funcs[i-1].hi || !l.live(f.lo+l.load) || !l.live(f.hi-1+l.load) {
			order.add("%#x–%#x %s", f.lo, f.hi, f.name)
		}
	}
	order.report()

	missing := newDiffs(t, "ranges of subprograms not covered by FUNC records")
	var extent []span // of all subprograms
	i := 0
	for _, r := range tr.ranges {
		extent = extend(extent, r.span)
		for i < len(s.funcs) && s.funcs[i].hi <= r.lo {
			i++
		}
		got := uint64(0)
		for k := i; k < len(s.funcs) && s.funcs[k].lo < r.hi; k++ {
			got += min(s.funcs[k].hi, r.hi) - max(s.funcs[k].lo, r.lo)
		}
		if got < r.hi-r.lo {
			missing.add("%#x–%#x: %d of %d bytes, DIE %#x %s", r.lo, r.hi, got, r.hi-r.lo, r.die, r.name)
		}
	}
	missing.report()

	invented := newDiffs(t, "FUNC records that are no code of a subprogram")
	i = 0
	for _, f := range s.funcs {
		for i < len(extent) && extent[i].hi <= f.lo {
			i++
		}
		if i == len(extent) || extent[i].lo > f.lo || extent[i].hi < f.hi {
			invented.add("%#x–%#x %s", f.lo, f.hi, f.name)
		}
	}
	invented.report()
	checkNames(t, s, tr)
	bytes, covered := common(extent, s.funcs)
	return fmt.Sprintf("%11d %10d %10d", tr.subprograms, bytes, covered)
}

// checkNames compares the name of each FUNC with those of the subprograms that
// have its first byte.
func checkNames(t *testing.T, s *symFile, tr *truth) {
	t.Helper()
	wrong := newDiffs(t, "FUNC records that bear no name of a subprogram there")
	next, here := 0, []dwarfRange(nil)
	for _, f := range s.funcs {
		for ; next < len(tr.ranges) && tr.ranges[next].lo <= f.lo; next++ {
			here = append(here, tr.ranges[next])
		}
		here = slices.DeleteFunc(here, func(r dwarfRange) bool { return r.hi <= f.lo })
		if !slices.ContainsFunc(here, func(r dwarfRange) bool { return isNamed(f.name, r.name) }) {
			wrong.add("%#x: %s, want %v", f.lo, f.name, here)
		}
	}
	wrong.report()
}

// common counts the bytes of code, and those of them that are in funcs.
func common(code []span, funcs []symFunc) (bytes, covered uint64) {
	i := 0
	for _, c := range code {
		bytes += c.hi - c.lo
		for i < len(funcs) && funcs[i].hi <= c.lo {
			i++
		}
		for k := i; k < len(funcs) && funcs[k].lo < c.hi; k++ {
			covered += min(funcs[k].hi, c.hi) - max(funcs[k].lo, c.lo)
		}
	}
	return bytes, covered
}

// extend adds a span that begins behind those before to a list of disjoint
// ones.
func extend(list []span, s span) []span {
	if n := len(list) - 1; n >= 0 && s.lo <= list[n].hi {
		list[n].hi = max(list[n].hi, s.hi)
		return list
	}
	return append(list, s)
}
