package par

import (
	"context"
	"slices"
)

// Sort sorts list on at most jobs goroutines, by sorting parts of it and merging
// them. It returns list or a new slice. Elements that compare equal are in no
// particular order.
func Sort[T any](ctx context.Context, jobs int, list []T, compare func(a, b T) int) ([]T, error) {
	parts := slices.Collect(slices.Chunk(list, len(list)/max(jobs, 1)+1))
	err := For(ctx, jobs, len(parts), func(i int) error {
		slices.SortFunc(parts[i], compare)
		return nil
	})
	if err != nil {
		return nil, err
	}

	// Each pass merges pairs of neighbors, until one part is left.
	for len(parts) > 1 {
		var merged [][]T
		for pair := range slices.Chunk(parts, 2) {
			part := pair[0]
			if len(pair) == 2 {
				part = Merge(pair[0], pair[1], compare)
			}
			merged = append(merged, part)
		}
		parts = merged
	}
	if len(parts) == 0 {
		return nil, nil
	}
	return parts[0], nil
}

// Merge returns the sorted union of two sorted lists: a itself if b is empty. Elements
// of a come before equal elements of b.
func Merge[T any](a, b []T, compare func(a, b T) int) []T {
	if len(b) == 0 {
		return a
	}

	out := make([]T, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if compare(b[0], a[0]) < 0 {
			out, b = append(out, b[0]), b[1:]
		} else {
			out, a = append(out, a[0]), a[1:]
		}
	}
	return append(append(out, a...), b...)
}
