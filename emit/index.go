package emit

import (
	"bytes"
	"cmp"
	"runtime"
	"slices"
	"sync"
)

// Index answers questions about a symbol file without reading it as a whole:
// it notes where the records are that an address is looked up by, and parses
// a record when it is asked for. Its heap is about 16 bytes for each FILE,
// INLINE_ORIGIN, FUNC, PUBLIC, STACK CFI INIT and STACK WIN record, whatever
// the size of the rest. Its methods may be called from any number of
// goroutines.
//
// It takes what the strict Reader rejects: CRLF, runs of blanks, upper-case
// hex, a missing last newline, records in any order, the old INLINE and
// INLINE_ORIGIN forms, file numbers of -1. A line that makes no sense costs
// itself and is counted (Bad).
//
// Where records overlap, the one that begins last holds, and of those that
// begin together the first in the file. The record that holds is looked for
// among the 16 that begin last at or below the address. A record of size zero
// holds nowhere.
//
// Addresses are relative to the module's load address. What is returned
// aliases the data.
type Index struct {
	data    []byte
	module  Module
	named   bool // there is a MODULE record
	codeID  string
	funcs   table
	publics table
	inits   table
	wins    table
	files   table
	origins table
	signals []Range // by address

	mu  sync.Mutex
	bad map[uint64]struct{} // offsets of lines that make no sense
}

// lookBack is how many records that begin below an address are looked at.
const lookBack = 16

// maxBad bounds the lines that are remembered as bad.
const maxBad = 1 << 16

// entry is the key of a record (an address or a number) and where it is.
type entry struct{ key, off uint64 }

const entrySize = 16

// table is sorted by key, records of one key in file order.
type table []entry

// NewIndex indexes data, which may be a mapped file; it uses every processor
// and is as fast as the data can be read. There is no error: whatever data
// is, some records are found in it, or none.
func NewIndex(data []byte) *Index { return newIndex(data, runtime.GOMAXPROCS(0)) }

// chunkSize is how much of the data is scanned at once.
const chunkSize = 16 << 20

func newIndex(data []byte, jobs int) *Index {
	x := &Index{data: data, bad: map[uint64]struct{}{}}
	chunks := (len(data) + chunkSize - 1) / chunkSize
	scans := make([]scan, chunks)
	var wait sync.WaitGroup
	var faults sync.Map
	next := make(chan int, chunks)
	for i := range chunks {
		next <- i
	}

	close(next)
	for job := range min(jobs, chunks) {
		wait.Go(func() {
			defer rescue(&faults, job)()
			for i := range next {
				scans[i].run(data, i*chunkSize, min(len(data), (i+1)*chunkSize))
			}
		})
	}

	wait.Wait()
	rethrow(&faults)
	x.join(scans)
	return x
}

// join puts the tables of the chunks together.
func (x *Index) join(scans []scan) {
	for kind, t := range map[int]*table{
		inFuncs: &x.funcs, inPublics: &x.publics, inInits: &x.inits,
		inWins: &x.wins, inFiles: &x.files, inOrigins: &x.origins,
	} {
		n := 0
		for i := range scans {
			n += len(scans[i].tables[kind])
		}
		*t = make(table, 0, n)
		for i := range scans {
			*t = append(*t, scans[i].tables[kind]...)
			scans[i].tables[kind] = nil
		}
		t.sort()
	}

	for i := range scans {
		for _, off := range scans[i].heads {
			x.head(off)
		}
		for _, off := range scans[i].bad {
			x.spoil(off)
		}
	}

	slices.SortFunc(x.signals, func(a, b Range) int { return cmp.Compare(a.Addr, b.Addr) })
}

func (t table) sort() {
	byKey := func(a, b entry) int { return cmp.Compare(a.key, b.key) }
	if !slices.IsSortedFunc(t, byKey) {
		slices.SortStableFunc(t, byKey)
	}
}

// head takes a MODULE or INFO record.
func (x *Index) head(off uint64) {
	l := loose{rest: x.line(off)}
	switch string(l.word()) {
	case "MODULE":
		m := Module{OS: string(l.word()), Arch: string(l.word()), ID: string(l.word()), Name: string(l.text())}
		if x.named || m.ID == "" {
			x.spoil(off)
			return
		}
		x.module, x.named = m, true
	case "INFO":
		switch key := string(l.word()); key {
		case KeyCodeID:
			x.codeID = string(l.word())
		case KeySignalFrame:
			r := Range{l.hex(), l.size()}
			if l.bad {
				x.spoil(off)
				return
			}
			x.signals = append(x.signals, r)
		}
	}
}

// line is the line at off, without its newline.
func (x *Index) line(off uint64) []byte {
	line := x.data[off:]
	if n := bytes.IndexByte(line, '\n'); n >= 0 {
		line = line[:n:n]
	}
	return line
}

// spoil counts a line that makes no sense.
func (x *Index) spoil(off uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.bad) < maxBad {
		x.bad[off] = struct{}{}
	}
}

// Bad is the number of lines that made no sense, each counted once: those
// that belong to no function when the file was indexed, those inside a
// function or a STACK CFI INIT when one of its addresses was first looked up.
// It does not go beyond 65536.
func (x *Index) Bad() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.bad)
}

// Module is the MODULE record, and false when there is none.
func (x *Index) Module() (Module, bool) { return x.module, x.named }

// CodeID is the first field of the INFO CODE_ID record, or empty.
func (x *Index) CodeID() string { return x.codeID }

// Counts are the numbers of FUNC, PUBLIC and STACK records (of STACK CFI the
// INIT ones) that were found.
func (x *Index) Counts() (funcs, publics, stacks int) {
	return len(x.funcs), len(x.publics), len(x.inits) + len(x.wins)
}

// HeapSize is about the memory that the index takes, in bytes; the data is not
// counted.
func (x *Index) HeapSize() int64 {
	n := 0
	for _, t := range []table{x.funcs, x.publics, x.inits, x.wins, x.files, x.origins} {
		n += cap(t)
	}
	return int64(n) * entrySize
}

// SignalFrame reports whether addr is in a signal trampoline; see the function
// SignalFrame.
func (x *Index) SignalFrame(addr uint64) bool {
	i, _ := slices.BinarySearchFunc(x.signals, addr, func(r Range, a uint64) int {
		if r.Addr <= a {
			return -1
		}
		return 1
	})
	for ; i > 0; i-- {
		if r := x.signals[i-1]; addr-r.Addr < uint64(r.Size) {
			return true
		}
	}
	return false
}

// below is the number of entries whose key is at most key.
func (t table) below(key uint64) int {
	i, _ := slices.BinarySearchFunc(t, key, func(e entry, k uint64) int {
		if e.key <= k {
			return -1
		}
		return 1
	})
	return i
}

// holds finds the record that holds at addr by the rule that Index documents;
// contains parses the one at an offset. It returns the offset.
func (t table) holds(addr uint64, contains func(off uint64) bool) (uint64, bool) {
	end := t.below(addr)
	for i := end - 1; i >= 0 && i >= end-lookBack; i-- {
		if !contains(t[i].off) {
			continue
		}
		first := t[i].off
		for j := i - 1; j >= 0 && j >= end-lookBack && t[j].key == t[i].key; j-- {
			if contains(t[j].off) {
				first = t[j].off
			}
		}
		return first, true
	}
	return 0, false
}

// numbered finds the record that was given a number; of several the first.
func (t table) numbered(num uint32) (uint64, bool) {
	i, ok := slices.BinarySearchFunc(t, uint64(num), func(e entry, k uint64) int { return cmp.Compare(e.key, k) })
	if !ok {
		return 0, false
	}
	return t[i].off, true
}
