package dump

import (
	"math/rand/v2"
	"sync"
	"testing"

	"symkit/dump/dwarfx"
)

// find is at and find.
func find(k *knownOrigins, off, unit uint32) (id uint32, ok bool) {
	return k.find(k.at(off), off, unit)
}

// TestKnownOrigins: what is learned holds for the unit that it comes from and those
// behind it, and what does not fit is not learned.
func TestKnownOrigins(t *testing.T) {
	for _, size := range []int{0, 5000, 1 << 30} {
		k := (&nameTable{size: size}).knownOrigins(new(dwarfx.Data))
		const off, most, mostUnit = 0xfffffff0, 1<<knownID - 2, 1<<knownUnit - 1
		tests := []struct {
			off, id, unit uint32
			learned       bool
		}{
			{off, 0, 0, true}, {off, 7, 3, true}, {off, most, mostUnit, true}, {1, most, 0, true}, {1 << 31, 0, mostUnit, true},
			{0, 7, 3, false}, {off, most + 1, 3, false}, {off, 1<<32 - 1, 3, false}, {off, 7, mostUnit + 1, false},
		}
		for _, tt := range tests {
			clear(k.slots)
			k.learn(tt.off, tt.id, tt.unit)
			id, ok := find(k, tt.off, tt.unit)
			if ok != tt.learned || ok && id != tt.id {
				t.Errorf("%+v: %d, %v", tt, id, ok)
			}
			if _, ok := find(k, tt.off, tt.unit+1); ok != tt.learned {
				t.Errorf("%+v: known in the next unit: %v", tt, ok)
			}
			if _, ok := find(k, tt.off, tt.unit-1); ok && tt.unit > 0 {
				t.Errorf("%+v: known in the unit before", tt)
			}
		}
	}
}

// TestKnownOriginsApart: no offset is taken for another one, also while others
// learn.
func TestKnownOriginsApart(t *testing.T) {
	k := newNameTable(0).knownOrigins(new(dwarfx.Data))
	var group sync.WaitGroup
	for seed := range uint64(4) {
		group.Go(func() {
			r := rand.New(rand.NewPCG(seed, 1))
			hits := 0
			for range 1 << 18 {
				off := r.Uint32() % (1 << 19) * 0x1fff // more than there are slots
				if id, ok := find(k, off, 9); ok {
					hits++
					if id != off%100003 {
						t.Errorf("offset %#x: %d, want %d", off, id, off%100003)
						return
					}
				}
				k.learn(off, off%100003, 9)
			}
			if hits < 1<<10 {
				t.Errorf("%d hits", hits)
			}
		})
	}
	group.Wait()
}

// TestKnownOriginsOnce: all have the same, of what came first.
func TestKnownOriginsOnce(t *testing.T) {
	table, first := newNameTable(100), new(dwarfx.Data)
	k := table.knownOrigins(first)
	if other := table.knownOrigins(new(dwarfx.Data)); other != k || k.data != first {
		t.Error("another one")
	}
}
