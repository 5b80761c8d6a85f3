package main

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"symkit/dump/batch"
)

func TestTogether(t *testing.T) {
	tasks := []batch.Task{{Memory: 5}, {Memory: 70}, {Memory: 300}, {Memory: 1}}
	for jobs, want := range []int64{0, 300, 370, 375, 376, 376} {
		if got := together(tasks, jobs); got != want {
			t.Errorf("%d at a time: %d, want %d", jobs, got, want)
		}
	}
}

func TestHeapPercents(t *testing.T) {
	for _, test := range []struct {
		memory       int64
		first, later int
	}{
		{1 << 20, firstPercent, 100},
		{largeDump, firstPercent, 300},
		{smallDump - 1, firstPercent, 300},
		{smallDump, 300, 300},
	} {
		if first, later := heapPercents(test.memory, 300); first != test.first || later != test.later {
			t.Errorf("%d bytes: %d, then %d, want %d and %d", test.memory, first, later, test.first, test.later)
		}
	}
}

// TestPrepareHeap runs in a process of its own: dumps of other tests leave functions that
// change GOGC after a collection.
func TestPrepareHeap(t *testing.T) {
	if os.Getenv("SYMKIT_TEST_HEAP") == "" {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPrepareHeap$")
		child.Env = append(os.Environ(), "SYMKIT_TEST_HEAP=1")
		out, err := child.CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}

	debug.SetGCPercent(50)
	t.Setenv("GOGC", "50")
	prepareHeap(smallDump, 300)
	if got := percent(); got != 50 {
		t.Errorf("GOGC of the environment is not kept: %d", got)
	}

	t.Setenv("GOGC", "")
	prepareHeap(smallDump, 300)
	if got := percent(); got != 300 {
		t.Errorf("a large dump: %d, want 300", got)
	}

	prepareHeap(largeDump, 200)
	runtime.GC()
	for percent() != 200 {
		time.Sleep(time.Millisecond)
	}
}

// TestPercentFor: the percentage for a heap of some size, whether little or much of the heap lives.
func TestPercentFor(t *testing.T) {
	for _, test := range []struct {
		live, size uint64
		want       int
	}{
		{0, 300 << 20, 7500},
		{1 << 20, 24 << 20, 600},
		{20 << 20, 300 << 20, 1400},
		{20 << 20, 30 << 20, checkPercent},
		{20 << 20, 10 << 20, checkPercent},
	} {
		if got := percentFor(test.live, test.size); got != test.want {
			t.Errorf("%d of %d bytes live: %d, want %d", test.live, test.size, got, test.want)
		}
	}
}

func TestAfterCollection(t *testing.T) {
	called := make(chan bool)
	afterCollection(func() { close(called) })
	runtime.GC()
	select {
	case <-called:
	case <-time.After(time.Minute):
		t.Error("not called")
	}
}

// percent is that of debug.SetGCPercent.
func percent() int {
	n := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(n)
	return int(n[0].Value.Uint64())
}
