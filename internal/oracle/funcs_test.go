//go:build oracle

package oracle_test

import (
	"debug/elf"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ianlancetaylor/demangle"
)

// checkFuncs compares the FUNC records with the subprograms: every byte of
// every subprogram is in a FUNC, every FUNC is code of a subprogram, or of a
// function that only the symbol table knows, in address order and without
// overlap. It returns a row of the table.
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
		inside := i < len(extent) && extent[i].lo <= f.lo && extent[i].hi >= f.hi
		if !inside && !tr.symbols.has(f.lo+l.load, f.hi+l.load, f.name) {
			invented.add("%#x–%#x %s", f.lo, f.hi, f.name)
		}
	}
	invented.report()
	checkNames(t, s, tr, l)
	bytes, covered := common(extent, s.funcs)
	return fmt.Sprintf("%11d %10d %10d", tr.subprograms, bytes, covered)
}

// checkNames compares the name of each FUNC with those of the subprograms that
// have its first byte.
func checkNames(t *testing.T, s *symFile, tr *truth, l *layout) {
	t.Helper()
	wrong := newDiffs(t, "FUNC records that bear no name of a subprogram there")
	next, here := 0, []dwarfRange(nil)
	for _, f := range s.funcs {
		for ; next < len(tr.ranges) && tr.ranges[next].lo <= f.lo; next++ {
			here = append(here, tr.ranges[next])
		}
		here = slices.DeleteFunc(here, func(r dwarfRange) bool { return r.hi <= f.lo })
		named := slices.ContainsFunc(here, func(r dwarfRange) bool { return isNamed(f.name, r.name) })
		if !named && !(len(here) == 0 && tr.symbols.has(f.lo+l.load, f.hi+l.load, f.name)) {
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

// funcSymbols are the function symbols with a size, by address.
type funcSymbols map[uint64][]elf.Symbol

// readSymbols reads the symbols of the first of the files that has .symtab.
func readSymbols(t *testing.T, paths []string) funcSymbols {
	t.Helper()
	symbols := funcSymbols{}
	for _, path := range paths {
		f, err := elf.Open(path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		list, _ := f.Symbols()
		f.Close()
		for _, s := range list {
			if kind := elf.ST_TYPE(s.Info); (kind == elf.STT_FUNC || kind == elf.STT_GNU_IFUNC) && s.Size > 0 {
				addr := s.Value
				if f.Machine == elf.EM_ARM {
					addr &^= 1
				}
				symbols[addr] = append(symbols[addr], s)
			}
		}
		if len(symbols) > 0 {
			break
		}
	}
	return symbols
}

// has tells whether one of the symbols at lo reaches to hi and has the name.
func (s funcSymbols) has(lo, hi uint64, name string) bool {
	reaches := slices.ContainsFunc(s[lo], func(s elf.Symbol) bool { return lo+s.Size >= hi })
	return reaches && slices.ContainsFunc(s[lo], func(s elf.Symbol) bool {
		plain, _, _ := strings.Cut(s.Name, "@")
		plain, _, _ = strings.Cut(plain, ".") // the suffix of a part or copy
		return name == plain || name == demangle.Filter(plain)
	})
}
