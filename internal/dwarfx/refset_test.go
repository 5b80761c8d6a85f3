package dwarfx

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRefSet: each DIE has one number, in the order in which they come, in every round.
func TestRefSet(t *testing.T) {
	var x refSet
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 20 {
		if x.reset(); round == 10 {
			x.round = math.MaxUint32 // the next one begins anew
		}
		want, list := map[Ref]uint32{}, []Ref(nil)
		for range random.IntN(3000) {
			ref := Ref(random.Uint64() % 2000)
			number, known := want[ref]
			if !known {
				number = uint32(len(list))
				want[ref], list = number, append(list, ref)
			}
			if got := x.index(ref); got != number {
				t.Fatalf("round %d: %d has number %d, want %d", round, ref, got, number)
			}
		}
		if !slices.Equal(x.list, list) {
			t.Fatalf("round %d: another list", round)
		}
	}
}
