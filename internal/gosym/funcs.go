package gosym

import (
	"bytes"
	"iter"
	"math"
)

// The function table is an array of pairs (entry, record); a function ends at the entry of
// the next one. Records (_func) are found by offset. They have no lengths and no checksum,
// so each function is checked by itself: a damaged function yields an error, and the walk
// continues with the next pair.

// Func is one function. Its names and tables stay in the Table.
type Func struct {
	// Entry and End are the function's addresses, without the padding after it.
	Entry, End uint64
	// Name is the argument for Table.Name. The name is as in DWARF: package path, receiver and
	// name, "main.(*T).Method", "main.main.func1", "main.Map[go.shape.int]";
	// Go 1.18 to 1.20 wrote "main.Map[...]" here.
	Name uint32
	// StartLine is the line of the func keyword; 0 if it is not known
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

// Funcs yields the functions in the order of their addresses. A damaged function
// yields an error in its place, and the walk continues after it.
func (t *Table) Funcs() iter.Seq2[Func, error] {
	return func(yield func(Func, error) bool) {
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
}

// fn reads the function of the pair at offset at of the table. entry, and next, which
// is the entry of the next function, are as in the table.
func (t *Table) fn(at, entry, next, off uint64) (Func, error) {
	if next < entry {
		return Func{}, t.fail(at, ErrOrder)
	}
	r, err := t.record(at, off)
	if err != nil {
		return Func{}, err
	}

	// Since Go 1.18, entries are offsets in the text.
	f := Func{Entry: entry, End: next, Name: r.name, StartLine: r.startLine, record: uint32(off)}
	if t.version >= Go118 {
		f.Entry = t.textAddr(entry)
		f.End = f.Entry + (next - entry)
	}
	if _, ok := t.cstring(t.names, uint64(r.name)); !ok {
		return Func{}, t.fail(t.funcs+off, ErrName)
	}

	// Code ends with its executable range at the latest.
	for _, x := range t.exec {
		if x.Lo <= f.Entry && f.Entry < x.Hi {
			f.End = min(f.End, x.Hi)
			t.trim(&f, &r)
			return f, nil
		}
	}
	return Func{}, t.fail(at, ErrAddress)
}

// trim removes the padding from the end of f: the function table has only entries, but
// the line table of a function ends with its code. A damaged line table changes
// nothing; Lines reports the damage.
func (t *Table) trim(f *Func, r *record) {
	off := r.pcln
	if off == 0 {
		off = r.pcsp
	}
	if off == 0 {
		return
	}

	// Walk to the end of the line table.
	w := t.pcTable(off, f.Entry)
	for w.end < f.End && w.next() {
	}
	if w.c.Err() == nil && w.end > f.Entry {
		f.End = min(f.End, w.end)
	}
}

// record reads the _func at offset off of the records; the offset itself is at offset
// at of the table.
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

// Name returns the name of a Func or Call, without copying it; nil if name is out of
// range.
func (t *Table) Name(name uint32) []byte {
	s, _ := t.cstring(t.names, uint64(name))
	return s
}

// cstring aliases the string at offset off from base.
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
