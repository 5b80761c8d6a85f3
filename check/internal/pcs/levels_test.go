package pcs

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLevels sorts ranges as trees, in order, in no order, and with levels that are not counted.
func TestLevels(t *testing.T) {
	var l Levels
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 2000 {
		highest := []uint32{1, 4, 30, maxCounted, maxCounted + 9, 1<<32 - 1}[round%6]
		l.Reset()
		var want []Key
		for i := range rng.IntN(40) {
			k := Key{rng.Uint64N(30), uint32(rng.Uint64N(uint64(highest) + 1)), uint32(i)}
			switch round % 5 {
			case 0:
				k.Lo, k.Level = uint64(i), 3
			case 1:
				k.Lo <<= rng.IntN(60)
			}
			want = append(want, k)
			l.Add(k.Level, k.Lo)
		}

		inOrder := slices.IsSortedFunc(want, Key.compare)
		slices.SortFunc(want, Key.compare)
		got, moved := l.Sorted()
		if !slices.Equal(got, want) || moved == inOrder {
			t.Fatalf("round %d: %v, moved %v, want %v", round, got, moved, want)
		}
	}
}

// TestLevelsAllocates checks that sorting as many ranges as before needs no memory.
func TestLevelsAllocates(t *testing.T) {
	var l Levels
	n := testing.AllocsPerRun(10, func() {
		l.Reset()
		for i := range uint32(100) {
			l.Add(i%7, uint64(100-i))
		}
		l.Sorted()
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}
