package dwarfinfo

import (
	"debug/dwarf"
	"fmt"
	"io"

	"symkit/check/internal/naming"
	"symkit/check/internal/pcs"
	"symkit/check/internal/truth"
)

// Run is the code of one row of a line table. File is a number in naming.Paths.
type Run struct {
	pcs.Range
	Line, File uint32
}

// Lines is the line table of a unit: its runs by address, without overlaps, and the numbers of its
// files in naming.Paths.
type Lines struct {
	runs  []Run
	files []uint32
}

// Lines runs the line number program of a unit, by debug/dwarf. Sequences that do not begin in code
// belong to discarded functions. All addresses of a sequence are in one section, so its first row
// decides.
func (d *Info) Lines(u *Unit, root *dwarf.Entry, code pcs.Set, paths *naming.Paths) (t Lines, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = truth.Recovered("debug/dwarf", r)
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

	// The header gives the paths that debug/dwarf joins wrongly.
	base := header.base(compDir)
	ids := fileNumbers{paths: paths, ids: map[*dwarf.LineFile]uint32{}}
	for i, f := range r.Files() {
		if i < len(header.files) && f != nil {
			t.files = append(t.files, ids.add(f, header.files[i].path(base)))
		} else {
			t.files = append(t.files, ids.of(f))
		}
	}

	runs, err := readRuns(r, code, &ids)
	t.runs = pcs.Disjoint(runs)
	return t, err
}

// fileNumbers maps the files of one line table to their numbers in naming.Paths.
type fileNumbers struct {
	paths *naming.Paths
	ids   map[*dwarf.LineFile]uint32
}

// add numbers a file with the given path, which may be "".
func (n *fileNumbers) add(f *dwarf.LineFile, path string) uint32 {
	id := uint32(naming.AnyPath)
	if path != "" {
		id = n.paths.ID(path)
	}
	n.ids[f] = id
	return id
}

// of returns the number of a file of a table before version 5, to which debug/dwarf gives its whole
// path, or of a file that the program itself defines.
func (n *fileNumbers) of(f *dwarf.LineFile) uint32 {
	if f == nil {
		return naming.AnyPath
	}
	if id, ok := n.ids[f]; ok {
		return id
	}
	return n.add(f, f.Name)
}

// readRuns turns the rows into runs. Of rows at one address the last holds. Where addresses
// decrease, a new list of rows begins.
func readRuns(r *dwarf.LineReader, code pcs.Set, ids *fileNumbers) (runs []Run, err error) {
	var e dwarf.LineEntry
	var last Run // begins at last.Lo, and is open if open is set
	open, dead := false, false
	begins := true // the next row is the first of a sequence
	file, fileID := (*dwarf.LineFile)(nil), uint32(naming.AnyPath)
	for {
		if err := r.Next(&e); err == io.EOF {
			return runs, nil
		} else if err != nil {
			return runs, fmt.Errorf("debug/dwarf: %w", err)
		}

		if begins {
			dead, begins = !code.Contains(e.Address), false
		}

		// The next row ends the open run.
		if open && e.Address > last.Lo && !dead {
			last.Hi = e.Address
			runs = append(runs, last)
		}

		open = !e.EndSequence
		if e.EndSequence {
			begins = true
			continue
		}

		// Consecutive rows mostly have the same file.
		if e.File != file {
			file, fileID = e.File, ids.of(e.File)
		}
		last = Run{Range: pcs.Range{Lo: e.Address}, Line: uint32(min(uint64(e.Line), 1<<32-1)), File: fileID}
	}
}

// From returns the runs from the first that ends above addr.
func (t *Lines) From(addr uint64) []Run { return t.runs[pcs.After(t.runs, addr):] }

// Code returns the addresses that the runs cover.
func (t *Lines) Code() pcs.Set { return pcs.SetOf(t.runs) }

// File returns the number in naming.Paths of file n of the table.
func (t *Lines) File(n int64) uint32 {
	if n < 0 || n >= int64(len(t.files)) {
		return naming.AnyPath
	}
	return t.files[n]
}
