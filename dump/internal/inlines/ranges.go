package inlines

import (
	"cmp"
	"slices"
	"sort"

	"symkit/internal/dwarfx"
)

// intersect appends to dst the intersection of outer and inner, both of which ascend
// with gaps, as the result does. intersect stops after more than most ranges.
func intersect(dst, outer, inner []dwarfx.Range, most int) []dwarfx.Range {
	from := len(dst)
	for _, r := range inner {
		outer = outer[endingBelow(outer, r.Lo):]
		for i := 0; i < len(outer) && outer[i].Lo < r.Hi; i++ {
			dst = append(dst, dwarfx.Range{Lo: max(r.Lo, outer[i].Lo), Hi: min(r.Hi, outer[i].Hi)})
			if len(dst)-from > most {
				return dst
			}
		}
	}
	return dst
}

// endingBelow returns how many of ranges, which ascend, end at or below addr.
func endingBelow(ranges []dwarfx.Range, addr uint64) int {
	// The callers go through both lists in order, so the answer is mostly 0 or 1.
	const few = 8
	for n := range min(few, len(ranges)) {
		if ranges[n].Hi > addr {
			return n
		}
	}
	return sort.Search(len(ranges), func(i int) bool { return ranges[i].Hi > addr })
}

// joined returns ranges, which joined overwrites, in ascending order with gaps between
// them.
func joined(ranges []dwarfx.Range) []dwarfx.Range {
	// Compilers write most ranges in order, and then nothing has to be sorted.
	apart := true
	for i := 1; i < len(ranges) && apart; i++ {
		apart = ranges[i-1].Hi < ranges[i].Lo
	}
	if apart {
		return ranges
	}

	slices.SortFunc(ranges, func(a, b dwarfx.Range) int { return cmp.Compare(a.Lo, b.Lo) })
	out := ranges[:1]
	for _, r := range ranges[1:] {
		last := &out[len(out)-1]
		if r.Lo <= last.Hi {
			last.Hi = max(last.Hi, r.Hi)
		} else {
			out = append(out, r)
		}
	}
	return out
}
