package check

// goCalls compares the INLINE records of FUNC k with the inlined calls that Go's
// tables have for function i of the table, whose code is [lo, hi).
func (w *worker) goCalls(g *goInlines, i int, lo, hi uint64, k uint32) {
	r := w.r
	if r.exhausted(CheckInlines) {
		return
	}
	sf := &r.s.funcs[k]
	var ok bool
	before := g.steps
	w.calls, ok = w.goTruth(w.calls[:0], g, i, lo, hi)
	r.spent.Add(g.steps - before)
	if !ok {
		r.c.unverified(CheckInlines, max(1, uint64(sf.inlines.len())), noteGoDamage)
		return
	}
	w.symCalls = r.symCalls(sf, w.symCalls[:0])
	r.spent.Add(int64(len(w.calls) + len(w.symCalls)))
	r.inlines[k].better(w.compareCalls(w.symCalls, w.calls))
}

// goTruth appends the inlined calls of function i, by depth and address. It
// returns false if the function's tables are damaged.
func (w *worker) goTruth(calls []call, g *goInlines, i int, lo, hi uint64) ([]call, bool) {
	code, positions, ok := g.function(i, lo, hi)
	if !ok || code.tree == 0 {
		return calls, ok
	}
	code.files, ok = g.runs(positions[0], lo, hi)
	if !ok {
		return calls, false
	}
	code.line, ok = g.runs(positions[1], lo, hi)
	if !ok {
		return calls, false
	}

	limit := len(calls) + maxParts*len(code.index) + fewParts
	for _, run := range code.index {
		chain, ok := g.chain(&code, run.value)
		if !ok || len(calls)+len(chain) > limit {
			return calls, false
		}
		for n, e := range chain {
			c := call{depth: uint32(len(chain) - 1 - n), lo: run.lo, hi: run.hi, file: anyPath}
			c.name = w.r.names.id(nameKey{name: e.name})
			around := valueAt(code.index, e.at)
			if n+1 < len(chain) || around < 0 { // otherwise the place is not known
				c.file, c.callLine = w.goPlace(g, &code, e.at)
			}
			calls = append(calls, c)
		}
	}
	sortCalls(calls)
	return calls, true
}

// goPlace is the file and line of the instruction at pc, 0 where there is none.
func (w *worker) goPlace(g *goInlines, code *goCode, pc uint64) (file, line uint32) {
	l := valueAt(code.line, pc)
	name, ok := g.file(code, valueAt(code.files, pc))
	if !ok || l < 0 {
		return anyPath, 0
	}
	return w.r.paths.id(name), numberOf(uint32(l))
}
