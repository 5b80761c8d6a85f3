package dump

import (
	"cmp"
	"slices"

	"symkit/dump/dwarfx"
)

// inliner makes the inlined calls of units. Its scratch memory is used again.
type inliner struct {
	d     *dumper
	u     *unit
	files *unitFiles
	// around holds, by depth, what the calls that are open cover.
	around [][]dwarfx.Range
	own    []dwarfx.Range // of the call at hand, as the DIE lists them
	left   []uint32       // of each function in u, the ranges that are still to come
	calls  []inline       // of the function at hand; their Ranges are of ranges
	made   []dwarfx.Span  // of each of calls, the ranges of the unit that it was made from
	ranges []dwarfx.Range
	kept   room[inline] // calls of functions with several ranges
	// taken holds, by depth, what the calls side by side with the open one
	// have, in a function where such calls overlap.
	taken [][]dwarfx.Range
	marks []uint64 // see overlap
	last  []uint64
}

// attach gives the functions of u their inlined calls. What the scan found is
// not needed any more then.
func (a *inliner) attach(u *unit) {
	if len(u.calls) == 0 {
		return
	}
	a.u = u
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
	a.add(f, out, false)
	if a.overlap(f) {
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
	for i := range a.calls {
		a.d.names.want(a.calls[i].Origin)
	}
	last := a.left[f.index] == 0
	if out.ranges = a.u.ranges; last && a.fit() {
		for i := range a.calls {
			r := &a.calls[i].Ranges
			own, from := a.ranges[r.From:r.To], a.made[i].From
			out.ranges.put(from, own)
			*r = dwarfx.Span{From: from, To: from + uint32(len(own))}
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

// fit tells whether each call has as many ranges as what it was made from, or fewer.
func (a *inliner) fit() bool {
	for i := range a.calls {
		r, made := a.calls[i].Ranges, a.made[i]
		if r.To-r.From > made.To-made.From {
			return false
		}
	}
	return true
}

// add is function, which it leaves to find out whether calls must be kept from
// overlapping. A call counts only where the call around it does: so does every
// reader of DWARF.
func (a *inliner) add(f *fn, out *Func, overlap bool) {
	a.calls, a.made, a.ranges = a.calls[:0], a.made[:0], a.ranges[:0]
	whole := [1]dwarfx.Range{{Lo: f.lo, Hi: f.hi}}
	calls := a.u.Funcs[f.index].Inlines
	for i := calls.From; i < calls.To; i++ {
		in := &a.u.calls[i]
		outer := whole[:]
		if in.Depth > 0 {
			outer = a.around[in.Depth-1]
		}
		for uint32(len(a.around)) <= in.Depth {
			a.around = append(a.around, nil)
		}
		a.own = a.u.ranges.append(a.own[:0], in.Ranges)
		own := intersect(a.around[in.Depth][:0], outer, a.own)
		if overlap {
			own = a.free(in.Depth, own)
		}
		if a.around[in.Depth] = own; len(own) == 0 {
			continue
		}
		from := len(a.ranges)
		a.ranges = append(a.ranges, own...)
		a.made = append(a.made, in.Ranges)
		file, line := a.place(in, out)
		a.calls = append(a.calls, inline{
			Depth: in.Depth, CallLine: line, CallFile: file, Origin: a.u.origins[in.Origin],
			Ranges: dwarfx.Span{From: uint32(from), To: uint32(len(a.ranges))},
		})
	}
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

// intersect appends to dst what is both in outer, which ascends, and in inner,
// which need not and is left alone. Neighbours become one range.
func intersect(dst, outer, inner []dwarfx.Range) []dwarfx.Range {
	for _, r := range inner {
		for _, o := range outer {
			if lo, hi := max(r.Lo, o.Lo), min(r.Hi, o.Hi); lo < hi {
				dst = append(dst, dwarfx.Range{Lo: lo, Hi: hi})
			}
		}
	}
	if len(dst) <= 1 {
		return dst
	}
	slices.SortFunc(dst, func(a, b dwarfx.Range) int { return cmp.Compare(a.Lo, b.Lo) })
	out := dst[:0]
	for _, r := range dst {
		if last := len(out) - 1; last >= 0 && r.Lo <= out[last].Hi {
			out[last].Hi = max(out[last].Hi, r.Hi)
		} else {
			out = append(out, r)
		}
	}
	return out
}
