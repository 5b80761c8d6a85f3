package dwarfx

import (
	"math/bits"
	"math/rand/v2"
)

// refSet numbers DIEs in the order of the first references to them. It is a hash table
// with linear probing. The scan of each unit begins with an empty refSet and mostly adds
// few DIEs, so slots are not cleared: each has the number of the round in which it was
// filled, and a slot of another round is free.
type refSet struct {
	list   []Ref     // by number
	slots  []refSlot // at least half are free
	round  uint32
	factor uint64    // of the hash; random, so that no file can cause collisions
	all    []refSlot // slots is the start of it: short, and thus in the cache, for few DIEs
}

// refSlot holds a DIE and its number, if round is the current one.
type refSlot struct {
	ref    Ref
	number uint32
	round  uint32
}

const leastRefSlots = 1 << 8

// reset forgets all DIEs.
func (x *refSet) reset() {
	if x.factor == 0 {
		x.factor = rand.Uint64() | 1
	}
	x.list = x.list[:0]
	x.free(leastRefSlots)
}

// free makes n slots, all free.
func (x *refSet) free(n int) {
	x.round++
	if len(x.all) < n || x.round == 0 {
		x.all, x.round = make([]refSlot, max(len(x.all), n)), 1
		clear(x.all) // a page that is read before it is written faults twice
	}
	x.slots = x.all[:n]
}

// slot returns the slot that holds a DIE, or the free one that will.
func (x *refSet) slot(ref Ref) *refSlot {
	shift := 64 - bits.TrailingZeros(uint(len(x.slots)))
	for i := int(uint64(ref) * x.factor >> shift); ; i++ {
		s := &x.slots[i&(len(x.slots)-1)]
		if s.round != x.round || s.ref == ref {
			return s
		}
	}
}

// index returns the number of a DIE.
func (x *refSet) index(ref Ref) uint32 {
	s := x.slot(ref)
	if s.round == x.round {
		return s.number
	}

	// The DIE is new.
	number := uint32(len(x.list))
	s.ref, s.number, s.round = ref, number, x.round
	x.list = append(x.list, ref)
	if len(x.list) > len(x.slots)/2 {
		x.grow()
	}
	return number
}

// grow doubles the slots.
func (x *refSet) grow() {
	x.free(2 * len(x.slots))
	for i, ref := range x.list {
		s := x.slot(ref)
		s.ref, s.number, s.round = ref, uint32(i), x.round
	}
}
