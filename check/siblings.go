package check

import (
	"slices"

	"symkit/check/internal/pcs"
	"symkit/check/internal/truth/dwarfinfo"
)

// GCC 4.1 lists the calls inlined into an inlined call after it, as its siblings. A call whose ranges
// lie in those of an earlier sibling is a call in it.

// mostSiblings bounds the comparisons of siblings for each call of a function, on average, and
// fewSiblings is added: the calls after these keep their depth.
const mostSiblings, fewSiblings = 1 << 8, 1 << 12

// deepestSibling is the depth at which calls are no longer moved.
const deepestSibling = 1 << 10

// nestedCall is an inlined call of the function that is being nested.
type nestedCall struct {
	parent   int     // index of the call around it, -1 for none
	children []int   // calls with this parent
	ranges   pcs.Set // in order, joined
	end      uint64  // of the children's ranges
	depth    uint32
}

// depths returns the depth of each inlined call of f. No list is made unless siblings overlap, which
// they hardly ever do.
func (w *worker) depths(s *dwarfinfo.Scan, f *dwarfinfo.Func) func(i uint32) uint32 {
	listed := func(i uint32) uint32 { return s.Inlines[i].Depth }
	if !w.siblingsOverlap(s, f) {
		return listed
	}

	calls := make([]nestedCall, 0, f.Inlines.Len())
	top := nestedCall{}
	at := func(i int) *nestedCall {
		if i < 0 {
			return &top
		}
		return &calls[i]
	}
	left := mostSiblings*f.Inlines.Len() + fewSiblings
	var open []int // by depth as listed: the last call
	for i := f.Inlines.From; i < f.Inlines.To; i++ {
		in := &s.Inlines[i]
		c := nestedCall{parent: -1}
		for _, x := range s.Ranges[in.Ranges.From:in.Ranges.To] {
			c.ranges = append(c.ranges, pcs.Range{Lo: x.Lo, Hi: x.Hi})
		}
		c.ranges = pcs.Union(c.ranges)
		open = open[:min(int(in.Depth), len(open))]
		if len(open) > 0 {
			c.parent = open[len(open)-1]
		}

		// The first sibling around the call is its parent, unless the call lies in a child of it.
		for moved := true; moved; {
			p := at(c.parent)
			moved = false
			if len(c.ranges) == 0 || c.ranges[0].Lo >= p.end || p.depth >= deepestSibling {
				break
			}
			for _, k := range p.children {
				if left--; left < 0 {
					break
				}
				if within(calls[k].ranges, c.ranges) {
					c.parent, moved = k, true
					break
				}
			}
		}

		p := at(c.parent)
		p.children = append(p.children, len(calls))
		if n := len(c.ranges); n > 0 {
			p.end = max(p.end, c.ranges[n-1].Hi)
		}
		c.depth = p.depth + 1
		open = append(open, len(calls))
		calls = append(calls, c)
	}
	return func(i uint32) uint32 { return calls[i-f.Inlines.From].depth - 1 }
}

// siblingsOverlap reports whether calls of one depth share code, or may: where the ranges of a depth
// do not ascend, they are sorted.
func (w *worker) siblingsOverlap(s *dwarfinfo.Scan, f *dwarfinfo.Func) bool {
	w.keys.Reset()
	ends := w.ends[:0]
	for i := f.Inlines.From; i < f.Inlines.To; i++ {
		in := &s.Inlines[i]
		for _, x := range s.Ranges[in.Ranges.From:in.Ranges.To] {
			w.keys.Add(in.Depth, x.Lo)
			ends = append(ends, x.Hi)
		}
	}
	w.ends = ends
	keys, _ := w.keys.Sorted()
	for i := 1; i < len(keys); i++ {
		if keys[i].Level == keys[i-1].Level && keys[i].Lo < ends[keys[i-1].Index] {
			return true
		}
	}
	return false
}

// within reports whether all of inner lies in outer.
func within(outer, inner pcs.Set) bool {
	return !slices.ContainsFunc(inner, func(x pcs.Range) bool { return outer.FirstOutside(x.Lo, x.Hi) < x.Hi })
}
