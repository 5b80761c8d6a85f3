package dump

import (
	"cmp"
	"iter"
	"slices"

	"symkit/dump/dwarfx"
	"symkit/emit"
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

// overlap tells whether calls of one depth share code: those of f, whose calls
// begin at first.
func (a *inliner) overlap(f *Func, first int) bool {
	if a.ascending(first) {
		return false
	}
	if small, ok := a.packed(f, first); ok {
		slices.Sort(small)
		for i := 1; i < len(small); i++ {
			x, y := small[i-1], small[i]
			if x>>(2*offsetBits) == y>>(2*offsetBits) && x>>offsetBits&offsetMask+x&offsetMask > y>>offsetBits&offsetMask {
				return true
			}
		}
		return false
	}
	var all []levelRange
	for in, r := range a.rangesFrom(first) {
		all = append(all, levelRange{in.Depth, r.Addr, r.Addr + uint64(r.Size)})
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

// rangesFrom yields the ranges of the function's calls, which begin at first.
func (a *inliner) rangesFrom(first int) iter.Seq2[*Inline, emit.Range] {
	return func(yield func(*Inline, emit.Range) bool) {
		for i := first; i < len(a.calls); i++ {
			in := &a.calls[i]
			for _, r := range a.ranges[a.first+int(in.Ranges.From) : a.first+int(in.Ranges.To)] {
				if !yield(in, r) {
					return
				}
			}
		}
	}
}

// ascending tells whether the ranges of each depth come one behind the other: so
// they do in most functions.
func (a *inliner) ascending(first int) bool {
	a.last = a.last[:0]
	for in, r := range a.rangesFrom(first) {
		for uint32(len(a.last)) <= in.Depth {
			a.last = append(a.last, 0)
		}
		if r.Addr < a.last[in.Depth] {
			return false
		}
		a.last[in.Depth] = r.Addr + uint64(r.Size)
	}
	return true
}

// Packed, a range is its depth, its offset in the function and its size, which
// sort as numbers do.
const (
	offsetBits = 26
	offsetMask = 1<<offsetBits - 1
	packedSize = 1 << (offsetBits - 1) // of a function; no sum of two numbers carries
	depthBits  = 64 - 2*offsetBits
)

// packed are the ranges of f's calls as numbers, if they fit.
func (a *inliner) packed(f *Func, first int) ([]uint64, bool) {
	if f.Size >= packedSize {
		return nil, false
	}
	a.level = a.level[:0]
	for in, r := range a.rangesFrom(first) {
		if in.Depth >= 1<<depthBits {
			return nil, false
		}
		a.level = append(a.level, uint64(in.Depth)<<(2*offsetBits)|(r.Addr-f.Addr)<<offsetBits|uint64(r.Size))
	}
	return a.level, true
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
