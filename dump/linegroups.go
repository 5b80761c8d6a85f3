package dump

import (
	"cmp"
	"fmt"
	"slices"

	"symkit/dump/dwarfx"
	"symkit/internal/limits"
)

// lineGroup is the units that name the same line program: a unit with its type units, the
// partial units of dwz, the units of one assembler file. The program is read once for all of
// them.
type lineGroup struct {
	owner int    // index of the unit to read the program as; its directory is where files are
	units []int  // indices of the units with functions, ascending
	size  uint64 // of the program, in bytes
	own   []byte // bytes of the program, if they may be written over after the program was read
	err   error  // why the program is not read, or was not read to its end
}

// lineGroups returns the groups whose rows something needs, in the order of the sizes of their
// programs: nobody waits long for the last ones if the largest come first. Functions need the
// rows of their unit; bare functions need the rows of all units.
func (d *dumper) lineGroups() []lineGroup {
	index := map[dwarfx.LineKey]int{}
	var groups []lineGroup
	for i, u := range d.units {
		at, known := 0, false
		if u.lines.HasLines {
			key := u.lines.LineKey()
			if at, known = index[key]; !known {
				index[key] = len(groups)
			}
		}
		if !known {
			at = len(groups)
			groups = append(groups, lineGroup{owner: i, size: u.lines.Data().LineSize(u.lines)})
		}
		d.join(&groups[at], i)
	}

	groups = slices.DeleteFunc(groups, func(g lineGroup) bool { return len(g.units) == 0 && (len(d.bare) == 0 || g.size == 0) })
	d.limitLines(groups)
	d.ownLines(groups)
	slices.SortStableFunc(groups, func(a, b lineGroup) int { return cmp.Compare(b.size, a.size) })
	return groups
}

// join adds unit i to a group. A type unit may lack the directory that names of files are
// relative to, so it is the owner only of a group of type units.
func (d *dumper) join(g *lineGroup, i int) {
	if d.units[g.owner].lines.IsType() && !d.units[i].lines.IsType() {
		g.owner = i
	}
	if len(d.units[i].funcs) > 0 {
		g.units = append(g.units, i)
	}
}

// limitLines marks the groups whose programs are not read because other programs, which
// overlap with them, have used the bytes of .debug_line too often.
func (d *dumper) limitLines(groups []lineGroup) {
	left := map[*dwarfx.Data]uint64{}
	for i := range groups {
		g := &groups[i]
		u := d.units[g.owner].lines
		dw := u.Data()
		if _, ok := left[dw]; !ok {
			left[dw] = uint64(len(dw.Line))*min(limits.LineSharing.Max(0), 1<<24) + 1<<20
		}
		if g.size > left[dw] {
			g.err = fmt.Errorf(".debug_line+%#x: %w", u.LineOff, limits.LineSharing.Exceeded(0))
			g.units = nil
			continue
		}
		left[dw] -= g.size
	}
}

// ownLines finds the programs whose bytes may be written over after they were read. Lines take
// about as much memory as the program that tells them.
func (d *dumper) ownLines(groups []lineGroup) {
	var data []byte
	if s := d.img.DWARF().Section(".debug_line"); s != nil {
		data = s.Detach()
	}

	const begin = 12 // bytes that are read of what is no table, too
	var tables []lineTable
	for i := range groups {
		u := d.units[groups[i].owner].lines
		if u.Data() == d.dw && u.HasLines && u.LineOff < uint64(len(data)) {
			tables = append(tables, lineTable{i, u.LineOff, u.LineOff + max(groups[i].size, begin)})
		}
	}

	for _, t := range apart(tables) {
		if t.to <= uint64(len(data)) {
			groups[t.group].own = data[t.from:t.to]
		}
	}
}

// lineTable is where the line program of a group lies in .debug_line.
type lineTable struct {
	group    int
	from, to uint64
}

// apart returns the tables that share no bytes with others, in the order in which they lie.
func apart(tables []lineTable) (alone []lineTable) {
	slices.SortFunc(tables, func(a, b lineTable) int { return cmp.Compare(a.from, b.from) })
	end := uint64(0) // of those before
	for i, t := range tables {
		if t.from >= end && (i+1 == len(tables) || t.to <= tables[i+1].from) {
			alone = append(alone, t)
		}
		end = max(end, t.to)
	}
	return alone
}
