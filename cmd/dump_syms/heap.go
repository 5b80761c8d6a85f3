package main

import (
	"slices"

	"symkit/dump/batch"
	"symkit/internal/hugepage"
)

// How the Go heap is prepared for a large dump.
const (
	leastHeap = 16 << 20  // below, it costs more than it gains
	mostHeap  = 512 << 20 // the heap has been less so far
	// gcPercent has the heap collected half as often as usual. Most memory are
	// inflated sections, which are not in the heap, when the peak is reached.
	gcPercent = 200
)

// prepareHeap prepares for tasks that take so much memory together, by their
// estimates. Of that the heap has a part, and what lies behind it costs nothing.
func prepareHeap(memory int64) {
	if size := min(memory, mostHeap); size >= leastHeap {
		hugepage.Heap(int(size), gcPercent)
	}
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
