package main

import (
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

// TestPrepareHeap compares GOGC before and after the first collection.
func TestPrepareHeap(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, test := range []struct {
		user        string
		memory      int64
		first, then int
	}{
		{"", 1 << 20, firstPercent, 100},
		{"", 20 << 20, firstPercent, 200},
		{"", 100 << 20, 200, 200},
		{"50", 1 << 20, 50, 50},
		{"50", 100 << 20, 50, 50},
	} {
		t.Setenv("GOGC", test.user)
		debug.SetGCPercent(50)
		prepareHeap(test.memory, 200)
		if got := percent(); got != test.first {
			t.Errorf("%+v: %d at first", test, got)
		}
		runtime.GC()
		for deadline := time.Now().Add(10 * time.Second); percent() != test.then; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%+v: %d after a collection", test, percent())
			}
		}
	}
}

// percent is that of debug.SetGCPercent.
func percent() int {
	n := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(n)
	return int(n[0].Value.Uint64())
}
