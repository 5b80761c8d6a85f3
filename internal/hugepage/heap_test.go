package hugepage

import (
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
)

// The heap has the addresses, and nothing in them.
func TestHeap(t *testing.T) {
	old := debug.SetGCPercent(100)
	defer debug.SetGCPercent(old)
	const size = 64 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	Heap(size, 150)
	runtime.ReadMemStats(&after)
	if strconv.IntSize == 64 && after.HeapSys < size {
		t.Errorf("%d bytes of addresses", after.HeapSys)
	}
	if after.HeapAlloc > before.HeapAlloc+size/4 {
		t.Errorf("%d bytes are in use, before %d", after.HeapAlloc, before.HeapAlloc)
	}
	if got := debug.SetGCPercent(100); got != 150 {
		t.Errorf("GC percentage %d", got)
	}
	sys := after.HeapSys
	b := make([]byte, size/2)
	for i := range b {
		b[i] = 1
	}
	runtime.ReadMemStats(&after)
	if strconv.IntSize == 64 && after.HeapSys > sys+4<<20 {
		t.Errorf("the heap does not use the addresses: %d bytes more", after.HeapSys-sys)
	}
	runtime.KeepAlive(b)
}
