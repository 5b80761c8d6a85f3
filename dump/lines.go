package dump

import (
	"cmp"
	"sort"

	"symkit/dump/dwarfx"
	"symkit/elfx"
	"symkit/emit"
)

// readLines gives every function its lines and inlined calls. The lines are
// those of the unit that describes the function. Functions that only the symbol
// table and a line table know are added.
func (d *dumper) readLines() error {
	d.names.wantNone() // but what is inlined
	groups := d.lineGroups()
	claimed := newClaims(d.bare, groups)
	callErrs := make([]error, len(d.units))
	err := d.each(len(groups), func() func(int) error {
		x := d.newLineReader()
		return func(i int) error {
			g := &groups[i]
			if !x.read(g) {
				return nil
			}
			for _, ui := range g.units {
				u := d.units[ui]
				x.files.reset(u.compDir)
				x.lines.attach(u, x.table.Rows)
				x.calls.attach(u)
				callErrs[ui] = x.calls.err
			}
			x.files.reset(d.units[g.owner].compDir)
			if claimed.claim(x, i) {
				x.lines.lines.give(elfx.Elements[emit.Line](g.own))
			}
			return nil
		}
	})
	if err != nil {
		return err
	}
	d.lineLosses(groups, callErrs)
	return d.addBare(claimed)
}

// lineLosses records the damage in line programs and inlined calls, in the order of the units.
func (d *dumper) lineLosses(groups []lineGroup, callErrs []error) {
	lineErrs := make([]error, len(d.units))
	share := &d.m.Stats.LineShare
	for i := range groups {
		g := &groups[i]
		lineErrs[g.owner] = g.err
		from := d.units[g.owner].lines.LineOff
		share.All += g.size
		share.add(rest(g.err, from, from+g.size), d.inDWARF(g.err))
	}
	if d.line.err != nil {
		share.add(max(share.All, 1), d.line.err)
	}
	for i, u := range d.units {
		d.m.Stats.CallShare.All += uint64(u.callCount)
		d.m.Stats.CallShare.add(uint64(u.lostCalls), d.inDWARF(callErrs[i]))
	}
	for i := range d.units {
		d.dwarfLoss(cmp.Or(lineErrs[i], callErrs[i]))
	}
}

// lineReader is what one goroutine needs to make the lines and inlined calls of units.
type lineReader struct {
	d     *dumper
	table *dwarfx.LineTable
	files *unitFiles
	lines liner
	calls inliner
}

func (d *dumper) newLineReader() *lineReader {
	table := new(dwarfx.LineTable)
	files := &unitFiles{d: d, table: table}
	return &lineReader{d: d, table: table, files: files, lines: liner{d: d, files: files}, calls: inliner{d: d, files: files}}
}

// read reads the line program of a group. It returns false if a limit keeps the program from
// being read.
func (x *lineReader) read(g *lineGroup) bool {
	if g.err != nil {
		return false
	}
	owner := x.d.units[g.owner].lines
	g.err = owner.Data().ReadLines(owner, x.table)
	x.files.forget()
	return true
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
// at lo, if there is one. Without files, lines have the line table's numbers of files.
func (d *dumper) clipLines(lines []emit.Line, lo, hi uint64, rows []dwarfx.LineRow, files *unitFiles) []emit.Line {
	first := len(lines)
	for i := 0; i < len(rows)-1 && rows[i].Addr < hi; i++ {
		r := rows[i]
		begin, end := max(r.Addr, lo), min(rows[i+1].Addr, hi)
		if r.File == dwarfx.EndOfCode || begin >= end {
			continue
		}
		file, begin := r.File, begin-d.bias
		if files != nil {
			file = files.id(r.File)
		}
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
