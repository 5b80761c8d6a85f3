package main

import (
	"os"
	"runtime"
	"runtime/debug"

	"symkit/dump/single"
	"symkit/internal/bounds"
)

// GOGC of the dump of a single file, and of a batch. Dumps make little garbage: most of their memory is inflated sections,
// outside of the heap. Checks have Go's default. GOGC in the user's environment takes precedence.
const (
	dumpPercent  = 800
	batchPercent = 200
)

func setHeap(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// batchHeap prepares for many dumps, unless the packages that were read take much of the heap: three times as much would
// be too much.
func batchHeap() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc < 8<<20 {
		setHeap(batchPercent)
	}
}

// limitHeap bounds the heap by the size of the files that are read. The heap of a
// program whose debug information is in .dwo files is not bounded, because the
// size of those files is not known yet.
func limitHeap(in *single.Module) {
	if in.Image.DWARF().Section(".debug_addr") != nil { // skeleton units have this section
		return
	}

	size := in.Image.Size()
	if in.Companions != nil && in.Companions.Alt != nil {
		size += uint64(in.Companions.Alt.Size())
	}
	bounds.Heap(size)
}
