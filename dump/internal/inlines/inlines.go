// Package inlines gives FUNC records their inlined calls.
//
// It takes the calls of a unit, as DIEs list them, and gives the calls of each FUNC.
// The ranges of a call lie in the ranges of its function or, for a call inside another
// call, in those of the outer call, as in every reader of DWARF. Calls of one depth
// share no code: a later call inside of the code of an earlier one is taken for a call in it.
package inlines

import (
	"math"

	"symkit/dump/internal/files"
	"symkit/dump/internal/funcs"
	"symkit/dump/internal/load"
	"symkit/internal/dwarfx"
	"symkit/internal/limitof"
	"symkit/internal/mem"
	"symkit/limits"
)

// Calls are the inlined calls of one FUNC, outer before inner. The Ranges of each call in
// List are indexes of Calls.Ranges, which are virtual addresses; its Origin is the number
// of a name, its CallFile the number of a file.
type Calls struct {
	List   []dwarfx.Inline
	Ranges []dwarfx.Range
}

// Placer places the calls of units, one unit after the other, for one goroutine.
// Its scratch memory is used again.
//
// Placed calls overwrite the unit's own calls, since a unit never has fewer of these, and
// their ranges overwrite the unit's ranges as long as there are no more than before.
// Otherwise both would be in memory twice: for ceph-osd, 60 MiB of 480.
type Placer struct {
	// Overlapping counts functions in which calls side by side share code, Lost the
	// calls of the unit that a limit cost.
	Overlapping, Lost int
	// Pay counts the bytes of memory that calls and ranges take which overwrite no others.
	Pay func(bytes uint64) error

	unit   *load.Unit
	listed []dwarfx.Inline // the calls of the unit, as its DIEs list them
	spans  []dwarfx.Range  // their ranges
	files  *files.OfUnit
	limits limits.Limits
	most   uint64   // ranges that fit into the memory of a file of the module's size
	left   []uint32 // by function of the unit: how many of its ranges are still to come

	// The current function.
	calls   []dwarfx.Inline // their Ranges are of ranges
	origins []uint32        // by call: the index in spans of the first range that its DIE lists
	fit     bool            // no call has more ranges than its DIE lists
	ranges  []dwarfx.Range  // the function's own, then those of calls
	open    []dwarfx.Span   // by depth: the ranges of the open call
	own     []dwarfx.Range  // of the current call, as its DIE lists them
	taken   [][]dwarfx.Range

	// While calls are nested, see nest.
	nodes    []nestNode
	path     []int32
	nested   []dwarfx.Inline
	nestLeft int // calls that may still be compared with a sibling

	covered coverage

	// more is the number of ranges that the unit's calls may still get beyond those that
	// their DIEs list: each of many calls could have a part in each of many ranges of the
	// call that encloses it. looks is the number of times that calls may still be read
	// for a range of their function other than the last.
	more, looks int
	err         error // more or looks was not enough

	keptCalls  mem.Arena[dwarfx.Inline]
	keptRanges mem.Arena[dwarfx.Range]
}

// Bytes of memory that a call and a range take.
const (
	callMemory  = 24
	rangeMemory = 16
)

// looksPerRange is enough even for a function whose basic blocks a linker has reordered:
// such a function has a range for each block.
const looksPerRange = 16

// NewPlacer returns a Placer that gives calls the file numbers of f. The module's file has size bytes.
func NewPlacer(f *files.OfUnit, l limits.Limits, size uint64) *Placer {
	return &Placer{
		files: f, limits: l, most: l.Max(limitof.LineRecords, size) / rangeMemory,
		Pay: func(uint64) error { return nil },
	}
}

// Start takes the calls of u, which describes the functions all[i] for i in ofUnit.
// Of must be called for each of them, in this order.
func (p *Placer) Start(u *load.Unit, all []funcs.Func, ofUnit []uint32) {
	p.unit, p.err, p.Lost = u, nil, 0
	p.listed, p.spans = u.Take()
	p.more = int(min(p.limits.Max(limitof.RangeEntries, u.Part.To-u.Part.From), p.most, math.MaxInt32))
	p.looks = looksPerRange * p.more
	p.nestLeft = nestStepsPerCall*len(p.listed) + nestSteps
	if len(p.listed) == 0 {
		return
	}

	// The last range of a function can overwrite the calls that its DIEs list.
	p.left = append(p.left[:0], make([]uint32, len(u.Funcs))...)
	for _, i := range ofUnit {
		p.left[all[i].Index]++
	}
}

// Err returns an error if calls of the unit were left out because of too many ranges.
func (p *Placer) Err() error { return p.err }

// Of returns the calls of f. A call without a file of its own has that of the code around
// it: fileAt returns the file of the line at a virtual address of f, or of f's first line.
func (p *Placer) Of(f *funcs.Func, fileAt func(addr uint64) uint32) Calls {
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

	// Calls side by side that share code are rare, so the first try does without the work of
	// nesting them and of keeping them apart.
	shared := p.clip(f, fileAt, false)
	if shared {
		p.nest(p.listed[span.From:span.To])
		shared = p.clip(f, fileAt, false)
	}
	if shared {
		p.taken = p.taken[:0]
		p.Overlapping++
		p.clip(f, fileAt, true)
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

// keep returns the calls of the current function. If its range is its last one, the
// calls overwrite place, the calls that the DIEs list.
func (p *Placer) keep(place []dwarfx.Inline, last bool) (c Calls) {
	switch {
	case last && p.fit:
		for i := range p.calls {
			r, from := &p.calls[i].Ranges, p.origins[i]
			copy(p.spans[from:], p.ranges[r.From:r.To])
			*r = dwarfx.Span{From: from, To: from + r.To - r.From}
		}
		c.Ranges = p.spans
	case p.Pay(rangeMemory*uint64(len(p.ranges))) != nil:
		return Calls{} // the calls of the whole group are lost
	default:
		c.Ranges = p.keptRanges.Keep(append(p.keptRanges.Free(), p.ranges...))
	}
	if !last {
		if p.Pay(callMemory*uint64(len(p.calls))) != nil {
			return Calls{}
		}
		c.List = p.keptCalls.Keep(append(p.keptCalls.Free(), p.calls...))
		return c
	}

	n := copy(place, p.calls)
	c.List = place[:n:n]
	return c
}

// clip fills in calls and ranges. If apart is set, clip keeps calls of one depth
// apart: the first has the code that they share. Otherwise clip reports whether calls
// of one depth share code, and may stop at the first such call.
func (p *Placer) clip(f *funcs.Func, fileAt func(addr uint64) uint32, apart bool) (shared bool) {
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

		// A call without code is left out, and so are the calls inside of it.
		own := dwarfx.Span{From: from, To: uint32(len(p.ranges))}
		for uint32(len(p.open)) <= in.Depth {
			p.open = append(p.open, dwarfx.Span{})
		}
		p.open[in.Depth] = own
		if own.From == own.To {
			continue
		}
		if small && p.covered.add(in.Depth, p.ranges[own.From:own.To]) {
			return true
		}

		call := dwarfx.Inline{Depth: in.Depth, Origin: in.Origin, Ranges: own, CallLine: in.CallLine}
		if in.CallFile == dwarfx.NoFile { // an INLINE record must have a file; Zig's compiler gives the line alone
			outer := p.ranges[0] // of the function
			if in.Depth > 0 {
				outer = p.ranges[p.open[in.Depth-1].From]
			}
			call.CallFile = fileAt(in.CallSite(outer, p.ranges[own.From]))
		} else {
			call.CallFile = p.files.Number(in.CallFile)
		}
		p.calls, p.origins = append(p.calls, call), append(p.origins, in.Ranges.From)
		p.fit = p.fit && own.To-own.From <= in.Ranges.To-in.Ranges.From
	}
	return !small && !apart && overlap(p.calls, p.ranges)
}

// clipCall appends to ranges the ranges of a call, clipped to the outer call or, for a
// call at depth 0, to the function.
func (p *Placer) clipCall(in *dwarfx.Inline) {
	span := dwarfx.Span{To: 1} // of the function
	if in.Depth > 0 {
		span = p.open[in.Depth-1]
	}

	outer, listed := p.ranges[span.From:span.To], p.spans[in.Ranges.From:in.Ranges.To]
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

// addParts appends to ranges the parts of own that lie in outer, or none if these are
// more than the unit may have.
func (p *Placer) addParts(outer []dwarfx.Range) {
	from, count := len(p.ranges), len(p.own)
	p.ranges = intersect(p.ranges, outer, joined(p.own), count+p.more)
	more := len(p.ranges) - from - count
	if more > 0 && !p.afford(&p.more, more) {
		p.Lost++
		p.ranges = p.ranges[:from]
	}
}

// afford subtracts n from left and returns true, or returns false if n is more.
func (p *Placer) afford(left *int, n int) bool {
	if n > *left {
		p.err = p.unit.Located(p.limits.Exceeded(limitof.RangeEntries, p.unit.Part.To-p.unit.Part.From))
		return false
	}
	*left -= n
	return true
}
