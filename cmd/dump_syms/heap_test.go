package main

import (
	"testing"

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
