package gosym

import (
	"math"

	"symkit/internal/wire"
)

// pcTable walks one pc-value table: pairs of a signed difference of the value
// and a difference of the address, from value -1 at the entry of the function
// to a difference of 0 that is not the first (runtime/symtab.go, step).
type pcTable struct {
	c       wire.Cursor
	quantum uint32
	begun   bool
	done    bool
	empty   int // runs without code since the last one with code
	// The current run: value from start up to end.
	start, end uint64
	value      int32
}

// pcTable returns a walker over the table at offset off of the pc tables, for
// code from entry on. Offset 0 means that there is none.
func (t *Table) pcTable(off uint32, entry uint64) pcTable {
	w := pcTable{quantum: t.quantum, start: entry, end: entry, value: -1}
	if off == 0 {
		w.done = true
		return w
	}
	w.c = t.at(t.pcs + uint64(off))
	return w
}

// maxEmpty is the number of runs without code that may follow each other: far
// more than assemblers write, so that walking a table takes time in proportion to
// the code that the table describes.
const maxEmpty = 64

// next moves to the next run. It returns false at the end and after damage, which is
// then in c.Err: a table without a terminator is damaged. A run may have
// no code: the assembler of s390x writes such runs.
func (w *pcTable) next() bool {
	if w.done {
		return false
	}
	at := w.c.Pos()
	delta := w.uvarint()
	if w.c.Err() != nil || delta == 0 && w.begun {
		w.done = true
		return false
	}

	w.begun = true
	w.value += int32(-(delta & 1) ^ delta>>1)
	step := w.uvarint()
	w.empty++
	if step != 0 {
		w.empty = 0
	}
	if w.c.Err() == nil && w.empty > maxEmpty {
		w.c.Fail(at, ErrStep)
	}
	if w.c.Err() != nil {
		w.done = true
		return false
	}

	w.start = w.end
	w.end += uint64(step) * uint64(w.quantum)
	return true
}

func (w *pcTable) uvarint() uint32 {
	at := w.c.Pos()
	v := w.c.ULEB()
	if v > math.MaxUint32 {
		w.c.Fail(at, ErrVarint)
		return 0
	}
	return uint32(v)
}

// seek moves to the run that contains pc, which must not lie before the current run. It
// returns false if the table has no value for pc.
func (w *pcTable) seek(pc uint64) bool {
	for pc >= w.end {
		if !w.next() {
			return false
		}
	}
	return pc >= w.start
}
