package par

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// TestEach: a loop calls work for each index, on one goroutine and on several.
func TestEach(t *testing.T) {
	for _, jobs := range []int{0, 1, 4} {
		done := make([]int, 100)
		err := Each(t.Context(), jobs, len(done), func() func(int) error {
			return func(i int) error {
				done[i]++
				return nil
			}
		})
		if err != nil || slices.Min(done) != 1 || slices.Max(done) != 1 {
			t.Errorf("%d jobs: %v, %v", jobs, done, err)
		}
	}
}

// TestEachFails: the first error ends the loop, and so does the context.
func TestEachFails(t *testing.T) {
	boom := errors.New("boom")
	for _, jobs := range []int{1, 4} {
		calls := make(chan int, 100)
		err := Each(t.Context(), jobs, 100, func() func(int) error {
			return func(i int) error {
				calls <- i
				if i == 3 {
					return boom
				}
				return nil
			}
		})
		if err != boom || jobs == 1 && len(calls) != 4 {
			t.Errorf("%d jobs: %v after %d calls", jobs, err, len(calls))
		}

		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(boom)
		for _, n := range []int{0, 1, 5} {
			err := Each(ctx, jobs, n, func() func(int) error { return func(int) error { return nil } })
			if err != boom {
				t.Errorf("%d jobs, %d indices, cancelled: %v", jobs, n, err)
			}
		}
	}
}
