// Package inlines gives FUNC records their inlined calls. A call counts only where
// its function does and, inside another call, only where that call does: so does
// every reader of DWARF.
package inlines

import (
	"math"

	"symkit/dump/dwarfx"
	"symkit/dump/internal/files"
	"symkit/dump/internal/funcs"
	"symkit/dump/internal/load"
	"symkit/internal/limits"
	"symkit/internal/mem"
)

// Calls are the inlined calls of one FUNC, outer before inner. Their Ranges are of
// Ranges, virtual addresses; Origin is the number of a name, CallFile of a file.
type Calls struct {
	List   []dwarfx.Inline
	Ranges []dwarfx.Range
}

// Placer places the calls of units, one unit after the other, for one goroutine.
// Its scratch memory is used again.
//
// The calls that are placed lie where the unit's own calls did, since there are
// never more of them, and so do their ranges if they are not more. Without that,
// both would be in memory twice: for ceph-osd, 60 MiB of 480.
type Placer struct {
	// Overlapping counts functions in which calls side by side share code, Lost the
	// calls of the unit that a limit cost.
	Overlapping, Lost int

	unit   *load.Unit
	listed []dwarfx.Inline // the calls of the unit, as its DIEs list them
	spans  []dwarfx.Range  // their ranges
	files  *files.OfUnit
	left   []uint32 // by function of the unit: its ranges that are still to come

	// The function at hand.
	calls   []dwarfx.Inline // their Ranges are of ranges
	origins []uint32        // of each of calls, the first of spans that it was made of
	fit     bool            // no call has more ranges than it was made of
	ranges  []dwarfx.Range  // the function's own, then those of calls
	around  []dwarfx.Span   // by depth: the ranges of the open call
	own     []dwarfx.Range  // of the call at hand, as its DIE lists them
	taken   [][]dwarfx.Range
	covered coverage

	// more is how many ranges the unit's calls may have beyond those that their DIEs
	// list: each of many calls could have a part in each of many ranges of the call
	// around it. looks is how often calls may be looked at for a range of their
	// function that is not the last one.
	more, looks int
	err         error // that more or looks was not enough

	keptCalls  mem.Arena[dwarfx.Inline]
	keptRanges mem.Arena[dwarfx.Range]
}

// looksPerRange is more than functions need whose basic blocks a linker has put
// anywhere: such a function has a range for each block.
const looksPerRange = 16

// NewPlacer returns a Placer that gives calls the file numbers of f.
func NewPlacer(f *files.OfUnit) *Placer { return &Placer{files: f} }

// Start takes the calls of u, which describes the functions all[i] for i in ofUnit.
// Of must be called for each of them, in this order.
func (p *Placer) Start(u *load.Unit, all []funcs.Func, ofUnit []uint32) {
	p.unit, p.err, p.Lost = u, nil, 0
	p.listed, p.spans = u.Take()
	p.more = int(min(limits.RangeEntries.Max(u.End-u.Off), math.MaxInt32))
	p.looks = looksPerRange * p.more
	if len(p.listed) == 0 {
		return
	}
	p.left = append(p.left[:0], make([]uint32, len(u.Funcs))...)
	for _, i := range ofUnit {
		p.left[all[i].Index]++
	}
}

// Err returns an error if calls of the unit were left out since there are too many
// ranges.
func (p *Placer) Err() error { return p.err }

// Of returns the calls of f. A call without a place of its own is in file
// defaultFile, which returns the file of the function's first line.
func (p *Placer) Of(f *funcs.Func, defaultFile func() uint32) Calls {
	if len(p.listed) == 0 {
		return Calls{}
	}
	p.left[f.Index]--
	last := p.left[f.Index] == 0
	span := p.unit.Funcs[f.Index].Inlines
	count := int(span.To - span.From)
	if !last && !p.afford(&p.looks, count) {
		p.Lost += count
		return Calls{}
	}

	if p.clip(f, defaultFile, false) {
		p.taken = p.taken[:0]
		p.Overlapping++
		p.clip(f, defaultFile, true)
	}
	if len(p.calls) == 0 {
		return Calls{}
	}
	if !last && !p.afford(&p.more, len(p.ranges)) {
		p.Lost += len(p.calls)
		return Calls{}
	}
	return p.keep(p.listed[span.From:span.To], last)
}

// keep returns the calls of the function. If this is its last range, they lie in
// place, where those were that they are made of.
func (p *Placer) keep(place []dwarfx.Inline, last bool) (c Calls) {
	if last && p.fit {
		for i := range p.calls {
			r, from := &p.calls[i].Ranges, p.origins[i]
			copy(p.spans[from:], p.ranges[r.From:r.To])
			*r = dwarfx.Span{From: from, To: from + r.To - r.From}
		}
		c.Ranges = p.spans
	} else {
		c.Ranges = p.keptRanges.Keep(append(p.keptRanges.Free(), p.ranges...))
	}
	if !last {
		c.List = p.keptCalls.Keep(append(p.keptCalls.Free(), p.calls...))
		return c
	}
	n := copy(place, p.calls)
	c.List = place[:n:n]
	return c
}

// clip fills in calls and ranges. If apart is set, it keeps calls of one depth
// apart: the first has the code that they share. Else it reports whether there are
// such calls, and may not have read all then.
func (p *Placer) clip(f *funcs.Func, defaultFile func() uint32, apart bool) (shared bool) {
	p.calls, p.origins, p.fit = p.calls[:0], p.origins[:0], true
	p.ranges = append(p.ranges[:0], dwarfx.Range{Lo: f.Lo, Hi: f.Hi})
	small := !apart && p.covered.reset(f.Lo, f.Hi)

	span := p.unit.Funcs[f.Index].Inlines
	for i := span.From; i < span.To; i++ {
		in := &p.listed[i]
		from := uint32(len(p.ranges))
		p.clipCall(in)
		if apart {
			p.ranges = append(p.ranges[:from], p.free(in.Depth, p.ranges[from:])...)
		}

		own := dwarfx.Span{From: from, To: uint32(len(p.ranges))}
		for uint32(len(p.around)) <= in.Depth {
			p.around = append(p.around, dwarfx.Span{})
		}
		p.around[in.Depth] = own
		if own.From == own.To {
			continue
		}
		if small && p.covered.add(in.Depth, p.ranges[own.From:own.To]) {
			return true
		}

		call := dwarfx.Inline{Depth: in.Depth, Origin: in.Origin, Ranges: own, CallLine: in.CallLine}
		switch in.CallFile {
		case dwarfx.NoFile: // the format has no call without a file
			call.CallFile, call.CallLine = defaultFile(), 0
		default:
			call.CallFile = p.files.Number(in.CallFile)
		}
		p.calls, p.origins = append(p.calls, call), append(p.origins, in.Ranges.From)
		p.fit = p.fit && own.To-own.From <= in.Ranges.To-in.Ranges.From
	}
	return !small && !apart && overlap(p.calls, p.ranges)
}

// clipCall appends to ranges those of a call, where they lie in what is around it.
func (p *Placer) clipCall(in *dwarfx.Inline) {
	around := dwarfx.Span{To: 1} // the function
	if in.Depth > 0 {
		around = p.around[in.Depth-1]
	}
	outer, listed := p.ranges[around.From:around.To], p.spans[in.Ranges.From:in.Ranges.To]
	switch {
	case len(outer) == 0:
	case len(outer) == 1 && len(listed) == 1: // as most have
		lo, hi := max(listed[0].Lo, outer[0].Lo), min(listed[0].Hi, outer[0].Hi)
		if lo < hi {
			p.ranges = append(p.ranges, dwarfx.Range{Lo: lo, Hi: hi})
		}
	default:
		p.own = append(p.own[:0], listed...)
		p.addParts(outer)
	}
}

// addParts appends to ranges the parts of own that lie in outer, unless these
// are more than the unit may have.
func (p *Placer) addParts(outer []dwarfx.Range) {
	from, count := len(p.ranges), len(p.own)
	p.ranges = intersect(p.ranges, outer, joined(p.own), count+p.more)
	more := len(p.ranges) - from - count
	if more > 0 && !p.afford(&p.more, more) {
		p.Lost++
		p.ranges = p.ranges[:from]
	}
}

// afford takes n of what is left, if there are so many.
func (p *Placer) afford(left *int, n int) bool {
	if n > *left {
		p.err = p.unit.Located(limits.RangeEntries.Exceeded(p.unit.End - p.unit.Off))
		return false
	}
	*left -= n
	return true
}
