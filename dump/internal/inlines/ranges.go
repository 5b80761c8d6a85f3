package inlines

import (
	"cmp"
	"slices"
	"sort"

	"symkit/dump/dwarfx"
)

// intersect appends to dst what is both in outer and in inner, which ascend with
// gaps, as the result does. It stops after most ranges.
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

// endingBelow returns how many of ranges end at or below addr. Where they are few,
// none is looked at twice.
func endingBelow(ranges []dwarfx.Range, addr uint64) int {
	const few = 8
	for n := range min(few, len(ranges)) {
		if ranges[n].Hi > addr {
			return n
		}
	}
	return sort.Search(len(ranges), func(i int) bool { return ranges[i].Hi > addr })
}

// joined returns ranges, which it changes, in ascending order with gaps between
// them, as compilers write most.
func joined(ranges []dwarfx.Range) []dwarfx.Range {
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
