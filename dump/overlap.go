package dump

import (
	"cmp"
	"slices"

	"symkit/dump/dwarfx"
)

// Sound debug information has two calls at one byte only where one lies in the
// other. What is damaged may have calls side by side that share code, and a
// reader could not tell which one a PC is in: there the first has it.

// maxTaken bounds the ranges of calls side by side in a function where such
// calls overlap: cutting one costs as much as there are before it.
const maxTaken = 1 << 11

// levelRange is code of a call at a depth.
type levelRange struct {
	depth uint32
	addr  uint64
	end   uint64
}

// overlap tells whether calls of one depth share code.
func (a *inliner) overlap() bool {
	var all []levelRange
	for i := range a.calls {
		in := &a.calls[i]
		for _, r := range a.ranges[in.Ranges.From:in.Ranges.To] {
			all = append(all, levelRange{in.Depth, r.Lo, r.Hi})
		}
	}
	slices.SortFunc(all, func(x, y levelRange) int {
		return cmp.Or(cmp.Compare(x.depth, y.depth), cmp.Compare(x.addr, y.addr))
	})
	for i := 1; i < len(all); i++ {
		if x, y := &all[i-1], &all[i]; x.depth == y.depth && x.end > y.addr {
			return true
		}
	}
	return false
}

// maxMarked is the size of a function up to which its bytes have marks of their
// own: then nothing needs sorting.
const maxMarked = 1 << 16

// mark is overlap, for the ranges of each call in turn: it marks the bytes of f that the
// calls of each depth have, and tells whether one of them was marked before.
func (a *inliner) mark(f *fn, depth uint32, own dwarfx.Span) bool {
	words := int(f.hi-f.lo+63) / 64 // of the marks of one depth
	from := int(depth) * words
	if need := from + words - len(a.marks); need > 0 {
		a.marks = append(a.marks, make([]uint64, need)...)
	}
	marks := a.marks[from : from+words]
	for _, r := range a.ranges[own.From:own.To] {
		if mark(marks, uint(r.Lo-f.lo), uint(r.Hi-r.Lo)) {
			return true
		}
	}
	return false
}

// mark sets n bits from first on, and tells whether one of them was set.
func mark(marks []uint64, first, n uint) (was bool) {
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

// free cuts from own, which ascends, what earlier calls at this depth have, and
// takes the rest for this call. A call at a lesser depth begins anew.
func (a *inliner) free(depth uint32, own []dwarfx.Range) []dwarfx.Range {
	for uint32(len(a.taken)) <= depth {
		a.taken = append(a.taken, nil)
	}
	for d := range a.taken[depth+1:] {
		a.taken[int(depth)+1+d] = a.taken[int(depth)+1+d][:0]
	}
	taken := a.taken[depth]
	if len(taken)+len(own) > maxTaken {
		own = own[:0]
	}
	for i := 0; i < len(taken) && len(own) > 0; i++ {
		own = cut(own, taken[i])
	}
	a.taken[depth] = append(taken, own...)
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
