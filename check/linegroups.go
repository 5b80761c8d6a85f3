package check

import (
	"context"
	"debug/dwarf"
	"fmt"
	"sync/atomic"

	"symkit/internal/limits"
	"symkit/internal/wire"
)

// lineGroup is the units that debug/dwarf makes the same line table for. The line program is
// run once for all of them.
type lineGroup struct {
	units  []int // indices of dwarfData.units, ascending
	shared bool  // the program is not read: too many others overlap with it
}

// lineKey tells line tables apart.
type lineKey struct {
	off      uint64
	compDir  string
	addrSize uint8
}

// groupLines reads the root of each unit, and puts units together that have the same line
// program. Type units hold no code, so nobody reads their lines. It marks the groups whose
// programs are not read because other programs, which overlap with them, have used the bytes
// of .debug_line too often.
//
// A unit's bases are found, and kept in it, when a reader first comes there. Since
// that has happened here, the readers of several goroutines only read.
func (d *dwarfData) groupLines() {
	r := d.Reader()
	index := map[lineKey]int{}
	left := uint64(len(d.line))*min(limits.LineSharing.Max(0), 1<<24) + 1<<20
	for i := range d.units {
		u := &d.units[i]
		key, ok := d.lineKey(r, u)
		switch {
		case u.kind == utType || u.kind == utSplitType:
			continue
		case !ok:
			d.groups = append(d.groups, lineGroup{units: []int{i}})
			continue
		}
		if g, known := index[key]; known {
			d.groups[g].units = append(d.groups[g].units, i)
			continue
		}

		index[key] = len(d.groups)
		g := lineGroup{units: []int{i}}
		n := d.lineSize(key.off)
		if g.shared = n > left; !g.shared {
			left -= n
		}
		d.groups = append(d.groups, g)
	}
}

// lineSize is the number of bytes of the line program at off.
func (d *dwarfData) lineSize(off uint64) uint64 {
	c := wire.New(".debug_line", d.line, d.bigEndian)
	c.Seek(off)
	n, _ := c.InitialLength()
	return min(n, uint64(c.Len()))
}

// lineKey reads the root of a unit; false for a unit without a line program.
func (d *dwarfData) lineKey(r *dwarf.Reader, u *unitHeader) (key lineKey, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			_ = recovered("debug/dwarf", p) // it will say so again where the unit is read
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

// noteShared: see groupLines.
const noteShared = "line programs that overlap with many others"

// groupWork is what is known of a group while its units are compared.
type groupWork struct {
	*lineGroup
	read   bool // the line table, or why it cannot be read
	lines  unitLines
	err    error
	others bool // FUNC records without a function in the DWARF were compared with the table
}

// group compares what the units of one group describe.
func (w *worker) group(ctx context.Context, g *lineGroup, done *atomic.Int64) error {
	r := w.r
	work := groupWork{lineGroup: g}
	for k, i := range g.units {
		last := k == len(g.units)-1
		if err := w.unit(ctx, &r.dw.units[i], &work, last); err != nil {
			return err
		}
		if err := r.tooMuch(); err != nil {
			return err
		}
		r.progress("functions, lines, inlined calls", int(done.Add(1)), len(r.dw.units))
	}
	return nil
}

// table returns the line table of the group, which it reads as that of a unit; nil where that
// cannot be done, which it notes once.
func (w *worker) table(g *groupWork, u *unitHeader, root *dwarf.Entry) *unitLines {
	r := w.r
	if !g.read {
		g.read = true
		if g.shared {
			g.err = fmt.Errorf("%s: %w", noteShared, limits.LineSharing.Exceeded(0))
			w.hideLines(g.err.Error())
			return nil
		}
		if g.lines, g.err = r.dw.lines(u, root, r.code, r.paths); g.err != nil {
			w.hideLines(fmt.Sprintf("line table of the unit at %#x: %v", u.off, g.err))
		}
	}
	if g.err != nil {
		return nil
	}
	return &g.lines
}

// hideLines says why a line table cannot be read, which inlined calls need for the names of
// their files.
func (w *worker) hideLines(why string) {
	for _, check := range []string{CheckLines, CheckInlines} {
		w.r.hide(check, why)
	}
	w.r.c.unverified(CheckLines, 0, why)
}
