package dwarfinfo

import (
	"maps"
	"math/rand/v2"
	"testing"
)

// TestRefTable compares a refTable with a map, over several units, one of which ends the count of
// units.
func TestRefTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var table refTable
	for unit := range 40 {
		if unit == 20 {
			table.unit = 1<<32 - 3
		}
		table.clear()
		want := map[uint64]uint32{}
		for i := range uint32(rng.IntN(3000)) {
			key := rng.Uint64N(1 << (1 + unit))
			if _, ok := want[key]; !ok {
				want[key] = i
				table.add(key, i)
			}
		}

		got := map[uint64]uint32{}
		for key := range want {
			if id, ok := table.get(key); ok {
				got[key] = id
			}
			if _, ok := want[key+1]; !ok {
				if id, ok := table.get(key + 1); ok {
					t.Fatalf("unit %d: %#x, which is not in the table, has %d", unit, key+1, id)
				}
			}
		}
		if !maps.Equal(got, want) || table.used != len(want) {
			t.Fatalf("unit %d: %d entries, want %d", unit, len(got), len(want))
		}
	}
}
