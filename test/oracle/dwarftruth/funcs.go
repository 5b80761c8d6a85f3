//go:build oracle

package dwarftruth

import (
	"fmt"
	"slices"
	"testing"

	"symkit/test/oracle"
	"symkit/test/oracle/symfile"
)

// checkFuncs compares the FUNC records with the subprograms. FUNC records must be in address
// order and not overlap. Every byte of every subprogram must be in a FUNC record. Every FUNC
// record must be code of a subprogram, or of a function that only the symbol table has.
// checkFuncs returns its figures of the row.
func checkFuncs(t *testing.T, s *symfile.File, tr *truth, l *oracle.Layout) string {
	t.Helper()
	// FUNC records must be disjoint, sorted, and in executable sections.
	order := oracle.NewDiffs(t, "FUNC records out of order, overlapping or outside of executable sections")
	for i, f := range s.Funcs {
		if i > 0 && f.Lo < s.Funcs[i-1].Hi || !l.Live(f.Lo+l.Load) || !l.Live(f.Hi-1+l.Load) {
			order.Add("%#x–%#x %s", f.Lo, f.Hi, f.Name)
		}
	}
	order.Report()

	// FUNC records must have every byte of each range of a subprogram.
	missing := oracle.NewDiffs(t, "ranges of subprograms not covered by FUNC records")
	var extent []oracle.Span // of all subprograms
	i := 0
	for _, r := range tr.ranges {
		extent = oracle.AppendSpan(extent, r.Span)
		for i < len(s.Funcs) && s.Funcs[i].Hi <= r.Lo {
			i++
		}
		got := uint64(0)
		for k := i; k < len(s.Funcs) && s.Funcs[k].Lo < r.Hi; k++ {
			got += min(s.Funcs[k].Hi, r.Hi) - max(s.Funcs[k].Lo, r.Lo)
		}
		if got < r.Hi-r.Lo {
			missing.Add("%#x–%#x: %d of %d bytes, DIE %#x %s", r.Lo, r.Hi, got, r.Hi-r.Lo, r.die, r.name)
		}
	}
	missing.Report()

	// Each FUNC record must lie in the code of the subprograms.
	invented := oracle.NewDiffs(t, "FUNC records that are no code of a subprogram")
	i = 0
	for _, f := range s.Funcs {
		for i < len(extent) && extent[i].Hi <= f.Lo {
			i++
		}
		inside := i < len(extent) && extent[i].Lo <= f.Lo && extent[i].Hi >= f.Hi
		if !inside && !tr.symbols.has(f.Lo+l.Load, f.Hi+l.Load, f.Name) {
			invented.Add("%#x–%#x %s", f.Lo, f.Hi, f.Name)
		}
	}
	invented.Report()

	checkNames(t, s, tr, l)
	bytes, covered := common(extent, s.Funcs)
	return fmt.Sprintf("%11d %10d %10d", tr.subprograms, bytes, covered)
}

// checkNames compares the name of each FUNC with those of the subprograms that
// have its first byte.
func checkNames(t *testing.T, s *symfile.File, tr *truth, l *oracle.Layout) {
	t.Helper()
	// here has the ranges of subprograms that have the first byte of the FUNC record.
	wrong := oracle.NewDiffs(t, "FUNC records that bear no name of a subprogram there")
	next, here := 0, []codeRange(nil)
	for _, f := range s.Funcs {
		for ; next < len(tr.ranges) && tr.ranges[next].Lo <= f.Lo; next++ {
			here = append(here, tr.ranges[next])
		}
		here = slices.DeleteFunc(here, func(r codeRange) bool { return r.Hi <= f.Lo })

		named := slices.ContainsFunc(here, func(r codeRange) bool { return isNamed(f.Name, r.name) })
		if !named && !(len(here) == 0 && tr.symbols.has(f.Lo+l.Load, f.Hi+l.Load, f.Name)) {
			wrong.Add("%#x: %s, want %v", f.Lo, f.Name, here)
		}
	}
	wrong.Report()
}

// common counts the bytes of code, and how many of these are in funcs.
func common(code []oracle.Span, funcs []symfile.Func) (bytes, covered uint64) {
	i := 0
	for _, c := range code {
		bytes += c.Hi - c.Lo
		for i < len(funcs) && funcs[i].Hi <= c.Lo {
			i++
		}
		for k := i; k < len(funcs) && funcs[k].Lo < c.Hi; k++ {
			covered += min(funcs[k].Hi, c.Hi) - max(funcs[k].Lo, c.Lo)
		}
	}
	return bytes, covered
}
