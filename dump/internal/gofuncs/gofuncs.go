// Package gofuncs reads Go's own tables, which stay in a stripped program.
//
// It takes the records that were made from debug information, and gives the functions of
// Go's tables at other addresses, with their lines and inlined calls. The functions are
// sorted by address and overlap neither each other nor those of debug information.
package gofuncs

import (
	"errors"
	"math"
	"slices"

	"symkit/dump/internal/files"
	"symkit/dump/internal/inlines"
	"symkit/dump/internal/load"
	"symkit/dump/internal/losses"
	"symkit/dump/internal/naming"
	"symkit/dump/internal/record"
	"symkit/elfx"
	"symkit/emit"
	"symkit/internal/bounds"
	"symkit/internal/debuginfo"
	"symkit/internal/dwarfx"
	"symkit/internal/gosym"
	"symkit/internal/limitof"
	"symkit/limits"
	"symkit/located"
)

// Options select the records that Read reads.
type Options struct {
	Code    dwarfx.CodeMap
	Load    uint64 // load address of the module
	Inlines bool
	Limits  limits.Limits
}

// Read returns the functions of Go's tables in f at addresses where known, the records
// made of units, has no function. Names and files get numbers of the module's tables.
// The error is losses.ErrInTurn.
func Read(f *elfx.File, units *load.Units, known []record.Func, sources *files.Table, opt Options) (list []record.Func, lost losses.List, err error) {
	// The units of Go's compiler describe all that Go's tables do.
	if slices.ContainsFunc(units.List, func(u *load.Unit) bool { return u.Language == debuginfo.LangGo }) {
		return nil, lost, nil
	}

	table, section, err := debuginfo.OpenGo(f, opt.Code)
	lost.AddIn(f.Path(), err)
	if table == nil {
		return nil, lost, nil
	}
	if opt.Inlines && !table.HasInlines() && table.Version() >= gosym.Go118 {
		lost.AddIn(f.Path(), &located.Error{Section: section, Err: gosym.ErrModule})
	}

	x := reader{
		path: f.Path(), opt: opt, table: table, known: known, names: units.Names, sources: sources,
		nameNumbers: map[uint32]uint32{}, fileNumbers: map[uint32]uint32{},
		records: bounds.NewRecords(opt.Limits, limitof.UnitRecords, uint64(f.Size())),
	}
	x.inlines.MaxRuns = int(min(opt.Limits.Max(limitof.UnitRecords, uint64(f.Size()))/runMemory, math.MaxInt32))
	bad := 0 // functions side by side that are damaged
	for fn, err := range table.Funcs() {
		if err == nil {
			bad = 0
			err = x.whole(fn)
		} else {
			bad++
		}
		if errors.Is(err, losses.ErrInTurn) {
			return nil, lost, err
		}
		if err != nil {
			x.lost.AddIn(x.path, err)
		}
		if bad == maxBad || errors.Is(err, limits.ErrExceeded) {
			break
		}
	}
	lost.Append(x.lost)
	return x.list, lost, nil
}

// reader makes records of Go's functions.
type reader struct {
	path  string
	opt   Options
	table *gosym.Table
	known []record.Func
	next  int // index in known of the first record that ends above the current function

	names       *naming.Table
	sources     *files.Table
	nameNumbers map[uint32]uint32 // by number in Go's tables
	fileNumbers map[uint32]uint32

	inlines gosym.Inlines // of the current function
	list    []record.Func
	records *bounds.Records
	lost    losses.List
}

// Bytes of memory that the parts of a record take.
const (
	funcMemory = 256
	lineMemory = 40
	callMemory = 40
	nameMemory = 160
	runMemory  = 256 // of gosym.Inlines, with the parts made of it
)

// maxBad is the number of functions side by side that are damaged after which the rest of the table is.
const maxBad = 1 << 12

// whole is function, but leaves f out if the names of its files do not fit.
func (x *reader) whole(f gosym.Func) error {
	before := len(x.list)
	x.sources.Begin()
	err := x.function(f)
	full := x.sources.End()
	if full != nil {
		x.list = x.list[:before]
		return full
	}
	return err
}

// function adds f, clipped to the part before the next known function. It returns an error if the
// functions take more memory than the file may have; then f is left out.
func (x *reader) function(f gosym.Func) error {
	// A function that begins in a known one is left out.
	load := x.opt.Load
	for x.next < len(x.known) && x.known[x.next].Addr+x.known[x.next].Size+load <= f.Entry {
		x.next++
	}
	end := f.End
	if x.next < len(x.known) {
		end = min(end, x.known[x.next].Addr+load)
	}
	if f.Entry < load || f.Entry >= end {
		return nil
	}

	name := x.table.Name(f.Name)
	if err := x.records.Take(1, funcMemory+len(name)); err != nil {
		return err
	}
	out := record.Func{Addr: f.Entry - load, Size: end - f.Entry, Name: string(name)}
	for l, err := range x.table.Lines(f) {
		if err != nil {
			x.lost.AddIn(x.path, err)
			break
		}
		l.End = min(l.End, end)
		if l.File != gosym.Unknown && l.Start < l.End {
			if err := x.records.Take(1, lineMemory); err != nil {
				return err
			}
			out.Lines = x.line(out.Lines, l)
		}
	}

	if x.opt.Inlines {
		out.Calls = x.calls(f, end)
		if err := x.records.Take(len(out.Calls.List)+len(out.Calls.Ranges), callMemory); err != nil {
			return err
		}
	}
	x.list = append(x.list, out)
	return nil
}

// line appends a line, or extends the last one.
func (x *reader) line(lines []emit.Line, l gosym.Line) []emit.Line {
	file, addr, size := x.file(l.File), l.Start-x.opt.Load, l.End-l.Start
	n := len(lines) - 1
	if n >= 0 {
		last := &lines[n]
		if last.File == file && last.Line == l.Line && last.Addr+uint64(last.Size) == addr && uint64(last.Size)+size < 1<<32 {
			last.Size += uint32(size)
			return lines
		}
	}

	for part := range emit.Split(addr, size) {
		lines = append(lines, emit.Line{Addr: part.Addr, Size: part.Size, Line: l.Line, File: file})
	}
	return lines
}

// calls returns the inlined calls of f below end.
func (x *reader) calls(f gosym.Func, end uint64) (calls inlines.Calls) {
	err := x.table.Inlines(f, &x.inlines)
	if err != nil {
		x.lost.AddIn(x.path, err)
		return calls
	}

	// A call without code below end is left out.
	for c := range x.inlines.Nested {
		from := uint32(len(calls.Ranges))
		for _, r := range x.inlines.Ranges[c.First:c.Last] {
			r.Hi = min(r.Hi, end)
			if r.Lo < r.Hi {
				calls.Ranges = append(calls.Ranges, dwarfx.Range(r))
			}
		}
		to := uint32(len(calls.Ranges))
		if from == to {
			continue
		}
		calls.List = append(calls.List, dwarfx.Inline{
			Depth: c.Depth, CallLine: c.Line, CallFile: x.file(c.File), Origin: x.name(c.Name),
			Ranges: dwarfx.Span{From: from, To: to},
		})
	}
	return calls
}

// file returns the number of file n of Go's tables.
func (x *reader) file(n uint32) uint32 {
	number, known := x.fileNumbers[n]
	if !known {
		name := []byte(files.Unknown)
		if n != gosym.Unknown {
			name = files.AppendPath(nil, nil, nil, x.table.File(n))
		}
		number = x.sources.Number(name)
		x.fileNumbers[n] = number
	}
	return number
}

// name returns the number of name n of Go's tables.
func (x *reader) name(n uint32) uint32 {
	number, known := x.nameNumbers[n]
	if !known {
		name := x.table.Name(n)
		if x.records.Take(1, nameMemory+len(name)) != nil {
			name = nil // the function is left out
		}
		number = x.names.Add(string(name))
		x.nameNumbers[n] = number
	}
	return number
}
