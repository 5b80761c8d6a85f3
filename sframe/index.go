package sframe

import (
	"cmp"
	"slices"
	"sort"
)

// Index finds functions by PC. FDEs are in address order only where a linker
// has sorted them, and never across chunks.
type Index struct {
	// Overlaps counts the FDEs that began inside an earlier one, which ends
	// there for Find; of those with the same start, the one that comes last in
	// the section is found.
	Overlaps int

	section *Section
	entries []entry
}

type entry struct {
	start, end uint64
	chunk, fde int
}

// NewIndex sorts the FDEs of s that describe a PC. The errors are those of
// Section.FDEs: the damaged FDEs, which are not in the index.
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

	slices.SortStableFunc(x.entries, func(a, b entry) int { return cmp.Compare(a.start, b.start) })
	for i := range x.entries[:max(len(x.entries), 1)-1] {
		if e, next := &x.entries[i], x.entries[i+1].start; e.end > next {
			e.end = next
			x.Overlaps++
		}
	}
	return x, errs
}

// Find gives the FDE that describes pc.
func (x *Index) Find(pc uint64) (f FDE, ok bool) {
	i := sort.Search(len(x.entries), func(i int) bool { return x.entries[i].start > pc }) - 1
	if i < 0 || pc >= x.entries[i].end {
		return FDE{}, false
	}
	e := &x.entries[i]
	f, err := x.section.Chunks[e.chunk].FDE(e.fde)
	return f, err == nil
}
