//go:build oracle

package dump_test

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"testing"
)

// truth is what debug/dwarf says of a file's code, with addresses relative to
// the load address.
type truth struct {
	subprograms int
	ranges      []dwarfRange // by address
	rows        []dwarfRow   // by address
	files       []string     // of the rows
}

// dwarfRange is one range of a subprogram.
type dwarfRange struct {
	span
	die  dwarf.Offset
	name string
}

// dwarfRow is a row of a line table and the code it holds for.
type dwarfRow struct {
	span
	line, file, unit uint32
}

// readTruth reads the DWARF of a file. debug/dwarf may panic on what it does
// not know.
func readTruth(path string, l *layout) (tr *truth, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("debug/dwarf panicked: %v", r)
		}
	}()
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.Section(".debug_info") == nil && f.Section(".zdebug_info") == nil {
		return &truth{}, nil
	}
	data, err := f.DWARF()
	if err != nil {
		return nil, err
	}
	x := truthReader{data: data, l: l, fileIDs: map[string]uint32{}}
	if err := x.read(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(x.ranges, func(a, b dwarfRange) int { return cmp.Compare(a.lo, b.lo) })
	slices.SortStableFunc(x.rows, func(a, b dwarfRow) int { return cmp.Compare(a.lo, b.lo) })
	return &x.truth, nil
}

type truthReader struct {
	truth
	data    *dwarf.Data
	l       *layout
	fileIDs map[string]uint32
}

// read walks all DIEs, so that no subprogram is missed wherever it nests.
func (x *truthReader) read() error {
	units := uint32(0)
	for r := x.data.Reader(); ; {
		e, err := r.Next()
		if err != nil {
			return err
		}
		if e == nil {
			return nil
		}
		switch e.Tag {
		case dwarf.TagSubprogram:
			if err := x.subprogram(e); err != nil {
				return err
			}
		case dwarf.TagCompileUnit, dwarf.TagSkeletonUnit:
			units++
			if err := x.lines(e, units); err != nil {
				return err
			}
		}
	}
}

func (x *truthReader) subprogram(e *dwarf.Entry) error {
	ranges, err := x.data.Ranges(e)
	if err != nil {
		return err
	}
	name, _ := e.Val(dwarf.AttrName).(string)
	n := len(x.ranges)
	for _, r := range ranges {
		if r[0] < r[1] && x.l.live(r[0]) {
			x.ranges = append(x.ranges, dwarfRange{span{r[0] - x.l.load, r[1] - x.l.load}, e.Offset, name})
		}
	}
	if len(x.ranges) > n {
		x.subprograms++
	}
	return nil
}

// lines reads the line table of a unit.
func (x *truthReader) lines(cu *dwarf.Entry, unit uint32) error {
	lr, err := x.data.LineReader(cu)
	if lr == nil || err != nil {
		return err
	}
	dir, _ := cu.Val(dwarf.AttrCompDir).(string)
	ids := map[*dwarf.LineFile]uint32{}
	var prev dwarf.LineEntry
	open, dead := false, false
	for {
		var row dwarf.LineEntry
		if err := lr.Next(&row); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		// A linker may discard code in the middle of a sequence: a row that
		// goes backwards, or back into the code, comes after a set_address.
		if !open || row.Address < prev.Address {
			dead = !x.l.live(row.Address)
		} else if !dead && prev.Address < row.Address {
			id, ok := ids[prev.File]
			if !ok {
				id = x.file(dir, prev.File)
				ids[prev.File] = id
			}
			x.rows = append(x.rows, dwarfRow{
				span{prev.Address - x.l.load, row.Address - x.l.load}, uint32(prev.Line), id, unit,
			})
		}
		prev, open = row, !row.EndSequence
	}
}

// file numbers a source file. Names from DWARF 5 tables debug/dwarf leaves
// relative to the compilation directory, except that it puts directory 0 in
// front, which is that directory (DWARF 5 §6.2.4) and may be relative itself.
func (x *truthReader) file(dir string, f *dwarf.LineFile) uint32 {
	name := "<unknown>"
	if f != nil && f.Name != "" {
		name = f.Name
		if !path.IsAbs(name) && !strings.HasPrefix(name, strings.TrimSuffix(dir, "/")+"/") {
			name = path.Join(dir, name)
		}
		name = path.Clean(name)
	}
	id, ok := x.fileIDs[name]
	if !ok {
		id = uint32(len(x.files))
		x.fileIDs[name] = id
		x.files = append(x.files, name)
	}
	return id
}

// checkFuncs compares the FUNC records with the subprograms: every byte of
// every subprogram is in a FUNC, every FUNC is code of a subprogram, in
// address order and without overlap. It returns a row of the table.
func checkFuncs(t *testing.T, s *symFile, tr *truth, l *layout) string {
	t.Helper()
	order := newDiffs(t, "FUNC records out of order, overlapping or outside of executable sections")
	for i, f := range s.funcs {
		if i > 0 && f.lo < s.funcs[i-1].hi || !l.live(f.lo+l.load) || !l.live(f.hi-1+l.load) {
			order.add("%#x–%#x %s", f.lo, f.hi, f.name)
		}
	}
	order.report()

	missing := newDiffs(t, "ranges of subprograms not covered by FUNC records")
	var extent []span // of all subprograms
	i := 0
	for _, r := range tr.ranges {
		extent = extend(extent, r.span)
		for i < len(s.funcs) && s.funcs[i].hi <= r.lo {
			i++
		}
		got := uint64(0)
		for k := i; k < len(s.funcs) && s.funcs[k].lo < r.hi; k++ {
			got += min(s.funcs[k].hi, r.hi) - max(s.funcs[k].lo, r.lo)
		}
		if got < r.hi-r.lo {
			missing.add("%#x–%#x: %d of %d bytes, DIE %#x %s", r.lo, r.hi, got, r.hi-r.lo, r.die, r.name)
		}
	}
	missing.report()

	invented := newDiffs(t, "FUNC records that are no code of a subprogram")
	i = 0
	for _, f := range s.funcs {
		for i < len(extent) && extent[i].hi <= f.lo {
			i++
		}
		if i == len(extent) || extent[i].lo > f.lo || extent[i].hi < f.hi {
			invented.add("%#x–%#x %s", f.lo, f.hi, f.name)
		}
	}
	invented.report()
	bytes, covered := common(extent, s.funcs)
	return fmt.Sprintf("%11d %10d %10d", tr.subprograms, bytes, covered)
}

// common counts the bytes of code, and those of them that are in funcs.
func common(code []span, funcs []symFunc) (bytes, covered uint64) {
	i := 0
	for _, c := range code {
		bytes += c.hi - c.lo
		for i < len(funcs) && funcs[i].hi <= c.lo {
			i++
		}
		for k := i; k < len(funcs) && funcs[k].lo < c.hi; k++ {
			covered += min(funcs[k].hi, c.hi) - max(funcs[k].lo, c.lo)
		}
	}
	return bytes, covered
}

// extend adds a span that begins behind those before to a list of disjoint
// ones.
func extend(list []span, s span) []span {
	if n := len(list) - 1; n >= 0 && s.lo <= list[n].hi {
		list[n].hi = max(list[n].hi, s.hi)
		return list
	}
	return append(list, s)
}
