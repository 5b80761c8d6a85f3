package dump

import (
	"cmp"
	"math"
	"slices"

	"symkit/dump/dwarfx"
	"symkit/internal/limits"
)

// inliner makes the inlined calls of units. Its scratch memory is used again.
type inliner struct {
	d      *dumper
	u      *unit
	files  *unitFiles
	around []dwarfx.Span  // by depth, which of ranges the calls that are open cover
	own    []dwarfx.Range // of the call at hand, as the DIE lists them
	left   []uint32       // of each function in u, the ranges that are still to come
	calls  []inline       // of the function at hand; their Ranges are of ranges
	made   []uint32       // of each of calls, the first of the unit's ranges that it was made from
	fit    bool           // each call has as many ranges as what it was made from, or fewer
	ranges []dwarfx.Range // the function's own, then those of calls
	kept   room[inline]   // calls of functions with several ranges
	// taken holds, by depth, what the calls side by side with the open one
	// have, in a function where such calls overlap.
	taken [][]dwarfx.Range
	marks []uint64 // see mark
	// more is how many ranges the unit's calls may still have beyond those that their DIEs list:
	// each of many calls could have a part in each of many ranges of the one around them.
	more int
	// looks is how often calls may be looked at for ranges of their functions, but for the last.
	looks int
	err   error // that there was more, or nil
}

// looksPerRange is more than functions need whose basic blocks a linker has put anywhere:
// those have a range for each.
const looksPerRange = 16

// attach gives the functions of u their inlined calls. What the scan found is
// not needed any more then.
func (a *inliner) attach(u *unit) {
	a.err = nil
	if len(u.calls) == 0 {
		return
	}
	a.u, a.more = u, int(min(limits.RangeEntries.Max(u.End-u.Off), math.MaxInt32))
	a.looks = looksPerRange * a.more
	a.left = append(a.left[:0], make([]uint32, len(u.Funcs))...)
	for _, fi := range u.funcs {
		a.left[a.d.funcs[fi].index]++
	}
	for _, fi := range u.funcs {
		a.left[a.d.funcs[fi].index]--
		a.function(&a.d.funcs[fi], &a.d.m.Funcs[fi])
	}
	u.calls, u.origins, u.ranges = nil, nil, nil
}

// function gives out the calls that lie in f, one range of a function.
func (a *inliner) function(f *fn, out *Func) {
	if a.left[f.index] > 0 {
		calls := a.u.Funcs[f.index].Inlines
		if n := int(calls.To - calls.From); !a.afford(&a.looks, n) {
			a.u.lostCalls += n
			return
		}
	}
	if a.add(f, out, false) {
		a.taken = a.taken[:0]
		a.u.overlap++
		a.add(f, out, true)
	}
	a.keep(f, out)
}

// keep gives out the calls of f. They and their ranges stay in the place of what they
// were made from, unless another range of the function will need that.
func (a *inliner) keep(f *fn, out *Func) {
	if len(a.calls) == 0 {
		return
	}
	last := a.left[f.index] == 0
	if !last && !a.afford(&a.more, len(a.ranges)) {
		a.u.lostCalls += len(a.calls)
		return
	}
	for i := range a.calls {
		a.d.names.want(a.calls[i].Origin)
	}
	if out.ranges = a.u.ranges; last && a.fit {
		for i := range a.calls {
			r, from := &a.calls[i].Ranges, a.made[i]
			out.ranges.put(from, a.ranges[r.From:r.To])
			*r = dwarfx.Span{From: from, To: from + r.To - r.From}
		}
	} else {
		out.ranges = newRangeList(a.ranges)
	}
	if !last {
		out.inlines = a.kept.keep(append(a.kept.free, a.calls...))
		return
	}
	from := a.u.Funcs[f.index].Inlines
	calls := a.u.calls[from.From:from.To]
	n := copy(calls, a.calls)
	out.inlines = calls[:n:n]
}

// add is function, which it leaves to keep calls apart that share code at the same depth:
// it tells whether there are any, and then has not read them all. A call counts only where
// the call around it does: so does every reader of DWARF.
func (a *inliner) add(f *fn, out *Func, apart bool) (shared bool) {
	a.calls, a.made, a.fit, a.marks = a.calls[:0], a.made[:0], true, a.marks[:0]
	a.ranges = append(a.ranges[:0], dwarfx.Range{Lo: f.lo, Hi: f.hi})
	marked := !apart && f.hi-f.lo <= maxMarked
	calls := a.u.Funcs[f.index].Inlines
	for i := calls.From; i < calls.To; i++ {
		in := &a.u.calls[i]
		from := uint32(len(a.ranges))
		a.clip(in)
		if apart {
			a.ranges = append(a.ranges[:from], a.free(in.Depth, a.ranges[from:])...)
		}
		own := dwarfx.Span{From: from, To: uint32(len(a.ranges))}
		for uint32(len(a.around)) <= in.Depth {
			a.around = append(a.around, dwarfx.Span{})
		}
		if a.around[in.Depth] = own; own.From == own.To {
			continue
		}
		if marked && a.mark(f, in.Depth, own) {
			return true
		}
		a.made = append(a.made, in.Ranges.From)
		a.calls = append(a.calls, inline{})
		call := &a.calls[len(a.calls)-1] // filled in where it lies, as dwarfx.Inline is
		call.Depth, call.Origin, call.Ranges = in.Depth, a.u.origins[in.Origin], own
		call.CallFile, call.CallLine = a.place(in, out)
		a.fit = a.fit && own.To-own.From <= in.Ranges.To-in.Ranges.From
	}
	return !marked && !apart && a.overlap()
}

// clip appends to ranges those of a call where they lie in what is around it.
func (a *inliner) clip(in *inline) {
	around := dwarfx.Span{To: 1} // the function
	if in.Depth > 0 {
		around = a.around[in.Depth-1]
	}
	switch outer := a.ranges[around.From:around.To]; {
	case len(outer) == 0:
	case len(outer) == 1 && in.Ranges.To-in.Ranges.From == 1: // as most have
		r := a.u.ranges.at(in.Ranges.From)
		if lo, hi := max(r.Lo, outer[0].Lo), min(r.Hi, outer[0].Hi); lo < hi {
			a.ranges = append(a.ranges, dwarfx.Range{Lo: lo, Hi: hi})
		}
	default:
		a.own = a.u.ranges.append(a.own[:0], in.Ranges)
		a.pieces(outer)
	}
}

// pieces appends to ranges what own has in outer, unless that is more than may be.
func (a *inliner) pieces(outer []dwarfx.Range) {
	from, listed := len(a.ranges), len(a.own)
	a.ranges = intersect(a.ranges, outer, joined(a.own), listed+a.more)
	if more := len(a.ranges) - from - listed; more > 0 && !a.afford(&a.more, more) {
		a.ranges = a.ranges[:from]
		a.u.lostCalls++
	}
}

// afford takes n of what is left, if there are so many.
func (a *inliner) afford(left *int, n int) bool {
	if n > *left {
		a.err = a.u.Located(limits.RangeEntries.Exceeded(a.u.End - a.u.Off))
		return false
	}
	*left -= n
	return true
}

// place is where a call stands. One that does not tell is put into the
// function's own file, line 0: the format has no call without a file.
func (a *inliner) place(in *inline, out *Func) (file, line uint32) {
	switch {
	case in.CallFile != dwarfx.NoFile:
		return a.files.id(in.CallFile), in.CallLine
	case len(out.lines) > 0:
		return out.lines[0].File, 0
	}
	return a.d.files.id([]byte(unknownFile)), 0
}

// intersect appends to dst what is both in outer and in inner, which ascend with gaps, as
// what is appended does. Behind more than most ranges it stops.
func intersect(dst, outer, inner []dwarfx.Range, most int) []dwarfx.Range {
	from := len(dst)
	for _, r := range inner {
		const few = 8
		for n := 0; len(outer) > 0 && outer[0].Hi <= r.Lo; n++ {
			if outer = outer[1:]; n == few {
				outer = outer[leading(outer, func(o *dwarfx.Range) bool { return o.Hi <= r.Lo }):]
			}
		}
		for i := 0; i < len(outer) && outer[i].Lo < r.Hi; i++ {
			dst = append(dst, dwarfx.Range{Lo: max(r.Lo, outer[i].Lo), Hi: min(r.Hi, outer[i].Hi)})
			if len(dst)-from > most {
				return dst
			}
		}
	}
	return dst
}

// joined returns ranges, which it changes, in ascending order with gaps between them, as
// compilers write most.
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
		if last := &out[len(out)-1]; r.Lo <= last.Hi {
			last.Hi = max(last.Hi, r.Hi)
		} else {
			out = append(out, r)
		}
	}
	return out
}
