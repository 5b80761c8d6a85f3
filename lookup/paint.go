package lookup

import (
	"cmp"
	"math/bits"
	"slices"

	"symkit/internal/dwarfx"
)

// interval is code [lo, hi) of a scope.
type interval struct {
	lo, hi uint64
	scope  int32
}

// painter has the memory of paint.
type painter struct {
	starts    []uint64
	innermost []int32
	keys      []uint64
	old       []interval
}

// paint divides code at the addresses where the innermost scope changes, and gives the innermost scope from
// each of them on, -1 outside of code. Of intervals that cover an address, the one that begins last is the
// innermost, and of those that begin together the one of the scope that comes last: a call comes after the
// function or the call around it. The result is valid until the next call. paint sorts code.
func (p *painter) paint(code []interval) (starts []uint64, innermost []int32) {
	p.sort(code)
	starts, innermost = slices.Grow(p.starts[:0], 2*len(code)), slices.Grow(p.innermost[:0], 2*len(code))
	change := func(at uint64, scope int32) {
		last := len(starts) - 1
		switch {
		case last >= 0 && starts[last] == at:
			innermost[last] = scope
		case last < 0 || innermost[last] != scope:
			starts, innermost = append(starts, at), append(innermost, scope)
		}
	}

	// open has the intervals around the current address, the innermost last.
	var open []interval
	closeTo := func(addr uint64) {
		for len(open) > 0 && open[len(open)-1].hi <= addr {
			at := open[len(open)-1].hi
			for len(open) > 0 && open[len(open)-1].hi <= at {
				open = open[:len(open)-1]
			}
			outer := int32(-1)
			if len(open) > 0 {
				outer = open[len(open)-1].scope
			}
			change(at, outer)
		}
	}
	for _, c := range code {
		closeTo(c.lo)
		open = append(open, c)
		change(c.lo, c.scope)
	}
	closeTo(^uint64(0))
	p.starts, p.innermost = starts, innermost
	return starts, innermost
}

// divider makes the spots of units.
type divider struct {
	code    []interval // of the scopes of the unit
	painter painter
	starts  []uint64 // of spots
	spots   []spot
}

// divide returns the spots of a unit, and where they begin: of the rows of its line table, and of its scopes with their
// code.
func (d *divider) divide(rows []dwarfx.LineRow, places []dwarfx.Place) ([]uint64, []spot) {
	from, inner := d.painter.paint(d.code)
	d.starts, d.spots = d.starts[:0], d.spots[:0]
	last := nowhere
	for i, k := 0, 0; i < len(rows) || k < len(from); {
		here, addr := last, ^uint64(0)
		if i < len(rows) {
			addr = rows[i].Addr
		}
		if k < len(from) {
			addr = min(addr, from[k])
		}
		for ; i < len(rows) && rows[i].Addr == addr; i++ {
			here.file, here.line, here.place = rows[i].File, rows[i].Line, places[i]
		}
		if k < len(from) && from[k] == addr {
			here.scope = inner[k]
			k++
		}
		if here != last {
			d.starts, d.spots, last = append(d.starts, addr), append(d.spots, here), here
		}
	}
	return slices.Clone(d.starts), slices.Clone(d.spots)
}

// sort sorts code by address and scope. In general the scopes ascend already, and the code of a unit lies together:
// then a number has the address and the place of an interval, and sorting numbers takes a third of the time.
func (p *painter) sort(code []interval) {
	base, top, inOrder := ^uint64(0), uint64(0), true
	for i := range code {
		base, top = min(base, code[i].lo), max(top, code[i].lo)
		inOrder = inOrder && (i == 0 || code[i-1].scope <= code[i].scope)
	}
	digits := bits.Len(uint(len(code)))
	if !inOrder || len(code) > 0 && bits.Len64(top-base)+digits > 64 {
		slices.SortFunc(code, func(a, b interval) int { return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.scope, b.scope)) })
		return
	}
	p.keys = p.keys[:0]
	for i := range code {
		p.keys = append(p.keys, (code[i].lo-base)<<digits|uint64(i))
	}
	slices.Sort(p.keys)
	p.old = append(p.old[:0], code...)
	for i, key := range p.keys {
		code[i] = p.old[key&(1<<digits-1)]
	}
}
