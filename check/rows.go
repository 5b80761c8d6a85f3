package check

import (
	"cmp"
	"debug/dwarf"
	"fmt"
	"io"
	"slices"
)

// lineRun is the code [lo, hi) of one row of a line table: addresses of the
// ELF file, file a number of pathTable.
type lineRun struct {
	lo, hi     uint64
	line, file uint32
}

// unitLines is the line table of a unit: runs by address, without overlaps,
// and the numbers of its files.
type unitLines struct {
	runs  []lineRun
	files []uint32
}

// lines runs the line number program of a unit, by debug/dwarf. Sequences
// that do not begin in code are of discarded functions: of a sequence all
// addresses are in one section, so its first row decides.
func (d *dwarfData) lines(u *unitHeader, root *dwarf.Entry, code ranges, paths *pathTable) (t unitLines, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = recovered("debug/dwarf", r)
		}
	}()
	off, ok := root.Val(dwarf.AttrStmtList).(int64)
	if !ok {
		return t, nil
	}
	compDir, _ := root.Val(dwarf.AttrCompDir).(string)
	header, err := d.lineHeader(uint64(off), len(compDir))
	if err != nil {
		return t, err
	}
	r, err := d.LineReader(root)
	if err != nil || r == nil {
		return t, err
	}
	ids := fileNumbers{paths: paths, ids: map[*dwarf.LineFile]uint32{}}
	for i, f := range r.Files() {
		if i < len(header.files) && f != nil {
			t.files = append(t.files, ids.add(f, header.files[i].path(compDir)))
		} else {
			t.files = append(t.files, ids.of(f))
		}
	}
	runs, err := readRuns(r, code, &ids)
	t.runs = flatten(runs)
	return t, err
}

// fileNumbers gives the files of one line table their numbers of pathTable.
type fileNumbers struct {
	paths *pathTable
	ids   map[*dwarf.LineFile]uint32
}

// add numbers a file that has a path.
func (n *fileNumbers) add(f *dwarf.LineFile, path string) uint32 {
	id := uint32(anyPath)
	if path != "" {
		id = n.paths.id(path)
	}
	n.ids[f] = id
	return id
}

// of is the number of a file of a table before version 5, to which debug/dwarf gives its
// whole path, or of one that the program itself defines.
func (n *fileNumbers) of(f *dwarf.LineFile) uint32 {
	if f == nil {
		return anyPath
	}
	if id, ok := n.ids[f]; ok {
		return id
	}
	return n.add(f, f.Name)
}

// readRuns turns the rows into runs. Of rows at one address the last holds;
// where addresses go back, a new run of rows begins.
func readRuns(r *dwarf.LineReader, code ranges, ids *fileNumbers) (runs []lineRun, err error) {
	var e dwarf.LineEntry
	var last lineRun // open since last.lo
	open, dead := false, false
	begins := true // the next row is the first of a sequence
	file, fileID := (*dwarf.LineFile)(nil), uint32(anyPath)
	for {
		if err := r.Next(&e); err == io.EOF {
			return runs, nil
		} else if err != nil {
			return runs, fmt.Errorf("debug/dwarf: %w", err)
		}
		if begins {
			dead, begins = !code.contains(e.Address), false
		}
		if open && e.Address > last.lo && !dead {
			last.hi = e.Address
			runs = append(runs, last)
		}
		open = !e.EndSequence
		if e.EndSequence {
			begins = true
			continue
		}
		if e.File != file {
			file, fileID = e.File, ids.of(e.File)
		}
		last = lineRun{lo: e.Address, line: uint32(min(uint64(e.Line), 1<<32-1)), file: fileID}
	}
}

// flatten sorts runs and removes overlaps: the one that begins first holds.
func flatten(runs []lineRun) []lineRun {
	slices.SortStableFunc(runs, func(a, b lineRun) int { return cmp.Compare(a.lo, b.lo) })
	out, pos := runs[:0], uint64(0)
	for _, r := range runs {
		if r.hi <= pos {
			continue
		}
		r.lo = max(r.lo, pos)
		pos = r.hi
		out = append(out, r)
	}
	return out
}

// from is the first run that ends above addr.
func (t *unitLines) from(addr uint64) []lineRun {
	i, _ := slices.BinarySearchFunc(t.runs, addr, func(r lineRun, a uint64) int {
		if r.hi <= a {
			return -1
		}
		return 1
	})
	return t.runs[i:]
}

// code is where the runs are.
func (t *unitLines) code() (r ranges) {
	for _, x := range t.runs {
		if n := len(r); n > 0 && r[n-1].hi == x.lo {
			r[n-1].hi = x.hi
		} else {
			r = append(r, addrRange{x.lo, x.hi})
		}
	}
	return r
}

// file is the number of a file of the table.
func (t *unitLines) file(n int64) uint32 {
	if n < 0 || n >= int64(len(t.files)) {
		return anyPath
	}
	return t.files[n]
}
