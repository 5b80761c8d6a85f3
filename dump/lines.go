package dump

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"symkit/dump/dwarfx"
	"symkit/elfx"
	"symkit/emit"
	"symkit/internal/limits"
)

// readLines gives every function its lines and inlined calls. The lines are
// those of the unit that describes the function. Functions that only the symbol
// table and a line table know are added.
func (d *dumper) readLines() error {
	d.names.wantNone() // but what is inlined
	errs := make([]error, len(d.units))
	bare := d.bare
	shared := d.sharedLines(len(bare) > 0)
	claims := make([][]claim, len(d.units))
	order := d.largestLines()
	spent := d.ownLines()
	err := d.each(len(d.units), func() func(int) error {
		table := new(dwarfx.LineTable)
		files := unitFiles{d: d, table: table}
		lines := liner{d: d, files: &files}
		calls := inliner{d: d, files: &files}
		return func(k int) error {
			i := order[k]
			u := d.units[i]
			if len(u.funcs) == 0 && len(bare) == 0 {
				return nil
			}
			if shared[i] {
				errs[i] = fmt.Errorf(".debug_line+%#x: %w", u.lines.LineOff, limits.LineSharing.Exceeded(0))
				return nil
			}
			errs[i] = u.lines.Data().ReadLines(u.lines, table)
			files.reset(u)
			lines.attach(u, table.Rows)
			calls.attach(u)
			errs[i] = cmp.Or(errs[i], calls.err)
			claims[i] = d.claim(bare, table.Rows, &files)
			lines.lines.give(elfx.Elements[emit.Line](spent[i]))
			return nil
		}
	})
	for _, err := range errs {
		d.dwarfLoss(err)
	}
	d.addBare(bare, claims)
	return err
}

// largestLines returns the units in the order of what their line programs take, largest
// first: nobody waits long for the last ones then.
func (d *dumper) largestLines() []int {
	order, sizes := make([]int, len(d.units)), make([]uint64, len(d.units))
	for i, u := range d.units {
		order[i], sizes[i] = i, u.lines.Data().LineSize(u.lines)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	return order
}

// lineTable is where the line table of a unit lies in .debug_line.
type lineTable struct {
	unit     int
	from, to uint64
}

// ownLines returns for each unit the bytes of its line table, if they can be written over when
// that was read. Lines take about as much memory as what tells them.
func (d *dumper) ownLines() [][]byte {
	var data []byte
	if s := d.img.DWARF().Section(".debug_line"); s != nil {
		data = s.Detach()
	}
	const begin = 12 // bytes that are read of what is no table, too
	var tables []lineTable
	for i, u := range d.units {
		if u := u.lines; u.Data() == d.dw && u.HasLines && u.LineOff < uint64(len(data)) {
			tables = append(tables, lineTable{i, u.LineOff, u.LineOff + max(d.dw.LineSize(u), begin)})
		}
	}
	own := make([][]byte, len(d.units))
	for _, t := range apart(tables) {
		if t.to <= uint64(len(data)) {
			own[t.unit] = data[t.from:t.to]
		}
	}
	return own
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

// sharedLines tells for each unit whether its line program is not read, because
// those before it have used the bytes of .debug_line too often. Units without
// functions do not count, unless all are read.
func (d *dumper) sharedLines(all bool) []bool {
	shared := make([]bool, len(d.units))
	left := map[*dwarfx.Data]uint64{}
	for i, u := range d.units {
		if len(u.funcs) == 0 && !all {
			continue
		}
		dw := u.lines.Data()
		if _, ok := left[dw]; !ok {
			left[dw] = uint64(len(dw.Line))*min(limits.LineSharing.Max(0), 1<<24) + 1<<20
		}
		n := dw.LineSize(u.lines)
		if shared[i] = n > left[dw]; !shared[i] {
			left[dw] -= n
		}
	}
	return shared
}

// liner makes the lines of units.
type liner struct {
	d     *dumper
	files *unitFiles
	lines room[emit.Line]
}

// attach gives the functions of u their share of the rows.
func (x *liner) attach(u *unit, rows []dwarfx.LineRow) {
	if len(rows) == 0 {
		return
	}
	at := 0
	for _, fi := range u.funcs {
		f := &x.d.funcs[fi]
		at = rowAt(rows, at, f.lo)
		x.d.m.Funcs[fi].lines = x.lines.keep(x.d.clipLines(x.lines.free, f.lo, f.hi, rows[at:], x.files))
	}
}

// rowAt returns the index of the row in force at addr, the last at or below it, or 0.
// It looks from a row on that is that of a lower address: near it first, for
// functions side by side have their rows side by side.
func rowAt(rows []dwarfx.LineRow, from int, addr uint64) int {
	lo, step := from, 1 // rows[lo] is not above addr, unless it is the first
	for lo+step < len(rows) && rows[lo+step].Addr <= addr {
		lo += step
		step *= 2
	}
	return lo + max(sort.Search(min(step, len(rows)-lo), func(i int) bool { return rows[lo+i].Addr > addr })-1, 0)
}

// clipLines appends the rows that lie in [lo, hi), clipped to it; adjacent
// ones with the same file and line become one. The first row is the one in force
// at lo, if there is one.
func (d *dumper) clipLines(lines []emit.Line, lo, hi uint64, rows []dwarfx.LineRow, files *unitFiles) []emit.Line {
	first := len(lines)
	for i := 0; i < len(rows)-1 && rows[i].Addr < hi; i++ {
		r := rows[i]
		begin, end := max(r.Addr, lo), min(rows[i+1].Addr, hi)
		if r.File == dwarfx.EndOfCode || begin >= end {
			continue
		}
		file, begin := files.id(r.File), begin-d.bias
		if n := len(lines) - 1; n >= first {
			last := &lines[n]
			merged := uint64(last.Size) + end - d.bias - begin
			if last.File == file && last.Line == r.Line && last.Addr+uint64(last.Size) == begin && merged < 1<<32 {
				last.Size = uint32(merged)
				continue
			}
		}
		for piece := range emit.Pieces(begin, end-d.bias-begin) {
			lines = append(lines, emit.Line{Addr: piece.Addr, Size: piece.Size, Line: r.Line, File: file})
		}
	}
	return lines
}
