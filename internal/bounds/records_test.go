package bounds

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"symkit/internal/limitof"
	"symkit/limits"
)

// TestRecords: after the first record that does not fit, no record fits.
func TestRecords(t *testing.T) {
	r := NewRecords(limits.Limits{}.With(limitof.UnitRecords, 100), limitof.UnitRecords, 7)
	for i, test := range []struct {
		n, bytes int
		ok       bool
	}{{3, 20, true}, {2, 20, true}, {1, 1, false}, {0, 1, false}} {
		err := r.Take(test.n, test.bytes)
		if (err == nil) != test.ok || err != nil && !errors.Is(err, limits.ErrExceeded) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if r := (*Records)(nil); r.Take(1<<30, 1<<30) != nil {
		t.Error("a nil Records has a limit")
	}
}

// TestShared: whatever the order in which items take memory, the same items stay, those whose
// memory with that of all items before is within the limit; and at no time is more taken.
func TestShared(t *testing.T) {
	const count, most = 50, 1000
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		costs := make([]uint64, count)
		want, sum := count, uint64(0)
		var steps []int
		for i := range costs {
			n := rnd.IntN(8)
			costs[i] = uint64(n * 10)
			sum += costs[i]
			if sum > most {
				want = min(want, i)
			}
			steps = append(steps, slices.Repeat([]int{i}, n+1)...)
		}
		rnd.Shuffle(len(steps), func(i, k int) { steps[i], steps[k] = steps[k], steps[i] })

		s := NewShared(limits.Limits{}.With(limitof.UnitRecords, most), limitof.UnitRecords, 0)
		held := make([]uint64, count) // by items that are not dropped yet
		taken := make([]uint64, count)
		for _, i := range steps {
			err := error(nil)
			if taken[i] < costs[i] {
				taken[i] += 10
				err = s.Take(i, 10)
			} else {
				err = s.Keep(i, func() { held[i] = 0 })
				if err == nil {
					held[i] = costs[i]
				}
			}
			if (err != nil) && !errors.Is(err, limits.ErrExceeded) || err != nil && i < want {
				t.Fatalf("seed %d: item %d of %d: %v", seed, i, want, err)
			}
			total := uint64(0)
			for _, n := range held {
				total += n
			}
			if total > most {
				t.Fatalf("seed %d: %d bytes are held", seed, total)
			}
		}
		for i := range costs {
			if (s.Dropped(i) == nil) != (i < want) || i >= want && held[i] != 0 {
				t.Errorf("seed %d: item %d of %d: %v, %d bytes", seed, i, want, s.Dropped(i), held[i])
			}
		}
	}
}

// TestSharedConcurrently: goroutines that take memory at the same time see one order.
func TestSharedConcurrently(t *testing.T) {
	const count = 1000
	s := NewShared(limits.Limits{}.With(limitof.UnitRecords, 100*count/2), limitof.UnitRecords, 0)
	var group sync.WaitGroup
	for w := range 4 {
		group.Go(func() {
			for i := w; i < count; i += 4 {
				for range 10 {
					_ = s.Take(i, 10)
				}
				_ = s.Keep(i, func() {})
			}
		})
	}
	group.Wait()
	for i := range count {
		if (s.Dropped(i) == nil) != (i < count/2) {
			t.Fatalf("item %d: %v", i, s.Dropped(i))
		}
	}
}
