package dwarfinfo

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"symkit/check/internal/pcs"
	"symkit/check/internal/symfile"
	"symkit/internal/limitof"
	"symkit/internal/wire"
)

// Scan has the functions, inlined calls and ranges of one unit. A Scan can be used again
// for another unit.
type Scan struct {
	Unit    *Unit
	Funcs   []Func
	Inlines []Inline
	Ranges  []pcs.Range
	Errs    []error // damage that cost a function
	scopes  []scope // by offset
	heavy   bool    // the scan holds Info.heavy
}

// What the records of a scan take in memory, in bytes, with what slices need to grow.
const funcBytes, inlineBytes, scopeBytes, rangeBytes = 128, 160, 64, 40

// scanShare and heavyShare are what one scan may take of the memory of unit records: half, but
// scans beyond a sixteenth wait for each other, so that all of them together stay within the limit.
const scanShare, heavyShare = 2, 16

// Release ends the use of a scan that took much memory.
func (s *Scan) Release() {
	if s.heavy {
		s.Unit.in.heavy.Unlock()
		*s = Scan{}
	}
}

// Func is a function with code.
type Func struct {
	Ref     Ref
	Name    uint32 // number in the Namer's table, which Namer.Unit sets
	Ranges  symfile.Span
	Inlines symfile.Span // set by finish
}

// Inline is an inlined call with code. CallFile is -1 if the DIE has no DW_AT_call_file.
type Inline struct {
	Origin   Ref
	Name     uint32 // number in the Namer's table, which Namer.Calls sets
	Ranges   symfile.Span
	CallFile int64
	CallLine uint64
	Depth    uint32
	fn       int32
}

// scope is a DIE with children that names in it are qualified with: a namespace, a type or a
// function.
type scope struct {
	off, end int   // offsets of the DIE, and after its last child
	parent   int32 // index of the scope around it, -1 for none
	function bool
}

// dieFrame is the state for the children of a DIE.
type dieFrame struct {
	fn     int32 // index in Funcs, -1 outside of functions
	scope  int32 // index in scopes, -1 outside of scopes
	depth  uint32
	opened bool // the DIE is the scope
}

// Scan walks the DIEs of u. An error means that the rest of the unit could not be read; s has the
// records before the damage.
func (s *Scan) Scan(ctx context.Context, u *Unit, code pcs.Set) error {
	*s = Scan{Unit: u, Funcs: s.Funcs[:0], Inlines: s.Inlines[:0], Ranges: s.Ranges[:0], scopes: s.scopes[:0]}
	most := u.in.limits.Max(limitof.UnitRecords, uint64(u.in.size))
	w := scanner{
		Scan: s, left: int(min(most/scanShare, math.MaxInt32)), light: int(min(most/scanShare-most/heavyShare, math.MaxInt32)), data: u.in.info[:u.end], pos: u.root, code: code,
		budget: int(min(u.in.limits.Max(limitof.RangeEntries, uint64(u.end-u.Off)), math.MaxInt32)),
		order:  binary.ByteOrder(binary.LittleEndian), deepest: u.in.limits.Int(limitof.DIEDepth),
	}
	if u.in.bigEndian {
		w.order = binary.BigEndian
	}
	w.fn, w.scope = -1, -1
	err := w.run(ctx)
	s.finish()
	return err
}

// scanner is the state of a scan.
type scanner struct {
	*Scan
	data    []byte // .debug_info up to the end of the unit
	pos     int
	order   binary.ByteOrder
	code    pcs.Set
	budget  int // range list entries that may still be read
	left    int // bytes of memory that the records may still take
	light   int // what is left at the most before the scan is a heavy one
	stack   []dieFrame
	deepest int // limit on stack
	skip    int // open DIEs inside a skipped subtree
	dieFrame

	values [slots]value
	have   uint32 // a set of slots
}

// fail returns an error about the byte at an offset.
func (w *scanner) fail(at int, err error) error {
	return &wire.Error{Section: ".debug_info", Offset: at, Err: err}
}

// run visits the DIEs in order. Each step of the loop consumes a byte at least.
func (w *scanner) run(ctx context.Context) error {
	table := w.Unit.table
	for n := 0; w.pos < len(w.data); n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}

		// A DIE begins with the code of its abbreviation. 0 ends the children of a DIE.
		at := w.pos
		code := uint64(w.data[at])
		w.pos++
		if code >= 0x80 {
			var ok bool
			w.pos = at
			code, ok = w.uleb()
			if !ok {
				return w.fail(at, wire.ErrTruncated)
			}
		}
		if code == 0 {
			if w.skip > 0 {
				w.skip--
				continue
			}
			if len(w.stack) == 0 {
				return nil
			}

			w.leave()
			if len(w.stack) == 0 {
				return nil
			}
			continue
		}

		a := table.find(code)
		if a == nil {
			return w.fail(at, errAbbrev(code))
		}

		// Attributes of fixed size are skipped together, if none of them is needed.
		if a.fixed >= 0 {
			w.pos += int(a.fixed)
			w.have = 0
		} else if !w.attributes(a) {
			return w.fail(at, wire.ErrTruncated)
		}
		if w.pos > len(w.data) {
			return w.fail(at, wire.ErrTruncated)
		}

		// The children: those of a DIE that is not needed are skipped.
		switch {
		case a.kind == kindOther || w.skip > 0:
			if a.children {
				w.skipChildren(at)
			}
		default:
			if err := w.visit(at, a); err != nil {
				return err
			}
		}
		if len(w.stack) == 0 {
			return nil
		}
	}
	return nil
}

// leave ends the children of a DIE.
func (w *scanner) leave() {
	if w.opened {
		w.scopes[w.scope].end = w.pos
	}
	w.dieFrame = w.stack[len(w.stack)-1]
	w.stack = w.stack[:len(w.stack)-1]
}

// uleb reads an unsigned LEB128. It returns false at the end of the unit and for more than 64 bits.
func (w *scanner) uleb() (v uint64, ok bool) {
	for shift := 0; w.pos < len(w.data) && shift < 70; shift += 7 {
		b := w.data[w.pos]
		w.pos++
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, shift < 63 || b <= 1
		}
	}
	return 0, false
}

// attributes runs the steps of an abbreviation. It returns false if the unit ends within an attribute.
func (w *scanner) attributes(a *abbrev) bool {
	w.have = 0
	for i := a.from; i < a.to; i++ {
		s := &w.Unit.table.steps[i]
		switch s.form {
		case formSkip:
			w.pos += int(s.n)
		case formData1, formRef1:
			if w.pos >= len(w.data) {
				return false
			}
			w.keep(s, uint64(w.data[w.pos]))
			w.pos++
		case formData2, formRef2:
			if len(w.data)-w.pos < 2 {
				return false
			}
			w.keep(s, uint64(w.order.Uint16(w.data[w.pos:])))
			w.pos += 2
		case formData4, formRef4:
			if len(w.data)-w.pos < 4 {
				return false
			}
			w.keep(s, uint64(w.order.Uint32(w.data[w.pos:])))
			w.pos += 4
		case formUdata, formRefUdata, formRnglistx, formAddrx:
			v, ok := w.uleb()
			if !ok {
				return false
			}
			w.keep(s, v)
		case formExprloc, formBlock:
			at := w.pos
			n, ok := w.uleb()
			if !ok || n > uint64(len(w.data)) {
				return false
			}
			w.pos += int(n)
			if s.slot != slotNone {
				w.values[s.slot] = value{form: s.form, at: at}
				w.have |= 1 << s.slot
			}
		default:
			if !w.general(s) {
				return false
			}
		}

		// A skipped attribute can end after the unit.
		if w.pos > len(w.data) {
			return false
		}
	}
	return true
}

// keep stores a value if the scan needs it.
func (w *scanner) keep(s *step, v uint64) {
	if s.slot != slotNone {
		w.values[s.slot] = value{form: s.form, num: v}
		w.have |= 1 << s.slot
	}
}

// general reads a value of any form.
func (w *scanner) general(s *step) bool {
	implicit := uint64(0)
	if s.form == formImplicitConst {
		implicit = w.Unit.table.numbers[s.n]
	}
	c := wire.New(".debug_info", w.data, w.Unit.in.bigEndian)
	c.Seek(uint64(w.pos))
	v := w.Unit.read(&c, s.form, implicit)
	if c.Err() != nil {
		return false
	}
	w.pos = c.Pos()
	if s.slot != slotNone {
		w.values[s.slot] = v
		w.have |= 1 << s.slot
	}
	return true
}

// get returns an attribute of the current DIE, false if it has none.
func (w *scanner) get(s slot) (value, bool) { return w.values[s], w.have&(1<<s) != 0 }

// skipChildren skips the children of the DIE at an offset: by DW_AT_sibling, or by counting levels.
func (w *scanner) skipChildren(at int) {
	if v, ok := w.get(slotSibling); ok {
		if next := w.Unit.reference(v); !next.alt && next.Off > at && next.Off < len(w.data) {
			w.pos = next.Off
			return
		}
	}
	w.skip++
}

// recordBytes has the memory of a DIE by its kind.
var recordBytes = [...]int{kindScope: scopeBytes, kindFunction: funcBytes + scopeBytes, kindCall: inlineBytes, kindUnit: 0}

// visit reads one DIE and enters its children.
func (w *scanner) visit(at int, a *abbrev) error {
	inner := w.dieFrame
	inner.opened = false
	if err := w.take(recordBytes[a.kind]); err != nil {
		return err
	}
	switch a.kind {
	case kindScope:
		if a.children {
			inner.scope, inner.opened = w.open(at, false), true
		}
	case kindFunction:
		inner = w.function(at, a)
	case kindCall:
		if w.fn >= 0 && w.inline() {
			inner.depth++
		}
	}
	if !a.children {
		return nil
	}

	// A null DIE restores the frame.
	if len(w.stack) >= w.deepest {
		return w.fail(at, w.Unit.in.limits.Exceeded(limitof.DIEDepth, 0))
	}
	w.stack = append(w.stack, w.dieFrame)
	w.dieFrame = inner
	return nil
}

// take counts n bytes of memory. It returns the error of the limit if there is too little left.
func (w *scanner) take(n int) error {
	w.left -= n
	if w.left < 0 {
		return w.fail(w.pos, w.Unit.in.limits.Exceeded(limitof.UnitRecords, uint64(w.Unit.in.size)))
	}
	if w.left < w.light && !w.heavy {
		w.Unit.in.heavy.Lock()
		w.heavy = true
	}
	return nil
}

// open adds a scope, and returns its index.
func (w *scanner) open(at int, function bool) int32 {
	w.scopes = append(w.scopes, scope{off: at, end: len(w.data), parent: w.scope, function: function})
	return int32(len(w.scopes) - 1)
}

// function reads a subprogram, and returns the state for its children.
func (w *scanner) function(at int, a *abbrev) dieFrame {
	// A function with children is a scope of the functions in it.
	inner := dieFrame{fn: -1, scope: -1}
	if a.children {
		inner.scope, inner.opened = w.open(at, true), true
	}

	// Only a function with code gets a FUNC record.
	if r := w.codeRanges(); r.Len() > 0 {
		w.Funcs = append(w.Funcs, Func{Ref: Ref{Off: at}, Ranges: r})
		inner.fn = int32(len(w.Funcs) - 1)
	}
	return inner
}

// inline adds an inlined call. It returns false for a call without code or without an origin, as
// gcc writes them: such a call gives no information.
func (w *scanner) inline() bool {
	v, ok := w.get(slotOrigin)
	if !ok {
		return false
	}
	in := Inline{Origin: w.Unit.reference(v), fn: w.fn, Depth: w.depth, CallFile: -1}

	// The ranges are clipped to the FUNC record later.
	in.Ranges = w.codeRanges()
	if in.Ranges.Len() == 0 {
		return false
	}
	if v, ok := w.get(slotCallFile); ok && v.isConstant() {
		in.CallFile = int64(v.num)
	}
	if v, ok := w.get(slotCallLine); ok && v.isConstant() {
		in.CallLine = v.num
	}
	w.Inlines = append(w.Inlines, in)
	return true
}

// maxErrors bounds the errors kept of a unit.
const maxErrors = 20

// codeRanges adds the ranges of the current DIE.
func (w *scanner) codeRanges() symfile.Span {
	from := uint32(len(w.Ranges))
	if w.have&(1<<slotRanges|1<<slotLow) != 0 {
		// A range costs memory as each record does.
		before := w.budget
		most := min(w.budget, w.left/rangeBytes+1)
		w.budget = most
		err := w.appendRanges()
		w.budget += before - most
		over := w.take(rangeBytes * (len(w.Ranges) - int(from)))
		if err == errShared && over == nil && most < before {
			over = w.take(w.left + 1)
		}
		err = cmp.Or(over, err)
		if err != nil && len(w.Errs) < maxErrors {
			w.Errs = append(w.Errs, err)
		}
	}

	isa := w.Unit.in.isaBit()
	if isa != 0 {
		for i := range w.Ranges[from:] {
			r := &w.Ranges[int(from)+i]
			r.Lo, r.Hi = r.Lo&^isa, r.Hi&^isa
		}
	}
	return symfile.Span{From: from, To: uint32(len(w.Ranges))}
}

// appendRanges appends the ranges of the current DIE that hold code, as the DIE lists them. The
// value that sets an address decides whether the address is a discarded one: offsets from it may
// lie in other functions' code.
func (w *scanner) appendRanges() (err error) {
	u := w.Unit
	if v, ok := w.get(slotRanges); ok {
		off, ok := u.rangesOffset(v)
		switch {
		case !ok:
			return errNoOffset
		case u.version < 5:
			w.Ranges, err = u.rangesV4(w.Ranges, off, w.code, &w.budget)
		default:
			w.Ranges, err = u.rangesV5(w.Ranges, off, w.code, &w.budget)
		}
		return err
	}

	// Without a list: one range, whose end is an address or a size.
	v, _ := w.get(slotLow)
	low, ok := u.address(v)
	if !ok {
		return fmt.Errorf("DW_AT_low_pc: %w", wire.ErrOffset)
	}
	end, ok := w.get(slotHigh)
	if !ok {
		return nil
	}
	high, ok := u.address(end)
	if !ok && end.isConstant() {
		high, ok = low+end.num, true
	}
	if ok {
		w.Ranges = appendCode(w.Ranges, low, high, w.code)
	}
	return nil
}

// finish gives every function its inlined calls.
func (s *Scan) finish() {
	byFunction := func(a, b Inline) int { return cmp.Compare(a.fn, b.fn) }
	if !slices.IsSortedFunc(s.Inlines, byFunction) {
		slices.SortStableFunc(s.Inlines, byFunction)
	}
	i := uint32(0)
	for f := range s.Funcs {
		from := i
		for i < uint32(len(s.Inlines)) && s.Inlines[i].fn == int32(f) {
			i++
		}
		s.Funcs[f].Inlines = symfile.Span{From: from, To: i}
	}
}

// RangeCount returns the number of ranges of all functions.
func (s *Scan) RangeCount() (n int) {
	for i := range s.Funcs {
		n += s.Funcs[i].Ranges.Len()
	}
	return n
}
