// Package hugepage has the system use huge pages for large memory: a page fault
// for every 2 MiB instead of every 4 KiB, and fewer misses of the translation of
// addresses.
package hugepage

import (
	"runtime"
	"runtime/debug"
	"strconv"
)

// Heap asks for huge pages for about as many bytes of the Go heap as are told,
// which it is expected to grow by, and sets the percentage of
// [debug.SetGCPercent]. It is for the beginning of a program: where the heap
// has been large before, memory would be cleared.
//
// Go's runtime does not ask by itself. So a slice is made and given up, of
// which no page is touched: the heap has its addresses, and grows into them. Where
// addresses have 32 bits there are too few for that.
func Heap(size, gcPercent int) {
	if strconv.IntSize < 64 {
		debug.SetGCPercent(gcPercent)
		return
	}
	debug.SetGCPercent(-1) // no cycle for the slice
	b := make([]byte, size)
	Advise(b)
	keep(b)
	b = nil
	runtime.GC()
	debug.SetGCPercent(gcPercent)
}

// keep has the slice be one that the compiler can neither leave out nor put on
// the stack.
//
//go:noinline
func keep(b []byte) { runtime.KeepAlive(b) }
