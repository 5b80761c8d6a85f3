package emit

import (
	"bytes"
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
)

// Index answers questions about a symbol file without reading all of it: it notes the
// positions of the records that are looked up by address or number, and parses a record
// on demand. Its heap is about 16 bytes for each FILE, INLINE_ORIGIN, FUNC, PUBLIC, STACK
// CFI INIT and STACK WIN record, whatever the size of the other records. Its methods may
// be called from any number of goroutines.
//
// Index accepts records that the strict Reader rejects: CRLF, runs of blanks, upper-case
// hex, a missing last newline, records in any order, the old INLINE and INLINE_ORIGIN
// forms, file numbers of -1. A line that cannot be understood is skipped and counted
// (Bad).
//
// If records overlap, the record with the highest start counts, and of those with the
// same start the first in the file. Only the 16 records that begin last at or below an
// address are searched. A record of size zero covers no address.
//
// Addresses are relative to the module's load address. Results alias the data.
type Index struct {
	data    []byte
	module  Module
	named   bool                      // there is a MODULE record
	code    struct{ id, file string } // INFO CODE_ID
	funcs   table
	publics table
	inits   table
	wins    table
	files   table
	origins table
	signals []Range                  // by address
	runs    []publicRun              // while the data is indexed
	known   []uint32                 // sizes of PUBLIC records, 0 if not known; nil: none is
	sizes   func(addr uint64) uint32 // of PUBLIC records; nil: known has them
	met     *met
	read    *atomic.Int64 // see Count
}

// met is what lookups have met.
type met struct {
	bad   badLines
	parts parts
}

// badLines are the offsets of malformed lines.
type badLines struct {
	mu  sync.Mutex
	all map[uint64]struct{}
}

// lookBack is the number of records at or below an address that are searched.
const lookBack = 16

// maxBad bounds the number of bad lines that are counted.
const maxBad = 1 << 16

// entry is the key of a record (an address or a number) and the record's offset.
type entry struct{ key, off uint64 }

const entrySize = 16

// table is sorted by key; records with one key are in file order.
type table []entry

// Count returns an index of the same data whose lookups add to read the number of bytes of the
// records that they go through. A lookup goes through all records of its FUNC or STACK CFI
// INIT, whose size a file can make as large as it likes.
func (x *Index) Count(read *atomic.Int64) *Index {
	y := *x
	y.read = read
	return &y
}

// count adds n bytes to what Count counts.
func (x *Index) count(n int) {
	if x.read != nil {
		x.read.Add(int64(n))
	}
}

// recordBytes is what a record costs beside the bytes of its line.
const recordBytes = 64

// record returns the line of a record that a lookup reads, and counts the line.
func (x *Index) record(off uint64) []byte {
	line := x.line(off)
	x.count(recordBytes + len(line))
	return line
}

// line returns the line at off, without its newline.
func (x *Index) line(off uint64) []byte {
	line := x.data[off:]
	if n := bytes.IndexByte(line, '\n'); n >= 0 {
		line = line[:n:n]
	}
	return line
}

// markBad counts the line at off as bad.
func (x *Index) markBad(off uint64) {
	x.met.bad.mu.Lock()
	defer x.met.bad.mu.Unlock()
	if len(x.met.bad.all) < maxBad {
		x.met.bad.all[off] = struct{}{}
	}
}

// Bad returns the number of lines that could not be understood, each counted once. A line
// that belongs to no function is counted when the file is indexed; a line inside a
// function or a STACK CFI INIT is counted when an address in it is first looked up. The
// number is at most 65536.
func (x *Index) Bad() int {
	x.met.bad.mu.Lock()
	defer x.met.bad.mu.Unlock()
	return len(x.met.bad.all)
}

// Module returns the MODULE record; the result is false if there is none.
func (x *Index) Module() (Module, bool) { return x.module, x.named }

// CodeID returns the first field of the INFO CODE_ID record, or "".
func (x *Index) CodeID() string { return x.code.id }

// Counts returns the numbers of FUNC, PUBLIC and STACK records; of STACK CFI, only INIT
// records count.
func (x *Index) Counts() (funcs, publics, stacks int) {
	return len(x.funcs), len(x.publics), len(x.inits) + len(x.wins)
}

// HeapSize returns the approximate size of the index in bytes, without the data.
func (x *Index) HeapSize() int64 {
	n := 0
	for _, t := range []table{x.funcs, x.publics, x.inits, x.wins, x.files, x.origins} {
		n += cap(t)
	}
	return int64(n)*entrySize + int64(4*cap(x.known))
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

	// Trampolines may overlap, so each one that begins at or below addr is tried.
	for ; i > 0; i-- {
		if r := x.signals[i-1]; addr-r.Addr < uint64(r.Size) {
			return true
		}
	}
	return false
}

// below returns the number of entries whose key is at most key.
func (t table) below(key uint64) int {
	i, _ := slices.BinarySearchFunc(t, key, func(e entry, k uint64) int {
		if e.key <= k {
			return -1
		}
		return 1
	})
	return i
}

// covering returns the offset of the record that covers addr, by the rule in the
// documentation of Index. contains parses the record at an offset and reports whether it
// covers addr.
func (t table) covering(addr uint64, contains func(off uint64) bool) (uint64, bool) {
	end := t.below(addr)
	for i := end - 1; i >= 0 && i >= end-lookBack; i-- {
		if !contains(t[i].off) {
			continue
		}

		// Of several records with one start, the first in the file counts.
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

// numbered returns the offset of the record with a number, of several the first.
func (t table) numbered(num uint32) (uint64, bool) {
	i, ok := slices.BinarySearchFunc(t, uint64(num), func(e entry, k uint64) int { return cmp.Compare(e.key, k) })
	if !ok {
		return 0, false
	}
	return t[i].off, true
}
