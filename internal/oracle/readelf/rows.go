//go:build oracle

package readelf

import (
	"cmp"
	"slices"
	"testing"

	"symkit/internal/oracle"
)

// frameRow is a row of an FDE as readelf prints it, and the code it holds for.
type frameRow struct {
	oracle.Span
	cfa     string
	columns []string // registers, "ra" among them
	rules   []string // one per column
	fde     uint64   // address of the FDE
}

// Frames is what readelf prints of a file's call frame information, with
// addresses relative to the load address.
type Frames struct {
	rows       []frameRow // by address, .eh_frame's before .debug_frame's
	fdes       int        // of code that is in the file
	printed    int        // rows of these
	discarded  int        // FDEs of code that is not
	overridden int        // rows of .debug_frame, some of whose code .eh_frame describes
}

// Read runs readelf on the module's files. .eh_frame, on which
// exceptions run, holds where .debug_frame describes the same code.
func Read(t *testing.T, in *oracle.Input, l *oracle.Layout) *Frames {
	t.Helper()
	return ReadAt(t, in, l, nil)
}

// ReadAt is readFrames for a file in which the addresses of an FDE are
// relative to a base that its offset tells; nil: they are addresses.
func ReadAt(t *testing.T, in *oracle.Input, l *oracle.Layout, base func(fde uint64) uint64) *Frames {
	t.Helper()
	fr := &Frames{}
	var debugRows []frameRow
	for _, path := range in.Files() {
		if !hasFrames(t, path) {
			continue
		}
		p := parser{t: t, l: l, out: fr, cies: map[string]frameRow{}, baseOf: base}
		runReadelf(t, path, p.parse)
		fr.rows = append(fr.rows, p.eh...)
		debugRows = append(debugRows, p.debug...)
	}
	fr.rows = disjointRows(fr.rows)
	debugRows = disjointRows(debugRows)
	rest := withoutCode(debugRows, fr.rows)
	fr.overridden = len(debugRows) - len(rest)
	fr.rows = append(fr.rows, rest...)
	slices.SortFunc(fr.rows, func(a, b frameRow) int { return cmp.Compare(a.Lo, b.Lo) })
	return fr
}

// disjointRows sorts rows by address; of two about the same code the first
// one holds.
func disjointRows(rows []frameRow) []frameRow {
	slices.SortStableFunc(rows, func(a, b frameRow) int { return cmp.Compare(a.Lo, b.Lo) })
	out, pos := rows[:0], uint64(0)
	for _, r := range rows {
		if r.Lo = max(r.Lo, pos); r.Lo < r.Hi {
			pos = r.Hi
			out = append(out, r)
		}
	}
	return out
}

// withoutCode cuts out of rows the code that others describe. Both are sorted
// and disjoint.
func withoutCode(rows, others []frameRow) (out []frameRow) {
	for _, r := range rows {
		i, _ := slices.BinarySearchFunc(others, r.Lo, func(o frameRow, a uint64) int { return cmp.Compare(o.Hi, a+1) })
		for ; i < len(others) && others[i].Lo < r.Hi; i++ {
			if others[i].Lo > r.Lo {
				piece := r
				piece.Hi = others[i].Lo
				out = append(out, piece)
			}
			r.Lo = others[i].Hi
		}
		if r.Lo < r.Hi {
			out = append(out, r)
		}
	}
	return out
}
