package limits

import "runtime/debug"

// What a program may take of memory before its garbage is collected more often
// than usual: less than what the soak allows (64 MiB and 20 times the input),
// since that counts the program and the mapped input too.
const (
	heapBase    = 48 << 20
	heapPerByte = 18
)

// Heap sets the size, for a program that has read inputs of a size in bytes, above which
// Go's collector no longer waits for the heap to grow by its percentage. Real files need
// far less; small ones that ask for much get by with what is allowed. A
// lower GOMEMLIMIT stays. It is no bound: what is in use is kept, and the
// collector never takes more than half of the time.
func Heap(size uint64) {
	limit := &Limit{Base: heapBase, PerByte: heapPerByte}
	if n := limit.Max(size); n < uint64(debug.SetMemoryLimit(-1)) {
		debug.SetMemoryLimit(int64(n))
	}
}
