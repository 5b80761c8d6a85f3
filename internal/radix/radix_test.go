package radix_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"symkit/internal/radix"
)

// TestSort: items are in the order of a stable sort, with memory of any size.
func TestSort(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var spare []radix.Item
	for _, size := range []int{0, 1, 2, 3, 1000, 5000, 10} {
		for _, bits := range []int{0, 1, 10, 12, 33, 64} {
			list := make([]radix.Item, size)
			for i := range list {
				list[i] = radix.Item{Key: 1<<40 ^ rnd.Uint64()>>(64-bits), Index: int32(i), Part: int32(-i)}
			}
			want := slices.Clone(list)
			slices.SortStableFunc(want, func(a, b radix.Item) int { return cmp.Compare(a.Key, b.Key) })
			list, spare = radix.Sort(list, spare)
			if !slices.Equal(list, want) {
				t.Errorf("%d items of %d bits are not in order", size, bits)
			}
		}
	}
}
