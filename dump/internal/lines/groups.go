package lines

import (
	"cmp"
	"slices"

	"symkit/dump/internal/load"
	"symkit/internal/dwarfx"
	"symkit/internal/limitof"
	"symkit/located"
)

// Group is the units that name one line program: a unit with its type units, the
// partial units of dwz, the units of one assembler file. The program is read once
// for all units of the group.
type Group struct {
	// Owner is the index of the unit that the program is read as. Its directory is
	// the one that names of files are relative to, for functions without a unit.
	Owner int
	Units []int  // indices of the units with functions, ascending
	Size  uint64 // of the program, in bytes of .debug_line
	Err   error  // why the program is not read, or was not read to its end
}

// Groups returns the groups whose rows are needed, largest programs first, so that
// no goroutine waits long for the last ones. Functions need the rows of their
// unit; with all, the rows of units without functions are needed too. byUnit holds
// the functions of each unit.
func Groups(units []*load.Unit, byUnit [][]uint32, all bool) []Group {
	index := map[dwarfx.LineKey]int{}
	var groups []Group
	for i, u := range units {
		// A unit without a line program is a group of its own.
		at, known := 0, false
		if u.Lines.HasLines {
			key := u.Lines.LineKey()
			at, known = index[key]
			if !known {
				index[key] = len(groups)
			}
		}
		if !known {
			at = len(groups)
			groups = append(groups, Group{Owner: i, Size: u.Lines.Data().LineSize(u.Lines)})
		}

		// A type unit may lack the directory that names of files are relative to, so
		// it is the owner only of a group of type units.
		g := &groups[at]
		if units[g.Owner].Lines.IsType() && !u.Lines.IsType() {
			g.Owner = i
		}
		if len(byUnit[i]) > 0 {
			g.Units = append(g.Units, i)
		}
	}

	groups = slices.DeleteFunc(groups, func(g Group) bool { return len(g.Units) == 0 && (!all || g.Size == 0) })
	limit(groups, units)
	slices.SortStableFunc(groups, func(a, b Group) int { return cmp.Compare(b.Size, a.Size) })
	return groups
}

// limit marks the groups whose programs are not read because other programs, which
// overlap with them, have used the bytes of .debug_line too often.
func limit(groups []Group, units []*load.Unit) {
	left := map[*dwarfx.Data]uint64{}
	for i := range groups {
		g := &groups[i]
		u := units[g.Owner].Lines
		data := u.Data()
		_, known := left[data]
		if !known {
			left[data] = uint64(len(data.Line))*min(data.Limits.Max(limitof.LineSharing, 0), 1<<24) + 1<<20
		}
		if g.Size > left[data] {
			g.Err = g.Locate(data.Limits.Exceeded(limitof.LineSharing, 0), units)
			g.Units = nil
			continue
		}
		left[data] -= g.Size
	}
}

// Locate returns an error whose place is the program of g, or without one its unit.
func (g *Group) Locate(err error, units []*load.Unit) error {
	u := units[g.Owner]
	if g.Size == 0 {
		return u.Located(err)
	}
	return &located.Error{Section: ".debug_line", Offset: int(u.Lines.LineOff), Err: err}
}
