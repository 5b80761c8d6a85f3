//go:build oracle

package dwarftruth

import (
	"fmt"
	"slices"
	"testing"

	"symkit/emit"
	"symkit/test/oracle"
	"symkit/test/oracle/symfile"
)

// lineSweep compares the line records with debug/dwarf's rows over the code of all FUNC
// records. It goes from one stretch of code, in which neither changes, to the next.
type lineSweep struct {
	s      *symfile.File
	tr     *truth
	active []lineRow // rows that hold at pos
	next   int       // the first row after pos

	bytes, ambiguous uint64 // compared; of these, with more than one description
	lost, extra      *oracle.Diffs
	wrong            *oracle.Diffs
}

// checkLines compares the line of every byte. Several rows hold at one byte if units have
// copies of the same code: then our line must be that of one of the rows. checkLines returns
// its figures of the row.
func checkLines(t *testing.T, s *symfile.File, tr *truth) string {
	t.Helper()
	w := lineSweep{
		s: s, tr: tr,
		lost:  oracle.NewDiffs(t, "ranges of code in a line table without a line record"),
		extra: oracle.NewDiffs(t, "ranges of code with a line record that are in no line table"),
		wrong: oracle.NewDiffs(t, "ranges of code with another line"),
	}
	for i := range s.Funcs {
		w.function(&s.Funcs[i])
	}
	w.lost.Report()
	w.extra.Report()
	w.wrong.Report()
	return fmt.Sprintf("%10d %10d %9d", len(tr.rows), w.bytes, w.ambiguous)
}

// function compares the lines in a FUNC record.
func (w *lineSweep) function(f *symfile.Func) {
	lines := f.Lines
	for pos := f.Lo; pos < f.Hi; {
		// Records that end before pos are done.
		for len(lines) > 0 && lines[0].Addr+uint64(lines[0].Size) <= pos {
			lines = lines[1:]
		}
		end := w.advance(pos, f.Hi)

		// The stretch ends with the line record, or where the next record begins.
		var ours *emit.Line
		switch {
		case len(lines) > 0 && lines[0].Addr <= pos:
			ours = &lines[0]
			end = min(end, ours.Addr+uint64(ours.Size))
		case len(lines) > 0:
			end = min(end, lines[0].Addr)
		}
		w.compare(f, oracle.Span{Lo: pos, Hi: end}, ours)
		pos = end
	}
}

// advance makes the rows that hold at pos active. It returns where they change, but at most
// end.
func (w *lineSweep) advance(pos, end uint64) uint64 {
	rows := w.tr.rows
	for ; w.next < len(rows) && rows[w.next].Lo <= pos; w.next++ {
		w.active = append(w.active, rows[w.next])
	}
	w.active = slices.DeleteFunc(w.active, func(r lineRow) bool { return r.Hi <= pos })
	if w.next < len(rows) {
		end = min(end, rows[w.next].Lo)
	}
	for i := range w.active {
		end = min(end, w.active[i].Hi)
	}
	return end
}

// compare compares a line record, or nil, with the active rows in one stretch of code.
func (w *lineSweep) compare(f *symfile.Func, at oracle.Span, ours *emit.Line) {
	switch {
	case len(w.active) == 0 && ours == nil:
		return
	case len(w.active) == 0:
		w.extra.Add("%#x–%#x in %s: %s:%d", at.Lo, at.Hi, f.Name, w.s.Files[ours.File], ours.Line)
		return
	case ours == nil:
		w.lost.Add("%#x–%#x in %s: %s", at.Lo, at.Hi, f.Name, w.describe())
		return
	}

	// Our line has to be that of one row; rows that differ make the code ambiguous.
	w.bytes += at.Hi - at.Lo
	name := w.s.Files[ours.File]
	same, several := false, false
	for i := range w.active {
		r, first := &w.active[i], &w.active[0]
		same = same || r.line == ours.Line && w.tr.files[r.file] == name
		several = several || r.line != first.line || r.file != first.file
	}

	if several {
		w.ambiguous += at.Hi - at.Lo
	}
	if !same {
		w.wrong.Add("%#x–%#x in %s: %s:%d, want %s", at.Lo, at.Hi, f.Name, name, ours.Line, w.describe())
	}
}

// describe lists the active rows.
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
