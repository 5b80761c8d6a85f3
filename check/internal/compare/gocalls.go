package compare

import (
	"symkit/check/internal/checks"
	"symkit/check/internal/naming"
	"symkit/check/internal/truth/gotable"
)

// goCalls compares the INLINE records of FUNC k with the inlined calls that Go's tables have for
// function i of the table, whose code is [lo, hi).
func (w *worker) goCalls(g *gotable.Inlines, i int, lo, hi uint64, k int) {
	if w.exhausted(checks.Inlines) {
		return
	}
	sf := &w.in.Sym.Funcs[k]

	// Damaged tables leave the records unverified.
	var ok bool
	before := g.Steps
	w.calls, ok = w.goTruth(w.calls[:0], g, i, lo, hi)
	w.spend(g.Steps - before)
	if !ok {
		w.out.found.Unverified(checks.Inlines, max(1, uint64(sf.Inlines)), gotable.NoteGoDamage)
		return
	}
	w.compareInlines(k, 0, uint64(i))
}

// goTruth appends the inlined calls of function i to calls, by depth and address. It returns false
// if the function's tables are damaged.
func (w *worker) goTruth(calls []call, g *gotable.Inlines, i int, lo, hi uint64) ([]call, bool) {
	code, positions, ok := g.Function(i, lo, hi)
	if !ok || code.Tree == 0 {
		return calls, ok
	}
	code.Files, ok = g.Runs(positions[0], lo, hi)
	if !ok {
		return calls, false
	}
	code.Line, ok = g.Runs(positions[1], lo, hi)
	if !ok {
		return calls, false
	}

	// Each run of PCs has one chain of calls, innermost first.
	limit := len(calls) + maxParts*len(code.Index) + fewParts
	for _, run := range code.Index {
		chain, ok := g.Chain(&code, run.Value)
		if !ok || len(calls)+len(chain) > limit {
			return calls, false
		}
		for n, e := range chain {
			c := call{depth: uint32(len(chain) - 1 - n), lo: run.Lo, hi: run.Hi, file: naming.AnyPath}
			c.name = w.in.Truth.Names.ID(naming.Key{Name: e.Name})

			// The place of the outermost call is known only if its instruction is not itself in an
			// inlined call.
			around := gotable.ValueAt(code.Index, e.At)
			if n+1 < len(chain) || around < 0 { // otherwise the place is not known
				c.file, c.callLine = w.goPlace(g, &code, e.At)
			}
			calls = append(calls, c)
		}
	}
	w.sortCalls(calls)
	return calls, true
}

// goPlace returns the file and line of the instruction at pc. Without one the line is 0.
func (w *worker) goPlace(g *gotable.Inlines, code *gotable.Code, pc uint64) (file, line uint32) {
	l := gotable.ValueAt(code.Line, pc)
	name, ok := g.File(code, gotable.ValueAt(code.Files, pc))
	if !ok || l < 0 {
		return naming.AnyPath, 0
	}
	return w.in.Truth.Paths.ID([]byte(name)), numberOf(uint32(l))
}
