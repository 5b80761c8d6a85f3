package dump

import (
	"cmp"
	"slices"

	"symkit/dump/dwarfx"
	"symkit/emit"
)

// attachInlines gives the functions of u their inlined calls. What the scan
// found is not needed any more then.
func (d *dumper) attachInlines(u *unit, files *unitFiles) {
	if len(u.Inlines) == 0 {
		return
	}
	a := inliner{d: d, u: u, files: files, ids: map[dwarfx.Ref]uint32{}}
	ends := make([]dwarfx.Span, len(u.funcs)) // of calls and ranges, behind each function's
	for k, fi := range u.funcs {
		a.first = len(a.ranges)
		a.function(&d.funcs[fi], &d.m.Funcs[fi])
		ends[k] = dwarfx.Span{From: uint32(len(a.calls)), To: uint32(len(a.ranges))}
	}
	calls, ranges := slices.Clip(a.calls), slices.Clip(a.ranges)
	begin := dwarfx.Span{}
	for k, fi := range u.funcs {
		f := &d.m.Funcs[fi]
		f.Inlines, f.Ranges = calls[begin.From:ends[k].From], ranges[begin.To:ends[k].To]
		begin = ends[k]
	}
	u.Inlines, u.Ranges = nil, nil
}

// inliner makes the inlined calls of one unit.
type inliner struct {
	d     *dumper
	u     *unit
	files *unitFiles
	// around holds, by depth, what the calls that are open cover.
	around [][]dwarfx.Range
	ids    map[dwarfx.Ref]uint32 // index of u.origins
	calls  []Inline
	ranges []emit.Range
	first  int // of ranges: the function's
	// taken holds, by depth, what the calls side by side with the open one
	// have, in a function where such calls overlap.
	taken [][]dwarfx.Range
	level []levelRange
}

// function adds the calls that lie in f, one range of a function.
func (a *inliner) function(f *fn, out *Func) {
	calls := len(a.calls)
	a.add(f, out, false)
	if a.overlap(calls) {
		a.calls, a.ranges = a.calls[:calls], a.ranges[:a.first]
		a.taken = a.taken[:0]
		a.u.overlap++
		a.add(f, out, true)
	}
}

// add is function, which it leaves to find out whether calls must be kept from
// overlapping. A call counts only where the call around it does: so does every
// reader of DWARF.
func (a *inliner) add(f *fn, out *Func, overlap bool) {
	whole := [1]dwarfx.Range{{Lo: f.lo, Hi: f.hi}}
	calls := a.u.Funcs[f.index].Inlines
	for i := calls.From; i < calls.To; i++ {
		in := &a.u.Inlines[i]
		outer := whole[:]
		if in.Depth > 0 {
			outer = a.around[in.Depth-1]
		}
		for uint32(len(a.around)) <= in.Depth {
			a.around = append(a.around, nil)
		}
		own := intersect(a.around[in.Depth][:0], outer, a.u.Ranges[in.Ranges.From:in.Ranges.To])
		if overlap {
			own = a.free(in.Depth, own)
		}
		if a.around[in.Depth] = own; len(own) == 0 {
			continue
		}
		from := len(a.ranges) - a.first
		for _, r := range own {
			for piece := range emit.Pieces(r.Lo-a.d.bias, r.Hi-r.Lo) {
				a.ranges = append(a.ranges, piece)
			}
		}
		file, line := a.place(in, out)
		a.calls = append(a.calls, Inline{
			Depth: in.Depth, CallLine: line, CallFile: file, Origin: a.origin(in.Origin),
			Ranges: dwarfx.Span{From: uint32(from), To: uint32(len(a.ranges) - a.first)},
		})
	}
}

// origin numbers the origins of the unit's calls and finds out what names each.
func (a *inliner) origin(ref dwarfx.Ref) uint32 {
	id, ok := a.ids[ref]
	if !ok {
		id = uint32(len(a.u.origins))
		a.ids[ref] = id
		a.u.origins = append(a.u.origins, complete(a.u.Unit, dwarfx.Naming{Decl: ref, Unit: a.u.Unit}, ref))
	}
	return id
}

// place is where a call stands. One that does not tell is put into the
// function's own file, line 0: the format has no call without a file.
func (a *inliner) place(in *dwarfx.Inline, out *Func) (file, line uint32) {
	switch {
	case in.CallFile != dwarfx.NoFile:
		return a.files.id(in.CallFile), in.CallLine
	case len(out.Lines) > 0:
		return out.Lines[0].File, 0
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
