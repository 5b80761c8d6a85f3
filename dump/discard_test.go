package dump

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"symkit/dump/dwarfx"
)

// TestDiscards: a piece of .debug_info is given up once, and as soon as all units in
// it that have names are done, in whatever order they are.
func TestDiscards(t *testing.T) {
	const piece = discardPiece
	data := &dwarfx.Data{}
	data.Info = make([]byte, 3*piece+100)
	units := []*dwarfx.Unit{ // none has names in [piece, 2*piece)
		{Off: 0, End: 10}, {Off: 10, End: piece - 5}, {Off: 2*piece + 7, End: 2*piece + 9}, {Off: 2*piece + 9, End: 3*piece + 100},
	}
	pieces := [][]int{{0, 1}, nil, {2, 3}, {3}} // of each, its units
	for range 20 {
		given := map[uint64]uint64{}
		x := &discards{left: make([]atomic.Int64, len(pieces)), data: data}
		x.discard = func(from, to uint64) {
			if given[from] != 0 {
				t.Errorf("%#x is given up twice", from)
			}
			given[from] = to
		}
		for _, u := range units {
			x.add(u, 1)
		}
		done := map[int]bool{}
		for _, i := range rand.Perm(len(units)) {
			done[i] = true
			x.add(units[i], -1)
			for p, of := range pieces {
				want := len(of) > 0
				for _, k := range of {
					want = want && done[k]
				}
				end := min(uint64(p+1)*piece, uint64(len(data.Info)))
				if got := given[uint64(p)*piece]; want != (got == end) || !want && got != 0 {
					t.Errorf("after %v: piece %d is given up to %#x, want it: %v", done, p, got, want)
				}
			}
		}
	}
}
