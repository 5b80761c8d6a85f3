//go:build oracle

package readelf

import (
	"cmp"
	"slices"
	"testing"

	"symkit/test/oracle"
)

// frameRow is a row of an FDE as readelf prints it, and the code that it holds for.
type frameRow struct {
	oracle.Span
	cfa     string
	columns []string // registers, "ra" among them
	rules   []string // one per column
	fde     uint64   // address of the FDE
}

// Frames holds readelf's output for a file's call frame information, with addresses
// relative to the load address.
type Frames struct {
	rows       []frameRow // by address, .eh_frame's before .debug_frame's
	fdes       int        // of code that is in the file
	printed    int        // rows of these
	discarded  int        // FDEs of code that is not
	overridden int        // rows of .debug_frame, some of whose code .eh_frame describes
}

// Read runs readelf on the module's files. Where .eh_frame and .debug_frame describe the
// same code, .eh_frame has precedence, because exceptions rely on it.
func Read(t *testing.T, in *oracle.Input, l *oracle.Layout) *Frames {
	t.Helper()
	return ReadAt(t, in, l, nil)
}

// ReadAt is Read for a file in which the addresses of an FDE are relative to base(offset of
// the FDE). If base is nil, the addresses are absolute.
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

	// Rows of .debug_frame count only for code that .eh_frame does not describe.
	fr.rows = disjointRows(fr.rows)
	debugRows = disjointRows(debugRows)
	rest := withoutCode(debugRows, fr.rows)
	fr.overridden = len(debugRows) - len(rest)
	fr.rows = append(fr.rows, rest...)
	slices.SortFunc(fr.rows, func(a, b frameRow) int { return cmp.Compare(a.Lo, b.Lo) })
	return fr
}

// disjointRows sorts rows by address and clips them: of two rows about the same code, the
// first one has it.
func disjointRows(rows []frameRow) []frameRow {
	slices.SortStableFunc(rows, func(a, b frameRow) int { return cmp.Compare(a.Lo, b.Lo) })
	out, pos := rows[:0], uint64(0)
	for _, r := range rows {
		r.Lo = max(r.Lo, pos)
		if r.Lo < r.Hi {
			pos = r.Hi
			out = append(out, r)
		}
	}
	return out
}

// withoutCode returns the parts of rows whose code others do not describe. Both lists are
// sorted and disjoint.
func withoutCode(rows, others []frameRow) (out []frameRow) {
	for _, r := range rows {
		i, _ := slices.BinarySearchFunc(others, r.Lo, func(o frameRow, a uint64) int { return cmp.Compare(o.Hi, a+1) })
		for ; i < len(others) && others[i].Lo < r.Hi; i++ {
			// Keep the part before the other row.
			if others[i].Lo > r.Lo {
				part := r
				part.Hi = others[i].Lo
				out = append(out, part)
			}
			r.Lo = others[i].Hi
		}
		if r.Lo < r.Hi {
			out = append(out, r)
		}
	}
	return out
}
