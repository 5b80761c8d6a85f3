package dwarfx

import "symkit/internal/wire"

// Span is a run of elements of a slice: [From, To).
type Span struct{ From, To uint32 }

// Func is a function that has code.
type Func struct {
	DIE    Ref // of the function
	Origin Ref // of its abstract instance or declaration, 0 without one
	// Name and Linkage are the DIE's own; mostly the origin holds them.
	Name, Linkage Str
	Ranges        Span // of Scan.Ranges, none empty, as the DIE lists them
	Inlines       Span // of Scan.Inlines
	Top           bool // it is a child of the unit's root
}

// Inline is an inlined call that has code.
type Inline struct {
	Origin uint32 // of Scan.Origins
	// Depth is 0 for a call inlined into the function itself.
	Depth uint32
	// CallFile is a file number of the unit's line table, or NoFile.
	CallFile, CallLine uint32
	Ranges             Span // of Scan.Ranges
}

// CallSite returns an address in the code that makes the call: where the function begins, or within the outer call just
// before this call begins, or else where this call ends. outer and own are the first ranges of the code around the call
// and of the call.
func (c *Inline) CallSite(outer, own Range) uint64 {
	switch {
	case c.Depth == 0:
	case own.Lo > outer.Lo:
		return own.Lo - 1
	case own.Hi < outer.Hi:
		return own.Hi
	}
	return outer.Lo
}

// NoFile is the CallFile of a call without a place.
const NoFile = ^uint32(0)

// Place is a column and DWARF's discriminator of a call or a row, each 0 if it is not known.
type Place struct{ Column, Discriminator uint32 }

// Part is a part of a unit: the children of its root that begin in [From, To), offsets in
// .debug_info, with all DIEs below them. The first part of a unit begins with its header.
type Part struct{ From, To uint64 }

// Whole returns all of u as one part.
func (u *Unit) Whole() Part { return Part{u.Off, u.End} }

// Scan is the result of a unit. Its slices are reused by the next Scan into it.
type Scan struct {
	// Full makes ScanUnit fill Places, and record the inlined calls without code too, since others lie in them, and those
	// of functions that have no DIE, whose origin is 0.
	Full bool
	// Part is the part of the unit that ScanUnit reads; the zero Part is all of it.
	Part Part

	Funcs   []Func
	Inlines []Inline // by function; within one, in the order of the DIEs: outer before inner
	Places  []Place  // of Inlines, if Full
	Origins []Ref    // the DIEs of the called functions' abstract instances, each once
	Ranges  []Range
	// Typeless reports that no DIE of the unit has a type: the compiler described lines and calls alone (-g1).
	Typeless bool

	// Pay is called as the scan goes on, with the bytes of memory that the records take that were
	// found since the last call, with all that is made of them later. If it returns an error,
	// the scan ends with that error. Pay may be nil.
	Pay func(bytes uint64) error
	// Most is how many entries of range lists a unit may have, beside the limits; 0: the limits alone.
	Most int

	skips skipTable
	refs  refSet    // Origins
	runs  []callRun // Inlines, in the order of the DIEs
}

// callRun is a run of consecutive inlined calls of one function.
type callRun struct {
	fn    uint32 // of Scan.Funcs
	calls Span
}

// grown returns s with capacity for another element. It doubles the capacity: append
// adds a quarter to a large slice, and moves the elements each time.
func grown[T any](s []T) []T {
	if len(s) < cap(s) {
		return s
	}
	larger := make([]T, len(s), max(2*len(s), 64))
	copy(larger, s)
	return larger
}

// frame is the state of the scan for the children of a DIE.
type frame struct {
	fn     int32  // index of the enclosing function, -1 without one
	depth  uint32 // of an inlined call among them
	levels int    // nested DIEs whose children are read in this state
}

type scanner struct {
	d       *Data
	u       *Unit
	t       *abbrevTable
	h       *skipTable
	s       *Scan
	data    []byte      // the unit
	pos     int         // in data: of the next DIE
	c       wire.Cursor // over the unit, for the current DIE
	inlines bool
	entries int   // range list entries that may still be read
	deepest int   // limit of the depth of the tree
	err     error // the first damage that did not end the unit
	last    rangeList
	owed    uint64 // bytes of memory that were not paid for yet
	paid    int    // ranges that were

	frame
	stack   []frame // of the enclosing DIEs
	open    int     // levels of those in stack
	vals    [scanSlots]value
	sibling uint64 // of the DIE just read, 0 without a usable one
}

// skipTable holds the skipOps of an abbreviation table by code. It belongs to one
// scan at a time: a skipTable in each abbrevTable would take much memory.
type skipTable struct {
	of    *abbrevTable
	skips [numModes][]skipOp
}

// rangeList is the last range list that was read.
type rangeList struct {
	value value // DW_AT_ranges
	Span        // of Scan.Ranges
	cost  int   // of scanner.entries
}

// Bytes of memory that a record of a scan takes, with all that is made of it later: a function
// becomes an entry of several lists and has a name, and each of its ranges becomes a FUNC record.
const (
	funcMemory      = 230
	funcRangeMemory = 200
	callMemory      = 40
	originMemory    = 150
	rangeMemory     = 32
	payEach         = 1 << 16 // bytes
)
