package gosym

import (
	"bytes"
	"iter"
	"math"
)

// Func is one function. Its names and tables stay in the Table.
type Func struct {
	// Entry and End are its addresses. The padding behind a function does not
	// belong to it.
	Entry, End uint64
	// Name is for Table.Name. It is as in DWARF: package path, receiver and
	// name, "main.(*T).Method", "main.main.func1", "main.Map[go.shape.int]";
	// Go 1.18 to 1.20 wrote "main.Map[...]" here.
	Name uint32
	// StartLine is the line of the func keyword; 0 where it is not known
	// (before Go 1.20).
	StartLine uint32

	record uint32 // offset of the _func, from Table.funcs
}

// record is a _func of runtime/runtime2.go.
type record struct {
	name               uint32
	pcsp, pcfile, pcln uint32
	npcdata            uint32
	cu                 uint32
	startLine          uint32
	nfuncdata          uint8
	pcdata             uint64 // offset of the array in the table
}

// Funcs yields the functions in the order of their addresses. A damaged one
// yields an error in its place, and the walk goes on behind it.
func (t *Table) Funcs() iter.Seq2[Func, error] {
	return func(yield func(Func, error) bool) { t.walkFuncs(yield) }
}

func (t *Table) walkFuncs(yield func(Func, error) bool) {
	size := t.fieldSize()
	c := t.at(t.ftab)
	entry := c.Uint(size)
	floor := uint64(0) // the end of the functions so far
	for range t.nfunc {
		at := uint64(c.Pos() - size)
		off := c.Uint(size)
		next := c.Uint(size)
		f, err := t.fn(at, entry, next, off)
		if err == nil && f.Entry < floor {
			err = t.fail(at, ErrOrder)
		}
		if err == nil {
			floor = f.End
		}
		if !yield(f, err) {
			return
		}
		entry = next
	}
}

// fn reads the function of the pair at offset at of the table. Its entry and
// that of the next function are as in the table.
func (t *Table) fn(at, entry, next, off uint64) (Func, error) {
	if next < entry {
		return Func{}, t.fail(at, ErrOrder)
	}
	r, err := t.record(at, off)
	if err != nil {
		return Func{}, err
	}
	f := Func{Entry: entry, End: next, Name: r.name, StartLine: r.startLine, record: uint32(off)}
	if t.version >= Go118 {
		f.Entry = t.textAddr(entry)
		f.End = f.Entry + (next - entry)
	}
	if _, ok := t.cstring(t.names, uint64(r.name)); !ok {
		return Func{}, t.fail(t.funcs+off, ErrName)
	}
	for _, x := range t.exec {
		if x.Start <= f.Entry && f.Entry < x.End {
			f.End = min(f.End, x.End)
			t.trim(&f, &r)
			return f, nil
		}
	}
	return Func{}, t.fail(at, ErrAddress)
}

// trim takes the padding off: the function table has only entries, but the line
// table of a function ends with its code. A damaged line table takes nothing off;
// Lines reports the damage.
func (t *Table) trim(f *Func, r *record) {
	off := r.pcln
	if off == 0 {
		off = r.pcsp
	}
	if off == 0 {
		return
	}
	w := t.pcTable(off, f.Entry)
	for w.end < f.End && w.next() {
	}
	if w.c.Err() == nil && w.end > f.Entry {
		f.End = min(f.End, w.end)
	}
}

// record reads the _func at offset off of the records, which offset at of the
// table names.
func (t *Table) record(at, off uint64) (record, error) {
	var r record
	if off > min(uint64(len(t.data))-t.funcs, math.MaxUint32) {
		return r, t.fail(at, ErrRecord)
	}
	c := t.at(t.funcs + off)
	c.Skip(uint64(t.fieldSize())) // entry
	r.name = c.U32()
	c.Skip(8) // args, deferreturn
	r.pcsp, r.pcfile, r.pcln = c.U32(), c.U32(), c.U32()
	r.npcdata = c.U32()
	if t.version >= Go116 {
		r.cu = c.U32()
	}
	if t.version >= Go120 {
		r.startLine = c.U32()
	}
	c.Skip(3) // funcID, flag, padding
	r.nfuncdata = c.U8()
	r.pcdata = uint64(c.Pos())
	return r, c.Err()
}

// Name returns the name that a Func or Call has, without copying it; nil for a
// number that is none.
func (t *Table) Name(name uint32) []byte {
	s, _ := t.cstring(t.names, uint64(name))
	return s
}

// cstring aliases the string at offset off behind base.
func (t *Table) cstring(base, off uint64) ([]byte, bool) {
	if base+off >= uint64(len(t.data)) {
		return nil, false
	}
	s := t.data[base+off:]
	n := bytes.IndexByte(s, 0)
	if n < 0 {
		return nil, false
	}
	return s[:n:n], true
}
