package dwarfinfo

import (
	"debug/dwarf"

	"symkit/check/internal/truth"
	"symkit/internal/wire"
	"symkit/limits"
)

// LineGroup is the units for which debug/dwarf makes the same line table. The line program is run
// once for all of them.
type LineGroup struct {
	Units  []int // indices of Info.Units, ascending
	Shared bool  // the program is not read, because too many others overlap with it
}

// lineKey identifies a line table.
type lineKey struct {
	off      uint64
	compDir  string
	addrSize uint8
}

// groupLines reads the root of each unit, and groups the units by line program. Type units hold no
// code, so their lines are not read. groupLines marks as shared the groups whose programs are not
// read because other programs, which overlap with them, have used the bytes of .debug_line too
// often.
//
// debug/dwarf finds the bases of a unit, and keeps them in the unit, when a reader first comes
// there. Since that has happened here, the readers of several goroutines only read.
func (d *Info) groupLines() {
	r := d.Reader()
	index := map[lineKey]int{}
	left := uint64(len(d.line))*min(d.limits.Max(limits.LineSharing, 0), 1<<24) + 1<<20
	for i := range d.Units {
		u := &d.Units[i]
		key, ok := d.lineKey(r, u)
		switch {
		case u.kind == utType || u.kind == utSplitType:
			continue
		case !ok:
			d.Groups = append(d.Groups, LineGroup{Units: []int{i}})
			continue
		}

		if g, known := index[key]; known {
			d.Groups[g].Units = append(d.Groups[g].Units, i)
			continue
		}

		// The bytes of a line program count once.
		index[key] = len(d.Groups)

		g := LineGroup{Units: []int{i}}
		n := d.lineSize(key.off)
		g.Shared = n > left
		if !g.Shared {
			left -= n
		}
		d.Groups = append(d.Groups, g)
	}
}

// lineSize returns the number of bytes of the line program at off.
func (d *Info) lineSize(off uint64) uint64 {
	c := wire.New(".debug_line", d.line, d.bigEndian)
	c.Seek(off)
	n, _ := c.InitialLength()
	return min(n, uint64(c.Len()))
}

// lineKey reads the root of a unit. It returns false for a unit without a line program.
func (d *Info) lineKey(r *dwarf.Reader, u *Unit) (key lineKey, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			_ = truth.Recovered("debug/dwarf", p) // the error comes again where the unit is read
			ok = false
		}
	}()
	r.Seek(u.root)
	e, err := r.Next()
	if err != nil || e == nil || d.readStrings(e) != nil {
		return key, false
	}

	off, ok := e.Val(dwarf.AttrStmtList).(int64)
	compDir, _ := e.Val(dwarf.AttrCompDir).(string)
	return lineKey{uint64(off), compDir, u.addrSize}, ok
}
