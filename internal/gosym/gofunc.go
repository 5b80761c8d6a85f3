package gosym

import "symkit/internal/wire"

// Since Go 1.18 the offset of an inline tree counts from gofunc, a word of moduledata
// whose index differs from release to release. The trees identify the word: every
// candidate is tried on the trees of some functions, spread over the program, and the
// word with the most valid trees is chosen.

// checkedCalls is the number of entries of a tree that are checked.
const checkedCalls = 64

// sampleTrees is the number of inline trees that a candidate for gofunc is
// tried on. A wrong base makes a tree valid only by chance.
const sampleTrees = 64

// treeProbe has the conditions that an inline tree must satisfy: its offset from gofunc,
// the highest index that the function's code names, and the size of the function.
type treeProbe struct {
	offset uint64
	last   int32
	size   uint64
}

// findGoFunc sets gofunc to the word of moduledata that most inline trees are
// valid with. Gofunc stays 0 if no word makes more than half of them valid.
func (t *Table) findGoFunc() {
	probes := t.treeProbes(t.nfunc/(16*sampleTrees) + 1)
	if len(probes) == 0 {
		probes = t.treeProbes(1)
	}
	t.trees = len(probes) > 0

	// More than half of the trees must be valid.
	best := len(probes) / 2
	for _, base := range t.module.words {
		if base == 0 || base == t.module.gofunc {
			continue
		}
		fits := 0
		for _, p := range probes {
			if t.treeFits(base, p) {
				fits++
			}
		}
		if fits > best {
			t.module.gofunc, best = base, fits
		}
	}
}

// treeProbes returns inline trees of every stride-th function, sampleTrees at most.
func (t *Table) treeProbes(stride uint64) []treeProbe {
	var probes []treeProbe
	floor := uint64(0) // functions do not overlap, or this would take long
	size := uint64(t.fieldSize())

	for i := uint64(0); i < t.nfunc && len(probes) < sampleTrees; i += stride {
		at := t.ftab + 2*i*size
		c := t.at(at)
		entry, off, next := c.Uint(int(size)), c.Uint(int(size)), c.Uint(int(size))
		f, err := t.fn(at, entry, next, off)
		if err != nil || f.Entry < floor {
			continue
		}
		floor = f.End

		if p, ok := t.treeProbe(f); ok {
			probes = append(probes, p)
		}
	}
	return probes
}

// treeProbe returns the probe of f. It returns false if f has no inlined calls.
func (t *Table) treeProbe(f Func) (treeProbe, bool) {
	r, err := t.record(0, uint64(f.record))
	if err != nil {
		return treeProbe{}, false
	}
	pcs, tree, ok, err := t.inlineTables(&r)
	if err != nil || !ok {
		return treeProbe{}, false
	}

	// The highest index of the code is that of the last entry needed.
	p := treeProbe{offset: tree - t.module.gofunc, last: -1, size: f.End - f.Entry}
	for w := t.pcTable(pcs, f.Entry); w.end < f.End && w.next(); {
		p.last = max(p.last, w.value)
	}
	return p, p.last >= 0
}

// treeFits reports whether the bytes at base+p.offset are an inline tree of the
// function of p: each of its first entries names a string of the name table from its first
// byte on and an instruction of the function, has zero padding, and is not all zero.
func (t *Table) treeFits(base uint64, p treeProbe) bool {
	n := min(uint64(p.last)+1, checkedCalls)
	size := t.callSize()
	data := t.read(base+p.offset, n*size)
	if uint64(len(data)) != n*size {
		return false
	}

	// One impossible entry suffices.
	c := wire.New("inline tree", data, t.big)
	for range n {
		e := t.readCall(&c)
		zero := e == callEntry{} // memory outside of a tree often is
		if zero || e.padding != 0 || uint64(e.parentPC) >= p.size || !t.nameBegins(e.name) {
			return false
		}
	}
	return c.Err() == nil
}

// nameBegins reports whether a name of the name table begins at offset name.
func (t *Table) nameBegins(name uint32) bool {
	s, ok := t.cstring(t.names, uint64(name))
	return ok && len(s) > 0 && (name == 0 || t.data[t.names+uint64(name)-1] == 0)
}
