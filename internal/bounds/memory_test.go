package bounds

import (
	"math"
	"runtime/debug"
	"testing"
)

func TestHeap(t *testing.T) {
	old := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(old)
	for _, test := range []struct {
		size uint64
		want int64
	}{
		{math.MaxUint64, math.MaxInt64}, // does not overflow
		{100 << 20, 1032 << 20},
		{1 << 20, 42 << 20},
		{200 << 20, 42 << 20}, // the lower one stays
	} {
		Heap(test.size)
		if got := debug.SetMemoryLimit(-1); got != test.want {
			t.Errorf("%d bytes: %d, want %d", test.size, got, test.want)
		}
	}
}
