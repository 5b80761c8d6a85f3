package dump

import (
	"slices"
	"testing"
)

// TestRoom: what is kept stays as it is while more is, whatever the blocks hold.
func TestRoom(t *testing.T) {
	var r room[int]
	var kept [][]int
	var want [][]int
	n := 0
	for _, length := range []int{0, 1, firstBlock - 1, 1, 0, 3, 10 * firstBlock, 7, largestBlock + 1, 1, 1, largestBlock, largestBlock, 5} {
		s, w := r.free, []int(nil)
		for range length {
			s, w = append(s, n), append(w, n)
			n++
		}
		kept, want = append(kept, r.keep(s)), append(want, w)
		_ = append(kept[len(kept)-1], -1) // into its own memory
	}
	if !slices.EqualFunc(kept, want, slices.Equal) {
		t.Error("a slice has changed")
	}
	if len(r.free) != 0 || cap(r.free) != largestBlock-5 {
		t.Errorf("%d, %d free", len(r.free), cap(r.free))
	}
}

// TestRoomGive: blocks of others' memory are used first, if they are large enough.
func TestRoomGive(t *testing.T) {
	var r room[int]
	given := make([]int, 2*firstBlock)
	r.give(make([]int, firstBlock-1)) // not worth it
	r.give(given)
	r.give(make([]int, firstBlock))
	first := r.keep(make([]int, firstBlock+1))
	second := r.keep(append(r.free, 7))
	if &first[0] != &given[0] || &second[0] != &given[firstBlock+1] || given[firstBlock+1] != 7 || len(r.given) != 0 {
		t.Errorf("%p and %p, given %p; %d left", first, second, given, len(r.given))
	}
	if more := r.keep(make([]int, firstBlock)); &more[0] == &given[0] || len(r.free) != 0 {
		t.Error("a block is used twice")
	}
}

// TestRoomAllocs: small slices cost no allocation of their own.
func TestRoomAllocs(t *testing.T) {
	var r room[int]
	many := func() {
		for i := range largestBlock {
			r.keep(append(r.free, i, i, i))
		}
	}
	if n := testing.AllocsPerRun(10, many); n > 3*3 { // a block, and the slice that outgrew the last one
		t.Errorf("%v allocations", n)
	}
}
