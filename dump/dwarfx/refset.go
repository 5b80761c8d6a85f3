package dwarfx

import (
	"math/bits"
	"math/rand/v2"
)

// refSet numbers DIEs, each once. It is used again without being cleared.
type refSet struct {
	list []Ref // by number
	// slots are found by hash, the next ones in their places if those are taken; at
	// least half are free.
	slots  []refSlot
	round  uint32
	factor uint64    // of hashes: nobody can know which DIEs get in each other's way
	all    []refSlot // slots are some of these: few, which stay in the cache, where DIEs are few
}

// refSlot is where a DIE is found, if it is of this round.
type refSlot struct {
	ref    Ref
	number uint32
	round  uint32
}

const leastRefSlots = 1 << 8

// reset begins anew.
func (x *refSet) reset() {
	if x.factor == 0 {
		x.factor = rand.Uint64() | 1
	}
	x.list = x.list[:0]
	x.free(leastRefSlots)
}

// free makes n slots, all free.
func (x *refSet) free(n int) {
	if x.round++; len(x.all) < n || x.round == 0 {
		x.all, x.round = make([]refSlot, max(len(x.all), n)), 1
		clear(x.all) // memory that is read before it is written costs the system twice
	}
	x.slots = x.all[:n]
}

// slot returns the slot of a DIE, or a free one for it.
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
	number := uint32(len(x.list))
	s.ref, s.number, s.round = ref, number, x.round
	if x.list = append(x.list, ref); len(x.list) > len(x.slots)/2 {
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
