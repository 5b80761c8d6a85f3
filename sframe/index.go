package sframe

import (
	"cmp"
	"slices"
	"sort"
)

// Index finds functions by PC. FDEs are in the order of their addresses only if a linker
// has sorted them, and never across chunks.
type Index struct {
	// Overlaps is the number of FDEs that begin inside an earlier FDE. For Find, the
	// earlier FDE ends where the later one begins. Of several FDEs with one start, Find
	// returns the last in the section.
	Overlaps int

	section *Section
	entries []entry
}

type entry struct {
	start, end uint64
	chunk, fde int
}

// NewIndex sorts the FDEs of s that describe a PC. The errors are those of Section.FDEs;
// the damaged FDEs are not in the index.
func NewIndex(s *Section) (*Index, []error) {
	x := &Index{section: s}
	var errs []error
	for i := range s.Chunks {
		for f, err := range s.Chunks[i].FDEs() {
			if err != nil {
				errs = append(errs, err)
			} else if f.Size != 0 {
				x.entries = append(x.entries, entry{f.Start, f.End(), i, f.Index})
			}
		}
	}

	// The sort is stable: of FDEs with one start, the last in the section stays last.
	slices.SortStableFunc(x.entries, func(a, b entry) int { return cmp.Compare(a.start, b.start) })
	for i := range x.entries[:max(len(x.entries), 1)-1] {
		if e, next := &x.entries[i], x.entries[i+1].start; e.end > next {
			e.end = next
			x.Overlaps++
		}
	}
	return x, errs
}

// Find returns the FDE that describes pc.
func (x *Index) Find(pc uint64) (f FDE, ok bool) {
	i := sort.Search(len(x.entries), func(i int) bool { return x.entries[i].start > pc }) - 1
	if i < 0 || pc >= x.entries[i].end {
		return FDE{}, false
	}
	e := &x.entries[i]
	f, err := x.section.Chunks[e.chunk].FDE(e.fde)
	return f, err == nil
}
