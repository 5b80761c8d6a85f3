// Package compare compares the records of a symbol file with what the ELF file has. Each function takes
// the two sides, changes neither, and returns what it has found.
//
// Units compares the lines and inlined calls of functions while it reads the units of the debug
// information: each worker loads, compares and drops one unit after the other, and keeps the outcomes.
// Funcs reports them together with the functions. Publics and Module need no units.
package compare

import (
	"sort"
	"sync/atomic"

	"symkit/check/internal/naming"
	"symkit/check/internal/pcs"
	"symkit/check/internal/symfile"
	"symkit/check/internal/truth"
	"symkit/check/report"
)

// Input is the two sides of a comparison, and what bounds it.
type Input struct {
	Sym      *symfile.File // FUNC and PUBLIC records are in order of address
	Truth    *truth.Truth
	Bias     uint64 // address of the ELF file minus that of the symbol file
	Jobs     int
	Map      bool // the names of units are needed, too
	Report   report.Options
	Progress func(stage string, done, total int)

	symFiles  []uint32 // numbers in Truth.Paths, by index of FILE records, then naming.AnyPath
	covered   pcs.Set  // the FUNC records, in addresses of the symbol file
	mostDiffs int      // the result of the function mostDiffs
	work      *work
}

// work is what goroutines share while they compare: what need not be compared again, and how much more
// may be compared. None of it has an effect on the result.
type work struct {
	matches   []atomic.Uint64 // by index of INLINE_ORIGIN: the last answer of likeness about the name
	states    []atomic.Uint32 // by index of FUNC: a set of linesDone and so on
	spent     atomic.Int64    // steps of comparing so far, see worker.spend
	functions atomic.Int64    // ranges of functions so far, see funcsExceeded
}

// States of a FUNC. The lines or calls are right if no other description can be better.
const (
	linesDone = 1 << iota
	linesRight
	callsRight
	otherRight
)

// New prepares the records of a symbol file for look-ups.
func New(in Input) *Input {
	s := in.Sym
	for i := range s.Files.List {
		in.symFiles = append(in.symFiles, in.Truth.Paths.ID(s.Files.List[i].Text))
	}
	in.symFiles = append(in.symFiles, naming.AnyPath)

	// All outcomes are kept by index of the sorted FUNC records.
	s.Funcs, s.Publics = pcs.Sorted(s.Funcs), pcs.Sorted(s.Publics)
	in.covered, in.mostDiffs = pcs.SetOf(s.Funcs), mostDiffs(len(s.Funcs))
	in.work = &work{matches: make([]atomic.Uint64, len(s.Origins.List)), states: make([]atomic.Uint32, len(s.Funcs))}
	return &in
}

// is reports whether FUNC i has a state.
func (x *work) is(i int, state uint32) bool { return x.states[i].Load()&state != 0 }

// set adds states to those of FUNC i. It writes only what is new: many goroutines would wait for each
// other if each of thousands of descriptions of one FUNC were a write.
func (x *work) set(i int, states uint32) {
	if x.states[i].Load()&states != states {
		x.states[i].Or(states)
	}
}

// fileIndex returns the index in symFiles of a FILE number.
func (in *Input) fileIndex(num uint32) uint32 {
	if i, ok := in.Sym.Files.Index(num); ok {
		return i
	}
	return uint32(len(in.symFiles) - 1)
}

// at returns which FUNC records begin at an address of the ELF file, as indices [first, end).
func (in *Input) at(addr uint64) (first, end int) {
	if addr < in.Bias {
		return 0, 0
	}
	return begins(in.Sym.Funcs, addr-in.Bias)
}

// hasPublic reports whether a PUBLIC record is at an address of the ELF file.
func (in *Input) hasPublic(addr uint64) bool {
	first, end := begins(in.Sym.Publics, addr-in.Bias)
	return first < end
}

// begins returns which elements of a sorted list begin at addr, as indices [first, end).
func begins[T any, P pcs.Ranged[T]](list []T, addr uint64) (first, end int) {
	first = sort.Search(len(list), func(i int) bool { return P(&list[i]).PCs().Lo >= addr })
	for end = first; end < len(list) && P(&list[end]).PCs().Lo == addr; {
		end++
	}
	return first, end
}

// toELF converts addresses of the symbol file to addresses of the ELF file.
func (in *Input) toELF(x pcs.Range) pcs.Range {
	return pcs.Range{Lo: x.Lo + in.Bias, Hi: x.Hi + in.Bias}
}

// RelativeCode returns the code in addresses of the symbol file.
func (in *Input) RelativeCode() pcs.Set {
	out := make(pcs.Set, 0, len(in.Truth.Code))
	for _, x := range in.Truth.Code {
		if x.Hi > in.Bias {
			out = append(out, pcs.Range{Lo: max(x.Lo, in.Bias) - in.Bias, Hi: x.Hi - in.Bias})
		}
	}
	return out
}
