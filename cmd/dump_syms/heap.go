package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"slices"

	"symkit/dump/batch"
	"symkit/internal/limits"
)

// How the Go heap is collected, by the memory that is taken: in large dumps half as
// often as usual, since most memory are inflated sections, which are not in the heap,
// when the peak is reached; in one that is large still less often, for it makes little
// garbage (a twentieth of its peak), while that of many would add up; in a small one not
// before it has 64 MiB, which most never have.
const (
	largeDump    = 16 << 20
	largePercent = 200  // of many
	alonePercent = 1000 // of one
	smallDump    = 64 << 20
	firstPercent = 1600 // of the 4 MiB that Go begins with
)

// prepareHeap prepares for tasks that take so much memory together, by their
// estimates, unless the user has told how the heap is to be collected; large is the
// percentage if that is much.
func prepareHeap(memory int64, large int) {
	if os.Getenv("GOGC") != "" {
		return
	}
	percent := 100 // as Go has it
	if memory >= largeDump {
		percent = large
	}
	if memory >= smallDump {
		debug.SetGCPercent(percent)
		return
	}
	debug.SetGCPercent(firstPercent)
	garbage := new([64]byte) // the first collection finds it
	runtime.AddCleanup(garbage, func(percent int) { debug.SetGCPercent(percent) }, percent)
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
