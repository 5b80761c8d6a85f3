package dwarfx

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"symkit/internal/limitof"
	"symkit/located"
)

// The scan walks a unit's tree of DIEs once and collects its functions and inlined
// calls. Most DIEs are skipped by their skipOps (pass.go); step reads the others, and
// everything unusual, attribute by attribute. The walk has no recursion: frame is the
// state for the children of a DIE, and DIEs whose children have the same state share
// one frame and only count its levels. The invariant: pos is the start of a DIE, and
// levels (with those in stack) is the number of DIEs whose children are open there.

// ScanUnit reads the functions of u into s, and with inlines their inlined calls. Damage
// ends the unit: s holds the records before the damage, and the located error is returned.
func (d *Data) ScanUnit(u *Unit, inlines bool, s *Scan) error {
	s.Funcs, s.Inlines, s.Origins, s.Ranges, s.runs = s.Funcs[:0], s.Inlines[:0], nil, s.Ranges[:0], s.runs[:0]
	s.Places = s.Places[:0]
	s.Typeless = false
	if u.IsType() {
		return nil
	}

	table, err := d.abbrevs(u)
	if err != nil {
		return err
	}
	s.Typeless = !table.typed

	// The root is at u.first; data and pos count from the header.
	part := cmp.Or(s.Part, u.Whole())
	s.skips.reset(table)
	s.refs.reset()
	x := scanner{d: d, u: u, t: table, h: &s.skips, s: s, c: d.unitCursor(u, u.Off), inlines: inlines}
	x.data = x.c.Rest()
	x.data = x.data[:min(part.To-u.Off, uint64(len(x.data)))]
	x.entries, x.deepest = d.maxEntries(part), d.Limits.Int(limitof.DIEDepth)
	if s.Most > 0 {
		x.entries = min(x.entries, s.Most)
	}

	x.run(part)
	x.pay(0)
	x.finish()
	if x.c.Err() != nil {
		return x.c.Err()
	}
	return x.err
}

// maxEntries bounds the range list entries that the DIEs of a part may have in all:
// a hostile one points all its DIEs at one long list. Real units stay below
// one entry for every ten bytes. The memory of the entries is bounded, too: they are paid for
// when their list was read.
func (d *Data) maxEntries(part Part) int {
	most := d.Limits.Max(limitof.UnitRecords, d.FileSize) / rangeMemory
	return int(min(d.Limits.Max(limitof.RangeEntries, part.To-part.From), most, math.MaxInt32))
}

// run walks the tree of DIEs of a part. The first part begins with the root, the last one ends
// with the root's children.
func (x *scanner) run(part Part) {
	x.fn = -1
	if part.From == x.u.Off {
		x.pos = int(x.u.first - x.u.Off)
		x.step()
	} else {
		x.pos, x.levels = int(part.From-x.u.Off), 1
	}
	for x.c.Err() == nil {

		// After the children with this state, the enclosing DIE's state holds again.
		if x.levels == 0 {
			n := len(x.stack) - 1
			if n < 0 {
				return
			}
			x.frame, x.stack = x.stack[n], x.stack[:n]
			x.open -= x.levels
			continue
		}

		// Inlined calls count only inside of a function that has code.
		m := modeOutside
		if x.inlines && x.fn >= 0 {
			m = modeInside
		}
		if x.pass(m, x.deepest-x.open) {
			continue
		}
		if part.To < x.u.End && x.pos >= len(x.data) {
			x.endPart()
			return
		}
		x.step()
	}
}

// endPart is called at the end of a part that others follow, where a child of the root begins.
func (x *scanner) endPart() {
	if x.pos > len(x.data) || x.open+x.levels != 1 {
		x.c.Fail(int(x.u.Off)+len(x.data), fmt.Errorf("%w: a sibling", ErrReference))
	}
}

// pay counts the memory of records and of the ranges that are new. The scan ends if that is too
// much.
func (x *scanner) pay(bytes int) {
	x.owed += uint64(bytes + rangeMemory*(len(x.s.Ranges)-x.paid))
	x.paid = len(x.s.Ranges)
	if bytes > 0 && x.owed < payEach {
		return
	}

	// Small amounts are paid together, since all goroutines share one sum.
	if x.s.Pay != nil {
		if err := x.s.Pay(x.owed); err != nil && x.c.Err() == nil {
			x.c.Fail(int(x.u.Off), err)
		}
	}
	x.owed = 0
}

// step reads one DIE attribute by attribute.
func (x *scanner) step() {
	x.c.Seek(x.u.Off + uint64(x.pos))
	at := x.c.Pos()
	if code := x.c.ULEB(); code == 0 {
		x.levels = max(x.levels-1, 0)
	} else if a := x.lookup(code, at); a != nil {
		x.visit(a, at)
	}
	x.pos = x.c.Pos() - int(x.u.Off)
}

// enter opens the children of the DIE at offset at, whose state is fn and depth.
func (x *scanner) enter(fn int32, depth uint32, at int) {
	if x.open+x.levels >= x.deepest {
		x.c.Fail(at, x.d.Limits.Exceeded(limitof.DIEDepth, 0))
	}
	// A new frame is needed only if the state differs.
	if fn != x.fn || depth != x.depth {
		x.stack = append(x.stack, x.frame)
		x.open += x.levels
		x.frame = frame{fn: fn, depth: depth}
	}
	x.levels++
}

// lookup returns the abbreviation of the DIE at offset at; nil after a failure.
func (x *scanner) lookup(code uint64, at int) *abbrev {
	a := x.t.lookup(code)
	if a == nil {
		x.c.Fail(at, fmt.Errorf("%w: %d", ErrAbbrev, code))
	}
	return a
}

// visit reads one DIE and opens its children, or skips them.
func (x *scanner) visit(a *abbrev, at int) {
	fn, depth := x.fn, x.depth
	switch a.class {
	case classScope:
		x.attrs(a, false)
	case classFunc:
		clear(x.vals[:])
		x.attrs(a, false)
		switch {
		case x.function(at):
			fn, depth = int32(len(x.s.Funcs)-1), 0
		case x.vals[slotDeclaration].form != 0 && x.sibling != 0:
			x.c.Seek(x.sibling) // the children are parameters
			return
		default:
			fn, depth = -1, 0
		}
	case classInline:
		if x.inlines && x.fn >= 0 {
			clear(x.vals[:])
			x.attrs(a, false)
			if x.inline() {
				depth++
			}
			break
		}
		fallthrough
	default:
		x.skip(a)
		return
	}

	if a.children {
		x.enter(fn, depth, at)
	}
}

// skip skips a DIE and everything below it.
func (x *scanner) skip(a *abbrev) {
	if x.attrs(a, true) || !a.children {
		return
	}

	// Without a sibling, each DIE below is skipped by itself.
	for depth := 1; depth > 0 && x.c.Err() == nil; {
		at := x.c.Pos()
		code := x.c.ULEB()
		if code == 0 {
			depth--
		} else if a := x.lookup(code, at); a != nil && !x.attrs(a, true) && a.children {
			depth++
		}
	}
}

// attrs runs the program of a over a DIE's attributes. With jump it seeks the DIE's
// sibling as soon as the sibling is known, and reports whether it did.
func (x *scanner) attrs(a *abbrev, jump bool) (jumped bool) {
	c := &x.c
	x.sibling = 0
	for _, o := range x.t.ops[a.ops:][:a.nops] {
		switch o.kind {
		case opSkip:
			c.Skip(uint64(o.n))
		case opSkipForm:
			skipForm(x.u, c, o.n)
		case opValue4:
			x.vals[o.slot] = value{uint64(c.U32()), o.n}
		case opValue8:
			x.vals[o.slot] = value{c.U64(), o.n}
		case opValue:
			x.vals[o.slot] = readValue(x.u, c, o.n)
		case opConst:
			x.vals[o.slot] = value{uint64(x.t.consts[a.consts+uint32(o.n)]), formImplicitConst}
		case opSibling4:
			if x.next(uint64(c.U32()), jump) {
				return true
			}
		case opSibling:
			if x.next(readValue(x.u, c, o.n).v, jump) {
				return true
			}
		}
	}
	return false
}

// next records the sibling at offset off of the unit; with jump it seeks the sibling.
// A sibling that does not lie ahead is ignored: the children are then walked.
func (x *scanner) next(off uint64, jump bool) (jumped bool) {
	at := x.u.Off + off
	if at < uint64(x.c.Pos()) || at >= x.u.End {
		return false
	}
	x.sibling = at
	if jump {
		x.c.Seek(at)
	}
	return jump
}

// function adds the function just read, at offset at. It returns false if the
// function has no code.
func (x *scanner) function(at int) bool {
	ranges := x.ranges()
	if ranges.From == ranges.To {
		return false
	}
	x.pay(funcMemory + funcRangeMemory*int(ranges.To-ranges.From))
	x.s.Funcs = append(x.s.Funcs, Func{
		DIE:     Ref(at),
		Origin:  x.origin(),
		Name:    x.d.str(x.u, x.vals[slotName]),
		Linkage: x.d.str(x.u, x.vals[slotLinkage]),
		Ranges:  ranges,
		Top:     x.open+x.levels == 1,
	})
	return true
}

// origin returns the DIE that names the one just read.
func (x *scanner) origin() Ref {
	if v := x.vals[slotOrigin]; v.form != 0 {
		return x.u.ref(v)
	}
	return x.u.ref(x.vals[slotSpecification])
}

// ranges adds the ranges of the DIE just read that hold code (DWARF 5 §2.17).
func (x *scanner) ranges() Span {
	from := uint32(len(x.s.Ranges))
	if v := x.vals[slotRanges]; v.form != 0 {
		return x.rangeList(v)
	} else if v := x.vals[slotLowPC]; v.form != 0 {
		x.pair(v, x.vals[slotHighPC])
	}
	return Span{from, uint32(len(x.s.Ranges))}
}

// rangeList adds the ranges of a DW_AT_ranges. A DIE with the same list as the last
// one shares its ranges, but the list counts as read once more.
func (x *scanner) rangeList(v value) Span {
	if v == x.last.value && x.last.cost < x.entries {
		x.entries -= x.last.cost
		return x.last.Span
	}

	// The list is another one, or costs more entries than are left.
	from, left := uint32(len(x.s.Ranges)), x.entries
	var err error
	x.s.Ranges, err = x.d.appendRanges(x.s.Ranges, x.u, v, &x.entries)
	x.note(err)

	span := Span{from, uint32(len(x.s.Ranges))}
	if err == nil {
		x.last = rangeList{v, span, left - x.entries}
	}
	return span
}

// pair adds the range that DW_AT_low_pc and DW_AT_high_pc give; the second is
// an address or, since DWARF 4, a length.
func (x *scanner) pair(low, high value) {
	if high.form == 0 {
		return
	}
	lo, ok := x.d.address(x.u, low)
	hi, isAddress := x.d.address(x.u, high)
	if !isAddress && high.isConstant() {
		hi, isAddress = lo+high.v, true
	}
	if !ok || !isAddress {
		x.note(&located.Error{Section: x.d.name, Offset: x.c.Pos(), Err: ErrPC})
		return
	}
	x.s.Ranges = x.d.appendRange(x.s.Ranges, lo, hi)
}

// note keeps the first error that does not end the unit.
func (x *scanner) note(err error) {
	if x.err == nil {
		x.err = err
	}
}

// finish gives every function its inlined calls.
func (x *scanner) finish() {
	s := x.s
	s.Origins = s.refs.list

	// A run ends where the next one begins.
	to := uint32(len(s.Inlines))
	for i := len(s.runs) - 1; i >= 0; i-- {
		s.runs[i].calls.To = to
		to = s.runs[i].calls.From
	}

	// The calls of an inner function may have come between those of an outer one.
	byFunc := func(a, b callRun) int { return cmp.Compare(a.fn, b.fn) }
	if !slices.IsSortedFunc(s.runs, byFunc) {
		slices.SortStableFunc(s.runs, byFunc)
		calls, places := slices.Clone(s.Inlines), slices.Clone(s.Places)
		n := 0
		for _, run := range s.runs {
			if s.Full {
				copy(s.Places[n:], places[run.calls.From:run.calls.To])
			}
			n += copy(s.Inlines[n:], calls[run.calls.From:run.calls.To])
		}
	}

	// Runs and functions have one order now.
	runs, to := s.runs, uint32(0)
	for f := range s.Funcs {
		from := to
		for len(runs) > 0 && runs[0].fn == uint32(f) {
			to += runs[0].calls.To - runs[0].calls.From
			runs = runs[1:]
		}
		s.Funcs[f].Inlines = Span{from, to}
	}
}
