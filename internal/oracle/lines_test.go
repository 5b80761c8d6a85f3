//go:build oracle

package oracle_test

import (
	"fmt"
	"slices"
	"testing"

	"symkit/emit"
)

// lineSweep compares our line records with debug/dwarf's rows over the code
// of all FUNCs, piece by piece: a piece is code in which neither changes.
type lineSweep struct {
	s      *symFile
	tr     *truth
	active []dwarfRow // rows that hold at pos
	next   int        // the first row behind pos

	bytes, ambiguous uint64 // compared; of these, described in several ways
	lost, extra      *diffs
	wrong            *diffs
}

// checkLines compares every byte. Where several rows hold, of units with a
// copy of the same code, ours has to be one of them. It returns a row of the
// table.
func checkLines(t *testing.T, s *symFile, tr *truth) string {
	t.Helper()
	w := lineSweep{
		s: s, tr: tr,
		lost:  newDiffs(t, "pieces of code in a line table without a line record"),
		extra: newDiffs(t, "pieces of code with a line record that are in no line table"),
		wrong: newDiffs(t, "pieces of code with another line"),
	}
	for i := range s.funcs {
		w.function(&s.funcs[i])
	}
	w.lost.report()
	w.extra.report()
	w.wrong.report()
	return fmt.Sprintf("%10d %10d %9d", len(tr.rows), w.bytes, w.ambiguous)
}

func (w *lineSweep) function(f *symFunc) {
	lines := f.lines
	for pos := f.lo; pos < f.hi; {
		for len(lines) > 0 && lines[0].Addr+uint64(lines[0].Size) <= pos {
			lines = lines[1:]
		}
		end := w.advance(pos, f.hi)
		var ours *emit.Line
		switch {
		case len(lines) > 0 && lines[0].Addr <= pos:
			ours = &lines[0]
			end = min(end, ours.Addr+uint64(ours.Size))
		case len(lines) > 0:
			end = min(end, lines[0].Addr)
		}
		w.compare(f, span{pos, end}, ours)
		pos = end
	}
}

// advance makes active the rows that hold at pos and returns where that
// changes, at most end.
func (w *lineSweep) advance(pos, end uint64) uint64 {
	rows := w.tr.rows
	for ; w.next < len(rows) && rows[w.next].lo <= pos; w.next++ {
		w.active = append(w.active, rows[w.next])
	}
	w.active = slices.DeleteFunc(w.active, func(r dwarfRow) bool { return r.hi <= pos })
	if w.next < len(rows) {
		end = min(end, rows[w.next].lo)
	}
	for i := range w.active {
		end = min(end, w.active[i].hi)
	}
	return end
}

func (w *lineSweep) compare(f *symFunc, at span, ours *emit.Line) {
	switch {
	case len(w.active) == 0 && ours == nil:
		return
	case len(w.active) == 0:
		w.extra.add("%#x–%#x in %s: %s:%d", at.lo, at.hi, f.name, w.s.files[ours.File], ours.Line)
		return
	case ours == nil:
		w.lost.add("%#x–%#x in %s: %s", at.lo, at.hi, f.name, w.describe())
		return
	}
	w.bytes += at.hi - at.lo
	name := w.s.files[ours.File]
	same, several := false, false
	for i := range w.active {
		r, first := &w.active[i], &w.active[0]
		same = same || r.line == ours.Line && w.tr.files[r.file] == name
		several = several || r.line != first.line || r.file != first.file
	}
	if several {
		w.ambiguous += at.hi - at.lo
	}
	if !same {
		w.wrong.add("%#x–%#x in %s: %s:%d, want %s", at.lo, at.hi, f.name, name, ours.Line, w.describe())
	}
}

// describe lists the rows that hold.
func (w *lineSweep) describe() string {
	out := ""
	for i, r := range w.active {
		if i > 0 {
			out += " or "
		}
		out += fmt.Sprintf("%s:%d (unit %d)", w.tr.files[r.file], r.line, r.unit)
	}
	return out
}
