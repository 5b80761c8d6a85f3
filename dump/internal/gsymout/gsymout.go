// Package gsymout writes the records of a module as GSYM.
//
// It takes the records, which give each function's lines and inlined calls, and the symbols without a function. A GSYM
// file has all of these as functions, at virtual addresses.
package gsymout

import (
	"io"

	"symkit/dump/internal/naming"
	"symkit/dump/internal/record"
	"symkit/emit"
	"symkit/internal/dwarfx"
	"symkit/lookup/gsym"
)

// Module writes a module with a build id, whose byte order is the machine's. A symbol without a size ends where code
// does, or at the next function or symbol.
func Module(out io.Writer, buildID []byte, bigEndian bool, code dwarfx.CodeMap, m *record.Module) error {
	x := writer{
		Writer: gsym.NewWriter(buildID, bigEndian), m: m,
		files: make([]uint32, len(m.Files.Names)), origins: make([]gsym.String, len(m.Origins.Texts)),
	}
	publics := 0
	for i := range m.Funcs {
		f := &m.Funcs[i]
		for publics < len(m.Publics) && m.Publics[publics].Addr < f.Addr {
			x.public(publics, f.Addr, code)
			publics++
		}
		x.function(f)
	}
	for ; publics < len(m.Publics); publics++ {
		x.public(publics, ^uint64(0), code)
	}
	_, err := x.WriteTo(out)
	return err
}

// writer gives records to a Writer.
type writer struct {
	*gsym.Writer
	m       *record.Module
	files   []uint32      // by place: the number in the Writer, or 0
	origins []gsym.String // by place: the text in the Writer, or 0
	end     uint64        // of the last function or symbol, as its record has it

	// Of the current function.
	lines  []gsym.Line
	calls  []gsym.Call
	ranges []gsym.Range
}

// public adds the symbol with an index, which ends below the next function.
func (x *writer) public(i int, next uint64, code dwarfx.CodeMap) {
	p := &x.m.Publics[i]
	if p.Addr < x.end {
		return
	}
	if i+1 < len(x.m.Publics) {
		next = min(next, x.m.Publics[i+1].Addr)
	}
	addr := x.m.Load + p.Addr
	size := uint64(x.m.PublicSizes[i])
	if size == 0 {
		size = code.EndOf(addr) - addr
	}
	x.add(&gsym.Func{Addr: addr, Size: min(size, next-p.Addr, maxSize), Name: x.String(string(p.Name))})
	x.end = p.Addr + 1
}

// maxSize is the largest size of a function.
const maxSize = 1<<32 - 1

// function adds a function, or the parts of one that is too large.
func (x *writer) function(f *record.Func) {
	if f.Addr < x.end {
		return
	}
	name := x.String(f.Name)
	for part := range emit.Split(f.Addr, f.Size) {
		lo, hi := part.Addr, part.Addr+uint64(part.Size)
		x.readLines(f.Lines, lo, hi)
		x.readCalls(f, x.m.Load+lo, x.m.Load+hi)
		x.add(&gsym.Func{Addr: x.m.Load + lo, Size: hi - lo, Name: name, Lines: x.lines, Calls: x.calls})
	}
	x.end = f.Addr + f.Size
}

// add adds a function that may have no name.
func (x *writer) add(f *gsym.Func) {
	if f.Name == 0 {
		f.Name = x.String(naming.Omitted)
	}
	x.Func(f)
}

// readLines fills in the rows of [lo, hi). Where no record has the code, a row without a line begins.
func (x *writer) readLines(records []emit.Line, lo, hi uint64) {
	x.lines = x.lines[:0]
	end, file := lo, uint32(0)
	for i := range records {
		l := &records[i]
		if l.Addr < lo || l.Addr >= hi {
			continue
		}
		if l.Addr > end && len(x.lines) > 0 {
			x.lines = append(x.lines, gsym.Line{Addr: x.m.Load + end, File: file})
		}
		file = x.file(l.File)
		x.lines = append(x.lines, gsym.Line{Addr: x.m.Load + l.Addr, File: file, Line: l.Line})
		end = l.Addr + uint64(l.Size)
	}
	if end < hi && len(x.lines) > 0 {
		x.lines = append(x.lines, gsym.Line{Addr: x.m.Load + end, File: file})
	}
}

// readCalls fills in the inlined calls, as far as they are in [lo, hi).
func (x *writer) readCalls(f *record.Func, lo, hi uint64) {
	x.calls, x.ranges = x.calls[:0], x.ranges[:0]
	for i := range f.Calls.List {
		c := &f.Calls.List[i]
		from := len(x.ranges)
		for _, r := range f.Calls.Ranges[c.Ranges.From:c.Ranges.To] {
			r.Lo, r.Hi = max(r.Lo, lo), min(r.Hi, hi)
			if r.Lo < r.Hi {
				x.ranges = append(x.ranges, gsym.Range(r))
			}
		}
		if len(x.ranges) > from {
			x.calls = append(x.calls, gsym.Call{Depth: c.Depth, Name: x.origin(c.Origin), File: x.file(c.CallFile), Line: c.CallLine, Ranges: x.ranges[from:]})
		}
	}
}

// file returns the Writer's number of a file.
func (x *writer) file(number uint32) uint32 {
	place := x.m.Files.Place[number]
	if x.files[place] == 0 {
		x.files[place] = x.File(x.m.Files.Names[place])
	}
	return x.files[place]
}

// origin returns the Writer's text of the name of an inlined function.
func (x *writer) origin(number uint32) gsym.String {
	place := x.m.Origins.Place[number]
	if x.origins[place] == 0 {
		x.origins[place] = x.String(x.m.Origins.Texts[place])
	}
	return x.origins[place]
}
