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

// overlap tells whether calls of one depth share code: those of the function
// whose calls begin at first.
func (a *inliner) overlap(first int) bool {
	a.level = a.level[:0]
	sorted := true
	for i := range a.calls[first:] {
		in := &a.calls[first+i]
		for _, r := range a.ranges[a.first+int(in.Ranges.From) : a.first+int(in.Ranges.To)] {
			next := levelRange{in.Depth, r.Addr, r.Addr + uint64(r.Size)}
			if n := len(a.level); sorted && n > 0 {
				sorted = a.level[n-1].depth == next.depth && a.level[n-1].end <= next.addr
			}
			a.level = append(a.level, next)
		}
	}
	if sorted {
		return false
	}
	slices.SortFunc(a.level, func(x, y levelRange) int {
		return cmp.Or(cmp.Compare(x.depth, y.depth), cmp.Compare(x.addr, y.addr))
	})
	for i := 1; i < len(a.level); i++ {
		if x, y := &a.level[i-1], &a.level[i]; x.depth == y.depth && x.end > y.addr {
			return true
		}
	}
	return false
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
