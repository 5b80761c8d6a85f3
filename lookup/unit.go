package lookup

import (
	"sort"

	"symkit/internal/dwarfx"
)

// A unit is decoded into flat slices. Its code is divided at starts: from one start to the next, one scope is
// the innermost. A scope is a function or an inlined call in its parent, and the chain of parents is the answer
// for an address, innermost first, with the row of the line table for its place.

// unit is a decoded unit. It is never changed.
type unit struct {
	err       error    // the damage of the unit, which has what could be read before it
	starts    []uint64 // virtual addresses, ascending
	innermost []int32  // by start: index of scopes, or -1
	scopes    []scope
	funcs     []function
	dies      []dwarfx.Ref // of funcs: those that have code, which are the first
	rows      []dwarfx.LineRow
	places    []dwarfx.Place // of rows
	files     []string       // by number in the line table
	text      int            // bytes of names and paths
	mangled   bool           // a function has a linkage name
}

// scope is a function, or an inlined call.
type scope struct {
	parent int32  // the scope that the call is in; -1 for a function
	fn     uint32 // of unit.funcs
	start  uint64 // virtual address of the first byte
	// file and line are those of the call, with its place.
	file, line uint32
	place      dwarfx.Place
}

// function is a function that has code or is inlined.
type function struct {
	name, linkage, file string
	line                uint32
}

// Sizes in bytes of the elements of a unit's slices, and of the unit itself.
const (
	unitSize     = 250
	startSize    = 8 + 4
	scopeSize    = 40
	functionSize = 56
	dieSize      = 8
	rowSize      = 16 + 8
	fileSize     = 16
)

// bytes returns the memory of the unit.
func (u *unit) bytes() int64 {
	return int64(unitSize + startSize*cap(u.starts) + scopeSize*cap(u.scopes) + functionSize*cap(u.funcs) + dieSize*cap(u.dies) +
		rowSize*cap(u.rows) + fileSize*cap(u.files) + u.text)
}

// scopeAt returns the innermost scope at a virtual address, or -1.
func (u *unit) scopeAt(addr uint64) int32 {
	i := sort.Search(len(u.starts), func(i int) bool { return u.starts[i] > addr }) - 1
	if i < 0 {
		return -1
	}
	return u.innermost[i]
}

// dieAt returns the DIE of the function that has the code at a virtual address, or 0.
func (u *unit) dieAt(addr uint64) dwarfx.Ref {
	at := u.scopeAt(addr)
	if at < 0 {
		return 0
	}
	for u.scopes[at].parent >= 0 {
		at = u.scopes[at].parent
	}
	return u.dies[u.scopes[at].fn]
}

// rowAt returns the index of the row that a virtual address has, or -1, and reports whether the row is of code.
func (u *unit) rowAt(addr uint64) (row int, known bool) {
	row = sort.Search(len(u.rows), func(i int) bool { return u.rows[i].Addr > addr }) - 1
	return row, row >= 0 && u.rows[row].File != dwarfx.EndOfCode
}

// fileAround returns the file of the code that makes an inlined call: Zig's compiler gives the line of
// a call alone. The code is where the function begins, or in the outer call just before the call, or
// else after the call, as dump_syms has it. Without such code the file is dwarfx.NoFile.
func (u *unit) fileAround(depth int, outer, own []dwarfx.Range) uint32 {
	if len(outer) == 0 || len(own) == 0 {
		return dwarfx.NoFile
	}
	at := outer[0].Lo
	switch {
	case depth == 0:
	case own[0].Lo > at:
		at = own[0].Lo - 1
	case own[0].Hi < outer[0].Hi:
		at = own[0].Hi
	}
	row, known := u.rowAt(at)
	if !known {
		return dwarfx.NoFile
	}
	return u.rows[row].File
}

// frames appends the frames of a virtual address.
func (u *unit) frames(dst []Frame, addr uint64) []Frame {
	row, known := u.rowAt(addr)
	at := u.scopeAt(addr)
	if at < 0 && !known {
		return dst
	}

	// The place of the innermost frame is that of the row, the places of the others are those of the calls.
	dst = append(dst, Frame{})
	f := &dst[len(dst)-1]
	if known {
		u.setPlace(f, u.rows[row].File, u.rows[row].Line, u.places[row])
	}
	for at >= 0 {
		s := &u.scopes[at]
		fn := &u.funcs[s.fn]
		f.Name, f.Linkage, f.StartFile, f.StartLine, f.Start = fn.name, fn.linkage, fn.file, fn.line, s.start
		at = s.parent
		if at >= 0 {
			f.Inlined = true
			dst = append(dst, Frame{})
			f = &dst[len(dst)-1]
			u.setPlace(f, s.file, s.line, s.place)
		}
	}
	return dst
}

// setPlace puts a place of the unit into f.
func (u *unit) setPlace(f *Frame, file, line uint32, p dwarfx.Place) {
	if uint64(file) < uint64(len(u.files)) {
		f.File = u.files[file]
	}
	f.Line, f.Column, f.Discriminator = line, p.Column, p.Discriminator
}
