package inlines

import (
	"cmp"
	"slices"

	"symkit/internal/dwarfx"
)

// Sound debug information has two calls at one byte only where one call encloses the
// other. In damaged debug information, calls side by side may share code, and no reader
// could know which call a PC is in: the first of these calls gets the code.

// maxTaken bounds the ranges of calls side by side in a function where such calls
// overlap: the time to cut a range grows with the number of ranges before it.
const maxTaken = 1 << 11

// maxCovered is the size of the largest function whose bytes have marks of their
// own. The marks show an overlap without sorting the ranges.
const maxCovered = 1 << 16

// coverage marks, for each depth, the bytes of a function that calls have.
type coverage struct {
	lo    uint64
	words int      // of the marks of one depth
	marks []uint64 // a bit for each byte, by depth
}

// reset starts with the function [lo, hi). It reports whether the function is small
// enough to have marks.
func (c *coverage) reset(lo, hi uint64) bool {
	c.lo, c.words, c.marks = lo, int(hi-lo+63)/64, c.marks[:0]
	return hi-lo <= maxCovered
}

// add marks ranges of a call, and reports whether one of their bytes was marked
// before at this depth.
func (c *coverage) add(depth uint32, ranges []dwarfx.Range) bool {
	from := int(depth) * c.words
	need := from + c.words - len(c.marks)
	if need > 0 {
		c.marks = append(c.marks, make([]uint64, need)...)
	}

	marks := c.marks[from : from+c.words]
	for _, r := range ranges {
		if setBits(marks, uint(r.Lo-c.lo), uint(r.Hi-r.Lo)) {
			return true
		}
	}
	return false
}

// setBits sets n bits from first on, and reports whether one of them was set.
func setBits(marks []uint64, first, n uint) (was bool) {
	for end := first + n; first < end; {
		bit := first % 64
		here := min(end-first, 64-bit)
		mask := (^uint64(0) >> (64 - here)) << bit
		was = was || marks[first/64]&mask != 0
		marks[first/64] |= mask
		first += here
	}
	return was
}

// depthRange is code of a call at a depth.
type depthRange struct {
	depth  uint32
	lo, hi uint64
}

// overlap reports whether calls of one depth share code.
func overlap(calls []dwarfx.Inline, ranges []dwarfx.Range) bool {
	var all []depthRange
	for i := range calls {
		for _, r := range ranges[calls[i].Ranges.From:calls[i].Ranges.To] {
			all = append(all, depthRange{calls[i].Depth, r.Lo, r.Hi})
		}
	}

	// Two neighbours of the sorted list overlap if any two ranges do.
	slices.SortFunc(all, func(a, b depthRange) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.lo, b.lo))
	})
	for i := 1; i < len(all); i++ {
		if all[i-1].depth == all[i].depth && all[i-1].hi > all[i].lo {
			return true
		}
	}
	return false
}

// free cuts the code of earlier calls at this depth from own, which ascends, and takes
// the rest for the call.
func (p *Placer) free(depth uint32, own []dwarfx.Range) []dwarfx.Range {
	// The calls inside this one are compared with each other alone.
	for uint32(len(p.taken)) <= depth {
		p.taken = append(p.taken, nil)
	}
	deeper := p.taken[depth+1:]
	for d := range deeper {
		deeper[d] = deeper[d][:0]
	}

	taken := p.taken[depth]
	if len(taken)+len(own) > maxTaken {
		own = own[:0]
	}
	for i := 0; i < len(taken) && len(own) > 0; i++ {
		own = cut(own, taken[i])
	}
	p.taken[depth] = append(taken, own...)
	return own
}

// cut removes hole from ranges, which it changes.
func cut(ranges []dwarfx.Range, hole dwarfx.Range) []dwarfx.Range {
	for i := 0; i < len(ranges); i++ {
		r := ranges[i]
		switch {
		case r.Hi <= hole.Lo || hole.Hi <= r.Lo:
		case hole.Lo <= r.Lo && r.Hi <= hole.Hi:
			ranges = slices.Delete(ranges, i, i+1)
			i--
		case hole.Lo <= r.Lo:
			ranges[i].Lo = hole.Hi
		case r.Hi <= hole.Hi:
			ranges[i].Hi = hole.Lo
		default:
			ranges[i].Hi = hole.Lo
			ranges = slices.Insert(ranges, i+1, dwarfx.Range{Lo: hole.Hi, Hi: r.Hi})
		}
	}
	return ranges
}
