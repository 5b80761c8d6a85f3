package dump

import "symkit/elfx"

// room is memory for slices that are made one after the other and kept. They lie
// side by side in blocks: nothing is copied when one is done, or as others grow.
type room[T any] struct {
	free  []T   // empty; with the capacity that the block has left
	next  int   // length of the next block
	given [][]T // blocks of others' memory
}

// Lengths of the first and the largest blocks.
const (
	firstBlock   = 1 << 8
	largestBlock = 1 << 14
)

// keep returns s, which is what was appended to free. The rest of the block is free
// then; where s outgrew it, that of another one.
func (r *room[T]) keep(s []T) []T {
	n := len(s)
	if n == 0 {
		return nil
	}
	if cap(s) != cap(r.free) {
		block := r.block(n)[:n]
		copy(block, s)
		s = block
	}
	r.free = s[n:n]
	return s[:n:n]
}

// block returns memory for n elements or more.
func (r *room[T]) block(n int) []T {
	for last := len(r.given) - 1; last >= 0; last = len(r.given) - 1 {
		block := r.given[last]
		if r.given = r.given[:last]; len(block) >= n {
			return block
		}
	}
	r.next = min(max(2*r.next, firstBlock), largestBlock)
	block := make([]T, max(n, r.next))
	elfx.Populate(block)
	return block
}

// give adds a block, of which nobody else has any use any more.
func (r *room[T]) give(block []T) {
	if len(block) >= firstBlock {
		r.given = append(r.given, block)
	}
}
