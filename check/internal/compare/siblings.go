package compare

import (
	"slices"

	"symkit/check/internal/pcs"
	"symkit/check/internal/truth/dwarfinfo"
)

// GCC 4.1 lists the calls inlined into an inlined call after it, as its siblings. A call whose ranges
// lie in those of an earlier sibling is a call in it.

// mostSiblings bounds the comparisons of siblings for each call of a function, on average, and
// fewSiblings is added: the calls after these keep their depth. Ranges cost more to compare than the
// spans that they lie in: rangesCost, and 1 for each range.
const mostSiblings, fewSiblings, rangesCost = 1 << 8, 1 << 12, 1 << 5

// deepestSibling is the depth at which calls are no longer moved.
const deepestSibling = 1 << 10

// nestedCall is an inlined call of the function that is being nested.
type nestedCall struct {
	children []nestedSpan // the calls in it
	ranges   pcs.Set      // in order, joined
	end      uint64       // of the children's ranges
	depth    uint32       // of the children
}

// nestedSpan is a call that has code: what its ranges lie in, and its index.
type nestedSpan struct {
	pcs.Range
	index int
}

// nester nests the inlined calls of a function.
type nester struct {
	calls []*nestedCall // the function, then its calls in the order of the DIEs
	left  int           // comparisons that may still be made
}

// depths returns the depth of each inlined call of f. No list is made unless siblings overlap, which
// they hardly ever do.
func (w *worker) depths(s *dwarfinfo.Scan, f *dwarfinfo.Func) func(i uint32) uint32 {
	if !w.siblingsOverlap(s, f) {
		return func(i uint32) uint32 { return s.Inlines[i].Depth }
	}

	n := nester{calls: []*nestedCall{{}}, left: mostSiblings*f.Inlines.Len() + fewSiblings}
	open := []int{0} // by depth as the DIEs have it: the index of the last call
	depths := make([]uint32, 0, f.Inlines.Len())
	for i := f.Inlines.From; i < f.Inlines.To; i++ {
		in, c := &s.Inlines[i], &nestedCall{}
		for _, x := range s.Ranges[in.Ranges.From:in.Ranges.To] {
			c.ranges = append(c.ranges, pcs.Range{Lo: x.Lo, Hi: x.Hi})
		}
		c.ranges = pcs.Union(c.ranges)

		open = open[:min(int(in.Depth)+1, len(open))]
		depths = append(depths, n.add(c, open[len(open)-1]))
		open = append(open, len(n.calls)-1)
	}
	return func(i uint32) uint32 { return depths[i-f.Inlines.From] }
}

// add adds a call to the calls in parent or, if it lies in one of these, to that one's, and so on. It
// returns the depth of the call.
func (n *nester) add(c *nestedCall, parent int) uint32 {
	for around := n.around(c, parent); around > 0; around = n.around(c, parent) {
		parent = around
	}
	p := n.calls[parent]
	if len(c.ranges) > 0 {
		all := c.span()
		p.children = append(p.children, nestedSpan{all, len(n.calls)})
		p.end = max(p.end, all.Hi)
	}
	c.depth = p.depth + 1
	n.calls = append(n.calls, c)
	return p.depth
}

// around returns the first of the calls in parent that c lies in, or 0.
func (n *nester) around(c *nestedCall, parent int) int {
	p := n.calls[parent]
	if len(c.ranges) == 0 || c.ranges[0].Lo >= p.end || p.depth >= deepestSibling {
		return 0
	}
	all := c.span()
	for i := range p.children {
		n.left--
		if n.left < 0 {
			return 0
		}
		k := &p.children[i]
		if all.Lo < k.Lo || all.Hi > k.Hi {
			continue
		}
		n.left -= rangesCost + len(c.ranges)
		if within(n.calls[k.index].ranges, c.ranges) {
			return k.index
		}
	}
	return 0
}

// span returns the smallest range that has all ranges of c, of which there are some.
func (c *nestedCall) span() pcs.Range {
	return pcs.Range{Lo: c.ranges[0].Lo, Hi: c.ranges[len(c.ranges)-1].Hi}
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
