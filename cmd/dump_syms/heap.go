package main

import (
	"os"
	"runtime/debug"
	"slices"

	"symkit/dump/batch"
	"symkit/internal/limits"
)

// How the Go heap is collected in a large dump: half as often as usual. Most
// memory are inflated sections, which are not in the heap, when the peak is reached.
const (
	largeDump = 16 << 20
	gcPercent = 200
)

// prepareHeap prepares for tasks that take so much memory together, by their
// estimates, unless the user has told how the heap is to be collected.
func prepareHeap(memory int64) {
	if memory >= largeDump && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// limitHeap keeps the heap small for what is read. Of a program whose debug
// information is in .dwo files it is not known yet how much that is.
func limitHeap(in *input) {
	if in.img.DWARF().Section(".debug_addr") != nil { // as skeletons have
		return
	}
	size := in.img.Size()
	if in.others != nil && in.others.Alt != nil {
		size += uint64(in.others.Alt.Size())
	}
	limits.Heap(size)
}

// together is how much memory the largest tasks take, as many as are done at a
// time.
func together(tasks []batch.Task, jobs int) (sum int64) {
	sizes := make([]int64, len(tasks))
	for i, t := range tasks {
		sizes[i] = t.Memory
	}
	slices.Sort(sizes)
	for _, n := range sizes[max(len(sizes)-jobs, 0):] {
		sum += n
	}
	return sum
}
