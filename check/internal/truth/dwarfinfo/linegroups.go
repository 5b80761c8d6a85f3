package dwarfinfo

import (
	"sync"

	"symkit/check/internal/naming"
	"symkit/check/internal/pcs"
	"symkit/internal/limitof"
	"symkit/internal/wire"
	"symkit/limits"
)

// LineGroup is the units that have the same line table. The line program is run when the first unit
// needs it, and kept while units of the group are read.
type LineGroup struct {
	Unit   *Unit // the first unit
	Shared bool  // the program is not read, because too many others overlap with it

	users int // units that are being read; guarded by stream.mu

	mu    sync.Mutex
	read  bool // lines or err is set
	again bool // the program has run twice: its table stays
	reads int
	lines Lines
	err   error
}

// groups are the LineGroups of a file. They are guarded by stream.mu.
type groups struct {
	list  []*LineGroup
	index map[lineKey]*LineGroup
	left  uint64  // bytes of line programs that may still be run
	spare [][]Run // memory of tables that are no longer used
}

// lineKey identifies a line table.
type lineKey struct {
	off      uint64
	compDir  string
	addrSize uint8
}

func (g *groups) begin(size int, l limits.Limits) {
	g.index = map[lineKey]*LineGroup{}
	g.left = uint64(size)*min(l.Max(limitof.LineSharing, 0), 1<<24) + 1<<20
}

// add finds the group of a unit. A group is marked as shared if other programs, which overlap with
// its program, have used the bytes of .debug_line too often.
func (g *groups) add(u *Unit) {
	key := lineKey{u.lineOff, u.compDir, u.addrSize}
	switch {
	case !u.hasLines:
		u.group = &LineGroup{Unit: u}
		return
	case g.index[key] == nil:
		// The bytes of a line program count once.
		n := u.in.lineSize(key.off)
		group := &LineGroup{Unit: u, Shared: n > g.left}
		if !group.Shared {
			g.left -= n
		}
		g.index[key] = group
		g.list = append(g.list, group)
	}
	u.group = g.index[key]
	u.group.users++
}

// release ends the use of a group by a unit. The last one makes the memory of the
// lines free for another group.
func (g *groups) release(u *Unit) {
	group := u.group
	group.users--
	if group.users > 0 {
		return
	}
	group.mu.Lock()
	defer group.mu.Unlock()
	if !group.again {
		g.spare = append(g.spare, group.lines.runs[:0])
		group.read, group.lines = false, Lines{}
	}
}

// lineSize returns the number of bytes of the line program at off.
func (d *Info) lineSize(off uint64) uint64 {
	c := wire.New(".debug_line", d.line, d.bigEndian)
	c.Seek(off)
	n, _ := c.InitialLength()
	return min(n, uint64(c.Len()))
}

// Group returns the units with the line table of u.
func (u *Unit) Group() *LineGroup { return u.group }

// Unread returns the groups whose lines were not read, after all units were.
func (d *Info) Unread() (list []*LineGroup) {
	for _, g := range d.groups.list {
		if g.reads == 0 {
			list = append(list, g)
		}
	}
	return list
}

// spareRuns returns memory for a line table.
func (d *Info) spareRuns() []Run {
	d.stream.mu.Lock()
	defer d.stream.mu.Unlock()
	n := len(d.groups.spare)
	if n == 0 {
		return nil
	}
	runs := d.groups.spare[n-1]
	d.groups.spare = d.groups.spare[:n-1]
	return runs
}

// Lines returns the line table of the group. first is true for the first call.
func (g *LineGroup) Lines(code pcs.Set, paths *naming.Paths) (t *Lines, first bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.read {
		g.reads++
		g.read, g.again = true, g.reads > 1
		g.lines, g.err = g.Unit.Lines(g.Unit.in.spareRuns(), code, paths)
	}
	return &g.lines, g.reads == 1, g.err
}
