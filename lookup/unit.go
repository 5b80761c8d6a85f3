package lookup

import (
	"sort"

	"symkit/internal/dwarfx"
)

// A unit is decoded into flat slices. Its code is divided at starts: from one start to the next, there is one spot,
// with the line and the innermost scope. A scope is a function or an inlined call in its parent, and the chain of
// parents is the answer for an address, innermost first.

// unit is a decoded unit. It is never changed.
type unit struct {
	err     error    // the damage of the unit, which has what could be read before it
	starts  []uint64 // virtual addresses, ascending
	spots   []spot   // by start
	scopes  []scope
	funcs   []function
	dies    []dwarfx.Ref // of funcs: those that have code, which are the first
	files   []string     // by number in the line table
	named   []string     // files, then those of other units in which funcs are declared
	text    string       // the names of funcs
	paths   int          // bytes of named that are no other units'
	mangled bool         // a function has a linkage name
}

// spot is code with one answer.
type spot struct {
	scope      int32  // the innermost one, or -1
	file, line uint32 // file is dwarfx.EndOfCode if no row of the line table has the code
	place      dwarfx.Place
}

// nowhere is the spot of addresses before the first start.
var nowhere = spot{scope: -1, file: dwarfx.EndOfCode}

// scope is a function, or an inlined call.
type scope struct {
	parent int32  // the scope that the call is in; -1 for a function
	fn     uint32 // of unit.funcs
	start  uint64 // virtual address of the first byte
	// file and line are those of the call, with its place.
	file, line uint32
	place      dwarfx.Place
}

// function is a function that has code or is inlined. The spans are of unit.text, and file is an index of unit.named, or
// noFile.
type function struct {
	name, linkage textSpan
	file, line    uint32
}

const noFile = ^uint32(0)

// Sizes in bytes of the elements of a unit's slices, and of the unit itself.
const (
	unitSize     = 250
	spotSize     = 8 + 20
	scopeSize    = 40
	functionSize = 24
	dieSize      = 8
	fileSize     = 16
)

// bytes returns the memory of the unit.
func (u *unit) bytes() int64 {
	return int64(unitSize + spotSize*cap(u.starts) + scopeSize*cap(u.scopes) + functionSize*cap(u.funcs) + dieSize*cap(u.dies) +
		fileSize*cap(u.named) + len(u.text) + u.paths)
}

// at returns the spot of a virtual address.
func (u *unit) at(addr uint64) *spot { return u.spot(u.search(addr)) }

// search returns how many starts are at or below a virtual address.
func (u *unit) search(addr uint64) int {
	return sort.Search(len(u.starts), func(i int) bool { return u.starts[i] > addr })
}

// fewStarts is how many starts searchFrom passes one by one.
const fewStarts = 32

// searchFrom is search for an address that has at least n of the starts below, and probably few more.
func (u *unit) searchFrom(n int, addr uint64) int {
	for most := min(n+fewStarts, len(u.starts)); n < most; n++ {
		if u.starts[n] > addr {
			return n
		}
	}
	return u.search(addr)
}

// spot returns the spot of addresses that have n starts at or below them.
func (u *unit) spot(n int) *spot {
	if n == 0 {
		return &nowhere
	}
	return &u.spots[n-1]
}

// dieAt returns the DIE of the function that has the code at a virtual address, or 0.
func (u *unit) dieAt(addr uint64) dwarfx.Ref {
	at := u.at(addr).scope
	if at < 0 {
		return 0
	}
	for u.scopes[at].parent >= 0 {
		at = u.scopes[at].parent
	}
	return u.dies[u.scopes[at].fn]
}

// frames appends the frames of a spot.
func (u *unit) frames(dst []Frame, here *spot) []Frame {
	if here.scope < 0 && here.file == dwarfx.EndOfCode {
		return dst
	}

	// The place of the innermost frame is that of the row, the places of the others are those of the calls.
	dst = append(dst, Frame{})
	f := &dst[len(dst)-1]
	if here.file != dwarfx.EndOfCode {
		u.setPlace(f, here.file, here.line, here.place)
	}
	for at := here.scope; at >= 0; {
		s := &u.scopes[at]
		fn := &u.funcs[s.fn]
		f.Name, f.Linkage = u.text[fn.name.from:fn.name.to], u.text[fn.linkage.from:fn.linkage.to]
		f.StartFile, f.StartLine, f.Start = pathOf(u.named, fn.file), fn.line, s.start
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
	f.File, f.Line, f.Column, f.Discriminator = pathOf(u.files, file), line, p.Column, p.Discriminator
}

// pathOf returns the path of a number, "" if there is none.
func pathOf(list []string, n uint32) string {
	if uint64(n) >= uint64(len(list)) {
		return ""
	}
	return list[n]
}
