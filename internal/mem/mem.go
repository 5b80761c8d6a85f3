// Package mem owns the memory that is not in the Go heap.
//
// It takes paths and sizes and gives mapped files (Mapping) and the buffers that sections
// are inflated into (Buffer). Each has one owner at a time, which releases it. Guard turns
// the fault of a mapped file that was truncated, and no other fault, into an error. Arena
// holds slices in the Go heap.
//
// The environment variable SYMKIT_MEM has two values for tests. With "poison"
// every buffer, of whatever size, is mapped outside of the heap, and a released
// buffer or mapping stays reserved and inaccessible, so that a use after
// Release crashes. With "heap" every buffer is in the heap, where the race
// detector sees it, and Release overwrites it with zeros.
package mem

import "os"

// mode is how memory is provided.
type mode int

const (
	normal mode = iota
	poison
	heap
)

// current is the mode of the process; tests of this package change it.
var current = modeNamed(os.Getenv("SYMKIT_MEM"))

func modeNamed(name string) mode {
	switch name {
	case "poison":
		return poison
	case "heap":
		return heap
	}
	return normal
}
