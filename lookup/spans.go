package lookup

import (
	"cmp"
	"container/heap"
	"slices"
)

// span is an address range [lo, hi) that a unit covers.
type span struct {
	lo, hi uint64
	unit   int32
}

// flatten sorts spans and cuts overlaps: of several units that cover an address, the first one in the file
// has it, as in llvm-symbolizer.
func flatten(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.unit, b.unit)) })
	overlaps := false
	for i := 1; i < len(spans) && !overlaps; i++ {
		overlaps = spans[i].lo < spans[i-1].hi
	}
	if !overlaps {
		return spans
	}

	// open has the spans that cover the address pos, the first unit on top.
	var open byUnit
	var flat []span
	next, pos := 0, uint64(0)
	for next < len(spans) || len(open) > 0 {
		if len(open) == 0 {
			pos = spans[next].lo
		}
		for next < len(spans) && spans[next].lo <= pos {
			heap.Push(&open, spans[next])
			next++
		}
		top := open[0]
		if top.hi <= pos {
			heap.Pop(&open)
			continue
		}

		// The top holds up to its end, or up to where another span begins.
		end := top.hi
		if next < len(spans) {
			end = min(end, spans[next].lo)
		}
		last := len(flat) - 1
		if last >= 0 && flat[last].unit == top.unit && flat[last].hi == pos {
			flat[last].hi = end
		} else {
			flat = append(flat, span{pos, end, top.unit})
		}
		pos = end
	}
	return flat
}

// byUnit is a heap of spans, the first unit on top.
type byUnit []span

func (h byUnit) Len() int           { return len(h) }
func (h byUnit) Less(i, k int) bool { return h[i].unit < h[k].unit }
func (h byUnit) Swap(i, k int)      { h[i], h[k] = h[k], h[i] }
func (h *byUnit) Push(x any)        { *h = append(*h, x.(span)) }
func (h *byUnit) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
