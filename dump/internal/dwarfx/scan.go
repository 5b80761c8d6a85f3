package dwarfx

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"symkit/internal/wire"
	"symkit/limits"
	"symkit/located"
)

// The scan walks a unit's tree of DIEs once and collects its functions and inlined
// calls. Most DIEs are skipped by their skipOps (pass.go); step reads the others, and
// everything unusual, attribute by attribute. The walk has no recursion: frame is the
// state for the children of a DIE, and DIEs whose children have the same state share
// one frame and only count its levels. The invariant: pos is the start of a DIE, and
// levels (with those in stack) is the number of DIEs whose children are open there.

// Span is a run of elements of a slice: [From, To).
type Span struct{ From, To uint32 }

// Func is a function that has code.
type Func struct {
	DIE    Ref // of the function
	Origin Ref // of its abstract instance or declaration, 0 without one
	// Name and Linkage are the DIE's own; mostly the origin holds them.
	Name, Linkage Str
	Ranges        Span // of Scan.Ranges, none empty, as the DIE lists them
	Inlines       Span // of Scan.Inlines
	Top           bool // it is a child of the unit's root
}

// Inline is an inlined call that has code.
type Inline struct {
	Origin uint32 // of Scan.Origins
	// Depth is 0 for a call inlined into the function itself.
	Depth uint32
	// CallFile is a file number of the unit's line table, or NoFile.
	CallFile, CallLine uint32
	Ranges             Span // of Scan.Ranges
}

// NoFile is the CallFile of a call without a place.
const NoFile = ^uint32(0)

// Scan is the result of a unit. Its slices are reused by the next Scan into it.
type Scan struct {
	Funcs   []Func
	Inlines []Inline // by function; within one, in the order of the DIEs: outer before inner
	Origins []Ref    // the DIEs of the called functions' abstract instances, each once
	Ranges  []Range
	// Typeless reports that no DIE of the unit has a type: the compiler described lines and calls alone (-g1).
	Typeless bool

	// Pay is called as the scan goes on, with the bytes of memory that the records take that were
	// found since the last call, with all that is made of them later. If it returns an error,
	// the scan ends with that error. Pay may be nil.
	Pay func(bytes uint64) error

	skips skipTable
	refs  refSet    // Origins
	runs  []callRun // Inlines, in the order of the DIEs
}

// callRun is a run of consecutive inlined calls of one function.
type callRun struct {
	fn    uint32 // of Scan.Funcs
	calls Span
}

// grown returns s with capacity for another element. It doubles the capacity: append
// adds a quarter to a large slice, and moves the elements each time.
func grown[T any](s []T) []T {
	if len(s) < cap(s) {
		return s
	}
	larger := make([]T, len(s), max(2*len(s), 64))
	copy(larger, s)
	return larger
}

// ScanUnit reads the functions of u into s, and with inlines their inlined calls. Damage
// ends the unit: s holds the records before the damage, and the located error is returned.
func (d *Data) ScanUnit(u *Unit, inlines bool, s *Scan) error {
	s.Funcs, s.Inlines, s.Origins, s.Ranges, s.runs = s.Funcs[:0], s.Inlines[:0], nil, s.Ranges[:0], s.runs[:0]
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
	s.skips.reset(table)
	s.refs.reset()
	x := scanner{d: d, u: u, t: table, h: &s.skips, s: s, c: d.unitCursor(u, u.Off), inlines: inlines}
	x.data = x.c.Rest()
	x.pos = int(u.first - u.Off)
	x.entries, x.deepest = d.maxEntries(u), d.Limits.Int(limits.DIEDepth)

	x.run()
	x.pay(0)
	x.finish()
	if x.c.Err() != nil {
		return x.c.Err()
	}
	return x.err
}

// maxEntries bounds the range list entries that a unit's DIEs may have in all:
// a hostile one points all its DIEs at one long list. Real units stay below
// one entry for every ten bytes. The memory of the entries is bounded, too: they are paid for
// when their list was read.
func (d *Data) maxEntries(u *Unit) int {
	most := d.Limits.Max(limits.UnitRecords, d.FileSize) / rangeMemory
	return int(min(d.Limits.Max(limits.RangeEntries, uint64(u.End-u.Off)), most, math.MaxInt32))
}

// Bytes of memory that a record of a scan takes, with all that is made of it later: a function
// becomes an entry of several lists and has a name, and each of its ranges becomes a FUNC record.
const (
	funcMemory      = 230
	funcRangeMemory = 200
	callMemory      = 40
	originMemory    = 150
	rangeMemory     = 32
	payEach         = 1 << 16 // bytes
)

// frame is the state of the scan for the children of a DIE.
type frame struct {
	fn     int32  // index of the enclosing function, -1 without one
	depth  uint32 // of an inlined call among them
	levels int    // nested DIEs whose children are read in this state
}

type scanner struct {
	d       *Data
	u       *Unit
	t       *abbrevTable
	h       *skipTable
	s       *Scan
	data    []byte      // the unit
	pos     int         // in data: of the next DIE
	c       wire.Cursor // over the unit, for the current DIE
	inlines bool
	entries int   // range list entries that may still be read
	deepest int   // limit of the depth of the tree
	err     error // the first damage that did not end the unit
	last    rangeList
	owed    uint64 // bytes of memory that were not paid for yet
	paid    int    // ranges that were

	frame
	stack   []frame // of the enclosing DIEs
	open    int     // levels of those in stack
	vals    [scanSlots]value
	sibling uint64 // of the DIE just read, 0 without a usable one
}

// run walks the unit's tree of DIEs, from its root to the end of the root's
// children.
func (x *scanner) run() {
	x.fn = -1
	x.step()
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
		if !x.pass(m, x.deepest-x.open) {
			x.step()
		}
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
		x.c.Fail(at, x.d.Limits.Exceeded(limits.DIEDepth, 0))
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

// rangeList is the last range list that was read.
type rangeList struct {
	value value // DW_AT_ranges
	Span        // of Scan.Ranges
	cost  int   // of scanner.entries
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
		calls := slices.Clone(s.Inlines)
		n := 0
		for _, run := range s.runs {
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
