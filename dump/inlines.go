package dump

import (
	"cmp"
	"slices"

	"symkit/dump/dwarfx"
	"symkit/emit"
)

// attachInlines gives the functions of u their inlined calls.
func (d *dumper) attachInlines(u *unit, files *unitFiles) {
	if len(u.Inlines) == 0 {
		return
	}
	a := inliner{d: d, u: u, files: files}
	for _, fi := range u.funcs {
		a.function(&d.funcs[fi], &d.m.Funcs[fi])
	}
}

// inliner holds the scratch memory of attachInlines.
type inliner struct {
	d     *dumper
	u     *unit
	files *unitFiles
	// around holds, by depth, what the calls that are open cover.
	around [][]dwarfx.Range
}

// function gives out, one range of a function, the calls that lie in it. A call
// counts only where the call around it does: so does every reader of DWARF.
func (a *inliner) function(f *fn, out *Func) {
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
		if a.around[in.Depth] = own; len(own) == 0 {
			continue
		}
		from := uint32(len(out.Ranges))
		for _, r := range own {
			for piece := range emit.Pieces(r.Lo-a.d.bias, r.Hi-r.Lo) {
				out.Ranges = append(out.Ranges, piece)
			}
		}
		file, line := a.place(in, out)
		out.Inlines = append(out.Inlines, Inline{
			Depth: in.Depth, CallLine: line, CallFile: file, Origin: i, // nameOrigins makes it a name
			Ranges: dwarfx.Span{From: from, To: uint32(len(out.Ranges))},
		})
	}
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
