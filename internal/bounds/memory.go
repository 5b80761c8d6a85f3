package bounds

import (
	"math/bits"
	"runtime/debug"
)

// The size of the heap, in bytes, above which garbage is collected more often than
// usual. It is less than the memory that the soak allows (64 MiB and 20 times the
// input), which includes the program, the mapped input and what compressed sections inflate to.
const (
	heapBase    = 32 << 20
	heapPerByte = 10
)

// Heap sets the heap size above which Go's garbage collector no longer waits for the heap
// to grow by GOGC percent; size is that of the inputs in bytes. Real files need far less
// memory. Small files that ask for much memory can be processed with this much. A lower
// GOMEMLIMIT is not changed. The heap can grow above this size: memory in use is kept, and
// the collector never takes more than half of the time.
func Heap(size uint64) {
	over, more := bits.Mul64(heapPerByte, size)
	n, carry := bits.Add64(heapBase, more, 0)
	if over == 0 && carry == 0 && n < uint64(debug.SetMemoryLimit(-1)) {
		debug.SetMemoryLimit(int64(n))
	}
}
