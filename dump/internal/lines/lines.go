// Package lines gives functions their lines.
//
// It takes the FUNC ranges of units and gives the rows of line tables that lie in the
// ranges. The lines of a function ascend and do not overlap. They are those of the
// unit that describes the function: where identical code is folded, another unit's
// line table may have another source for the same address. A function that no unit
// describes has the lines of the first line table that has a row for it.
package lines

import (
	"slices"
	"sort"

	"symkit/dump/internal/files"
	"symkit/dump/internal/funcs"
	"symkit/dump/internal/load"
	"symkit/emit"
	"symkit/internal/dwarfx"
	"symkit/internal/mem"
)

// Reader reads the line tables of groups, one after the other, for one goroutine.
type Reader struct {
	// Files gives the files of the current unit their numbers.
	Files *files.OfUnit

	load  uint64 // load address, subtracted from addresses
	table dwarfx.LineTable
	pay   func(bytes uint64) error // counts the memory of the group
	owed  uint64                   // bytes of lines that were not paid for yet
	at    int                      // index of a row at or below the next function
	// The rows [from, to) of the last result of EndOf, up to the one that ends the sequence.
	from, to int
	arena    mem.Arena[emit.Line]
}

// NewReader returns a Reader that numbers files in t. Addresses of lines are
// relative to load, the module's load address.
func NewReader(t *files.Table, load uint64) *Reader {
	return &Reader{Files: files.NewOfUnit(t), load: load}
}

// Open reads the line table of g. The rows before damage can be used; the error is in
// g.Err. Open returns false if a limit forbids reading the table. pay is called with the bytes of
// memory that the table takes, and the lines made of it; after an error of pay there are none.
func (r *Reader) Open(g *Group, units []*load.Unit, pay func(bytes uint64) error) bool {
	if g.Err != nil {
		return false
	}
	r.pay, r.owed, r.table.Pay = pay, 0, pay
	owner := units[g.Owner].Lines
	g.Err = owner.Data().ReadLines(owner, &r.table)
	r.Files.Open(&r.table)
	return true
}

// Fork returns a Reader of the group that r has opened, for another goroutine, which is used before r
// opens another group.
func (r *Reader) Fork(t *files.Table) *Reader {
	f := NewReader(t, r.load)
	f.table, f.pay = r.table, r.pay
	f.Files.Open(&f.table)
	return f
}

// Start begins the functions of u, a unit of the group.
func (r *Reader) Start(u *load.Unit) {
	r.Files.SetDir(u.CompDir)
	r.at, r.from, r.to = 0, 0, 0
}

// Of returns the lines of the function [lo, hi), virtual addresses: the rows that
// lie in it, clipped to it. Functions come in the order of their addresses.
func (r *Reader) Of(lo, hi uint64) []emit.Line {
	if len(r.table.Rows) == 0 {
		return nil
	}
	r.at = r.rowAt(r.at, lo)
	lines := r.clip(r.arena.Free(), lo, hi, r.at)
	r.owed += lineMemory * uint64(len(lines))
	if r.owed >= payEach && r.Settle() != nil {
		return nil
	}
	return r.arena.Keep(lines)
}

// lineMemory is what a line takes in memory, payEach the bytes that are paid for together.
const lineMemory, payEach = 24, 1 << 16

// Settle pays for the lines that were not paid for yet.
func (r *Reader) Settle() error {
	err := r.pay(r.owed)
	r.owed = 0
	return err
}

// rowAt returns the index of the row in force at addr: the last row at or below addr,
// or 0. Row from is at or below addr, unless from is 0. The search begins near from,
// since functions side by side have their rows side by side.
func (r *Reader) rowAt(from int, addr uint64) int {
	// Steps of twice the length each find two rows that addr is between.
	rows := r.table.Rows
	lo, step := from, 1
	for lo+step < len(rows) && rows[lo+step].Addr <= addr {
		lo += step
		step *= 2
	}

	above := sort.Search(min(step, len(rows)-lo), func(i int) bool { return rows[lo+i].Addr > addr })
	return lo + max(above-1, 0)
}

// clip appends to lines the rows in [lo, hi), from row first on, which is in force
// at lo if a row is. Adjacent rows with the same file and line become one.
func (r *Reader) clip(lines []emit.Line, lo, hi uint64, first int) []emit.Line {
	from, rows := len(lines), r.table.Rows[first:]
	file, of := uint32(0), uint32(dwarfx.EndOfCode) // the number of file of
	for i := 0; i < len(rows)-1 && rows[i].Addr < hi; i++ {
		row := rows[i]
		begin, end := max(row.Addr, lo), min(rows[i+1].Addr, hi)
		if row.File == dwarfx.EndOfCode || begin >= end {
			continue
		}

		if row.File != of {
			file, of = r.Files.Number(row.File), row.File
		}
		addr, size := begin-r.load, end-begin
		n := len(lines) - 1
		if n >= from {
			last := &lines[n]
			merged := uint64(last.Size) + size
			if last.File == file && last.Line == row.Line && last.Addr+uint64(last.Size) == addr && merged < 1<<32 {
				last.Size = uint32(merged)
				continue
			}
		}
		if size < 1<<32 && size <= ^addr { // as all real code
			lines = append(lines, emit.Line{Addr: addr, Size: uint32(size), Line: row.Line, File: file})
			continue
		}
		for part := range emit.Split(addr, size) {
			lines = append(lines, emit.Line{Addr: part.Addr, Size: part.Size, Line: row.Line, File: file})
		}
	}
	return lines
}

// Covered returns the runs of only, functions by address, for whose first bytes the
// table has rows: one run for each sequence of the table. An open function that a sequence
// begins right after is covered as well.
func (r *Reader) Covered(only []funcs.Func) (runs []dwarfx.Span) {
	rows := r.table.Rows
	if len(rows) == 0 {
		return nil
	}

	// seek skips the functions below the sequence that begins with row next.
	i := 0
	seek := func(next int) {
		i += below(only[i:], rows[next].Addr)
		if i > 0 && reaches(&only[i-1], rows[next].Addr) {
			runs = append(runs, dwarfx.Span{From: uint32(i - 1), To: uint32(i)})
		}
	}
	seek(0)
	for at := 0; i < len(only) && only[i].Lo < rows[len(rows)-1].Addr; {
		at = r.rowAt(at, only[i].Lo)
		if rows[at].File == dwarfx.EndOfCode {
			seek(at + 1)
			continue
		}

		// The run continues to the end of the sequence.
		for rows[at].File != dwarfx.EndOfCode {
			at++
		}
		n := below(only[i:], rows[at].Addr)
		runs = append(runs, dwarfx.Span{From: uint32(i), To: uint32(i + n)})
		i += n
	}
	return runs
}

// Keep returns a table of the rows that Of and EndOf need for functions of only: no more than the
// table has, however many functions there are.
func (r *Reader) Keep(only []funcs.Func) *dwarfx.LineTable {
	var kept []dwarfx.LineRow
	rows, next, at := r.table.Rows, 0, 0 // the rows below next are kept or not needed
	keepEnd := func(before int) {
		end := slices.IndexFunc(rows[next:before], func(r dwarfx.LineRow) bool { return r.File == dwarfx.EndOfCode })
		if end >= 0 && next > 0 {
			kept = append(kept, rows[next+end])
		}
	}
	for i := 0; i < len(only) && next < len(rows); {
		at = r.rowAt(at, only[i].Lo)
		from := max(at, next)
		keepEnd(from)

		// The first row at or above the end of the function ends the row before.
		next = from + 1
		for next < len(rows) && rows[next-1].Addr < only[i].Hi {
			next++
		}
		kept = append(kept, rows[from:next]...)

		// The functions below the last row have all their rows.
		last := rows[next-1].Addr
		i += 1 + sort.Search(len(only)-i-1, func(k int) bool { return only[i+1+k].Hi > last })
	}
	keepEnd(len(rows))
	return r.table.With(kept)
}

// Use is Open for a table that Keep has returned.
func (r *Reader) Use(kept *dwarfx.LineTable, pay func(bytes uint64) error) {
	r.pay, r.owed, r.table = pay, 0, *kept
	r.Files.Open(&r.table)
}

// reaches reports whether an open function that begins below a sequence of rows has its lines
// there: yasm adds the length of a section's first instruction to the addresses of all rows of
// the section, so that no row is at the first function's beginning.
func reaches(f *funcs.Func, sequence uint64) bool {
	const longest = 15 // bytes of an instruction
	return f.Open && f.Lo < sequence && sequence-f.Lo <= longest && sequence < f.Hi
}

// EndOf returns the end of the sequence with the rows of an open function at addr. Functions
// come in the order of their addresses.
func (r *Reader) EndOf(addr uint64) uint64 {
	rows := r.table.Rows
	if len(rows) == 0 {
		return addr
	}
	at := r.rowAt(r.at, addr)
	if rows[at].File == dwarfx.EndOfCode && at+1 < len(rows) {
		at++ // the sequence begins after addr
	}

	// Many functions may share a long sequence.
	if at < r.from || at >= r.to {
		r.from, r.to = at, at
		for rows[r.to].File != dwarfx.EndOfCode {
			r.to++
		}
	}
	return rows[r.to].Addr
}

// below returns how many of list begin below addr.
func below(list []funcs.Func, addr uint64) int {
	return sort.Search(len(list), func(i int) bool { return list[i].Lo >= addr })
}

// Assign gives each of count functions to the group that covers it and has the
// first owner. covered holds the runs that each group covers; the result holds the
// functions that each group is to make the lines of.
//
// Many programs can cover the same functions: bfd writes the address of the copy
// that is kept into the rows of all copies of an inline function. Functions that are
// taken are skipped in one step, however often they are covered.
func Assign(groups []Group, covered [][]dwarfx.Span, count int) [][]int {
	order := make([]int, len(groups))
	for g := range order {
		order[g] = g
	}
	sort.Slice(order, func(i, k int) bool { return groups[order[i]].Owner < groups[order[k]].Owner })

	free := make(freeList, count+1)
	for i := range free {
		free[i] = int32(i)
	}
	assigned := make([][]int, len(groups))
	for _, g := range order {
		for _, run := range covered[g] {
			for i := free.next(int(run.From)); i < int(run.To); i = free.next(i) {
				free[i] = int32(i + 1)
				assigned[g] = append(assigned[g], i)
			}
		}
	}
	return assigned
}

// freeList holds for each number i a number from i on, up to the first free one: i
// itself while i is free (a union-find forest). The last number is always free.
type freeList []int32

// next returns the first free number at or above i.
func (l freeList) next(i int) int {
	for int(l[i]) != i {
		l[i] = l[l[i]] // the next search takes half the steps
		i = int(l[i])
	}
	return i
}
