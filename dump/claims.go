package dump

import (
	"cmp"
	"slices"
	"sync/atomic"

	"symkit/dump/dwarfx"
	"symkit/emit"
)

// claims tells which line program the lines of each bare function come from: of the programs
// with a row for its first byte, the one whose owner comes first. Many programs can have rows
// for the same functions: bfd writes the address of the copy that is kept into the rows of all
// copies of an inline function. So that work does not grow with their product, the programs
// make the lines of the functions that they cover only while few such lines were made; after
// that they note the functions, and the programs that win some are read once more.
type claims struct {
	bare   []fn
	groups []lineGroup
	of     []groupClaims   // of each group
	first  []atomic.Uint32 // of each bare function, the lowest owner that has made its lines, plus 1
	looks  atomic.Int64    // functions that programs have looked at, each as often as they did
}

// groupClaims is what one line program knows of bare functions.
type groupClaims struct {
	made  []claim
	noted []dwarfx.Span     // of the bare functions
	files map[uint32]string // names, by the number that lines in made have
}

// claim is the lines of a bare function. Their files have the numbers of the line table.
type claim struct {
	bare  int // its index
	lines []emit.Line
}

// maxLooks is how many bare functions line programs look at, all together, before they only
// note them. Mostly one or two programs cover each.
func maxLooks(bare int) int64 { return int64(8*bare) + 1<<10 }

func newClaims(bare []fn, groups []lineGroup) *claims {
	return &claims{bare: bare, groups: groups, of: make([]groupClaims, len(groups)), first: make([]atomic.Uint32, len(bare))}
}

// claim finds the bare functions that begin where the table of group g, which x has read, has
// a row. It returns true if the line program need not be read again.
func (c *claims) claim(x *lineReader, g int) (done bool) {
	rows := x.table.Rows
	if len(rows) == 0 {
		return true
	}
	done = true
	i, _ := slices.BinarySearchFunc(c.bare, rows[0].Addr, func(f fn, addr uint64) int { return cmp.Compare(f.lo, addr) })
	for at := 0; i < len(c.bare) && c.bare[i].lo < rows[len(rows)-1].Addr; {
		at = rowAt(rows, at, c.bare[i].lo)
		if rows[at].File == dwarfx.EndOfCode {
			next := rows[at+1].Addr // there is one, above the function
			i += leading(c.bare[i:], func(f *fn) bool { return f.lo < next })
			continue
		}
		end := at
		for rows[end].File != dwarfx.EndOfCode {
			end++
		}
		n := leading(c.bare[i:], func(f *fn) bool { return f.lo < rows[end].Addr })
		if c.looks.Add(int64(n)) <= maxLooks(len(c.bare)) {
			c.makeLines(x, g, i, i+n, rows[at:])
		} else {
			c.of[g].noted = append(c.of[g].noted, dwarfx.Span{From: uint32(i), To: uint32(i + n)})
			done = false
		}
		i, at = i+n, end
	}
	return done
}

// makeLines makes the lines of the bare functions from, up to to, but of those whose lines an
// owner that comes before has made.
func (c *claims) makeLines(x *lineReader, g, from, to int, rows []dwarfx.LineRow) {
	out, owner, at := &c.of[g], uint32(c.groups[g].owner)+1, 0
	for i := from; i < to; i++ {
		if !lower(&c.first[i], owner) {
			continue
		}
		f := &c.bare[i]
		at = rowAt(rows, at, f.lo)
		lines := x.d.clipLines(nil, f.lo, f.hi, rows[at:], nil)
		for k := range lines {
			if out.files == nil {
				out.files = map[uint32]string{}
			}
			if n := lines[k].File; out.files[n] == "" {
				out.files[n] = string(x.files.name(n))
			}
		}
		out.made = append(out.made, claim{i, lines})
	}
}

// lower stores n in v if v is 0 or above n. It returns false if v is below n.
func lower(v *atomic.Uint32, n uint32) bool {
	for {
		old := v.Load()
		if old != 0 && old <= n {
			return old == n
		}
		if v.CompareAndSwap(old, n) {
			return true
		}
	}
}

// winners gives each bare function to the first owner that claims it. The lines of those that
// were only noted are still to be made: wanted has them, by group.
func (c *claims) winners(d *dumper) (taken []bool, lines [][]emit.Line, wanted [][]int) {
	taken, lines, wanted = make([]bool, len(c.bare)), make([][]emit.Line, len(c.bare)), make([][]int, len(c.groups))
	order := make([]int, len(c.groups))
	for g := range order {
		order[g] = g
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(c.groups[a].owner, c.groups[b].owner) })

	free := newFreeList(len(c.bare))
	for _, g := range order {
		of := &c.of[g]
		for _, x := range of.made {
			if free.from(x.bare) != x.bare {
				continue
			}
			free.take(x.bare)
			taken[x.bare], lines[x.bare] = true, d.numberFiles(x.lines, of.files)
			c.bare[x.bare].unit = uint32(c.groups[g].owner)
		}
		for _, span := range of.noted {
			for i := free.from(int(span.From)); i < int(span.To); i = free.from(i) {
				free.take(i)
				taken[i], wanted[g] = true, append(wanted[g], i)
				c.bare[i].unit = uint32(c.groups[g].owner)
			}
		}
		of.made, of.files = nil, nil
	}
	return taken, lines, wanted
}

// numberFiles replaces the numbers that files have in a line table by those of the module's
// table, and joins lines that are one then.
func (d *dumper) numberFiles(lines []emit.Line, names map[uint32]string) []emit.Line {
	out := lines[:0]
	for _, line := range lines {
		line.File = d.files.id([]byte(names[line.File]))
		if n := len(out) - 1; n >= 0 && follows(&out[n], &line) {
			out[n].Size += line.Size
			continue
		}
		out = append(out, line)
	}
	return out
}

// follows tells whether next is about the same line as last, and begins where last ends, so
// that one record can stand for both.
func follows(last, next *emit.Line) bool {
	return last.File == next.File && last.Line == next.Line && last.Addr+uint64(last.Size) == next.Addr &&
		uint64(last.Size)+uint64(next.Size) < 1<<32
}

// readWanted reads the line programs again that functions were noted for and makes their lines.
func (c *claims) readWanted(d *dumper, wanted [][]int, lines [][]emit.Line) error {
	return d.each(len(c.groups), func() func(int) error {
		x := d.newLineReader()
		return func(g int) error {
			if len(wanted[g]) == 0 {
				return nil
			}
			group := c.groups[g]
			group.err = nil // that of the first time, which has been recorded
			x.read(&group)
			x.files.reset(d.units[group.owner].compDir)
			at := 0
			for _, i := range wanted[g] {
				f := &c.bare[i]
				at = rowAt(x.table.Rows, at, f.lo)
				lines[i] = d.clipLines(nil, f.lo, f.hi, x.table.Rows[at:], x.files)
			}
			return nil
		}
	})
}

// addBare makes functions of the bare ones that were claimed.
func (d *dumper) addBare(c *claims) error {
	taken, lines, wanted := c.winners(d)
	if err := c.readWanted(d, wanted, lines); err != nil {
		return err
	}
	bare, count := c.bare, 0
	for i := range taken {
		if taken[i] {
			count++
		}
	}
	if count == 0 {
		return nil
	}
	// Both lists grow, and what is in them moves up, from the end on.
	left, to := len(d.funcs), len(d.funcs)+count
	d.funcs = append(d.funcs, make([]fn, count)...)
	d.m.Funcs = append(d.m.Funcs, make([]Func, count)...)
	for i := len(bare) - 1; i >= 0; i-- {
		if !taken[i] {
			continue
		}
		f := bare[i]
		for ; left > 0 && d.funcs[left-1].lo > f.lo; left-- {
			to--
			d.funcs[to], d.m.Funcs[to] = d.funcs[left-1], d.m.Funcs[left-1]
		}
		n := naming{key: d.syms.at(f.lo)[0].name, linkage: true}
		text, _ := n.readable(&d.demangler)
		f.name = d.names.add(text)
		to--
		d.funcs[to], d.m.Funcs[to] = f, Func{lines: lines[i]}
	}
	d.listFuncs()
	return nil
}

// freeList is a list of numbers below some number, from which numbers are taken.
type freeList []int32 // of each number, one at or above it, itself while it is free

func newFreeList(n int) freeList {
	list := make(freeList, n+1)
	for i := range list {
		list[i] = int32(i)
	}
	return list
}

// take takes number i.
func (l freeList) take(i int) { l[i] = int32(i + 1) }

// from returns the first free number at or above i; without one, the number that all are below.
func (l freeList) from(i int) int {
	for int(l[i]) != i {
		l[i] = l[l[i]]
		i = int(l[i])
	}
	return i
}
