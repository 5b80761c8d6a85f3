package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"symkit/dump/batch"
	"symkit/internal/bounds"
)

// The frequency of garbage collections depends on the memory that the dumps take.
//
// In large dumps the collector runs half as often as usual: at the peak most memory is
// inflated sections, which are outside of the heap. In a single large dump the collector
// runs still less often: one dump makes little garbage (a twentieth of its peak), while the
// garbage of many dumps would add up. In a small dump the collector first runs when the
// heap has 64 MiB, a size that most dumps never reach.
const (
	largeDump    = 16 << 20 // bytes
	largePercent = 200      // GOGC of many large dumps
	alonePercent = 1000     // GOGC of one large dump
	checkPercent = 100      // GOGC of dumps that are checked, which makes garbage
	smallDump    = 64 << 20 // bytes
	startHeap    = 4 << 20  // bytes of a heap that is collected for the first time
	firstPercent = 1600     // GOGC until the first collection: 64 MiB, as Go begins with 4 MiB
	firstCheck   = 32 << 20 // bytes of the heap at the first collection of a check, at least
)

// prepareHeap sets GOGC for tasks that together take the given memory, in bytes. large is
// the percentage for tasks that take much memory. GOGC in the user's environment takes
// precedence.
func prepareHeap(memory int64, large int) {
	if os.Getenv("GOGC") != "" {
		return
	}

	first, later := heapPercents(memory, large)
	debug.SetGCPercent(first)
	pace := paces.Add(1)
	if later != first {
		setLater(pace, later)
	}
}

// paces counts the decisions on GOGC. A decision makes the earlier ones void.
var paces atomic.Int64

// setLater sets GOGC after the next garbage collection, unless there is a newer decision than pace.
func setLater(pace int64, percent int) {
	afterCollection(func() {
		if paces.Load() == pace {
			debug.SetGCPercent(percent)
		}
	})
}

// heapPercents returns the GOGC of prepareHeap until the first collection and after it.
func heapPercents(memory int64, large int) (first, later int) {
	switch {
	case memory >= smallDump:
		return large, large
	case memory >= largeDump:
		return firstPercent, large
	}
	return firstPercent, 100 // Go's default
}

// afterCollection calls f once, in a goroutine of the runtime, after the next garbage
// collection: f is the cleanup of an object that is unreachable from the start.
func afterCollection(f func()) {
	garbage := new([64]byte)
	runtime.AddCleanup(garbage, func(f func()) { f() }, f)
}

// checkHeap collects the records of a dump, and sets the pace for the check, which makes more
// garbage than the dump. If the module is the only one of the run, the heap may first grow to half
// the size that it has now, or to firstCheck: the memory of the records is used again before it is
// returned to the system, and a small heap is not collected over and over.
func checkHeap(alone bool) {
	pace := paces.Add(1)
	size := heapSize() / 2
	runtime.GC()
	if os.Getenv("GOGC") != "" {
		return
	}

	percent := checkPercent
	if alone {
		percent = percentFor(heapSize(), max(size, firstCheck))
	}
	debug.SetGCPercent(percent)
	if percent != checkPercent {
		setLater(pace, checkPercent)
	}
}

// heapSize returns the size of the objects in the heap, in bytes.
func heapSize() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// percentFor returns the GOGC with which a heap that has live bytes after a collection is collected
// when it has size bytes, but at least checkPercent. Go multiplies GOGC with 4 MiB or with the live
// bytes, whichever is more.
func percentFor(live, size uint64) int {
	const least = 4 << 20
	if live >= size {
		return checkPercent
	}
	return int(max(checkPercent, min(100*size/least, 100*(size-live)/max(live, 1))))
}

// limitHeap bounds the heap by the size of the files that are read. The heap of a
// program whose debug information is in .dwo files is not bounded, because the
// size of those files is not known yet.
func limitHeap(in *input) {
	if in.img.DWARF().Section(".debug_addr") != nil { // skeleton units have this section
		return
	}

	size := in.img.Size()
	if in.others != nil && in.others.Alt != nil {
		size += uint64(in.others.Alt.Size())
	}
	bounds.Heap(size)
}

// together returns the memory, in bytes, that the largest tasks take together, as many as
// run at a time.
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
