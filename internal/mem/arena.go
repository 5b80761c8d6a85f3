package mem

// Arena holds slices that are built one after the other and kept. They lie side
// by side in blocks, so that no slice is copied when it is complete, nor when a
// later one grows. The zero Arena is ready; it is for one goroutine.
type Arena[T any] struct {
	free []T // empty, with the capacity that the current block has left
	next int // elements of the next block
}

// Elements of the first block and of the largest.
const (
	firstBlock   = 1 << 8
	largestBlock = 1 << 14
)

// Free returns an empty slice to append the elements of the next slice to.
func (a *Arena[T]) Free() []T { return a.free }

// Keep seals s, which was built by appending to Free, and starts the next slice
// after it. A slice that outgrew the block is copied to another one.
func (a *Arena[T]) Keep(s []T) []T {
	n := len(s)
	if n == 0 {
		return nil
	}

	// append has moved a slice that did not fit.
	if cap(s) != cap(a.free) {
		a.next = min(max(2*a.next, firstBlock), largestBlock)
		block := make([]T, n, max(n, a.next))
		Populate(block[:cap(block)])
		copy(block, s)
		s = block
	}
	a.free = s[n:n]
	return s[:n:n]
}
