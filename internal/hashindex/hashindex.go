// Package hashindex finds keys that lie in a slice.
//
// A Go map of half a million names leaves the processor's caches four or five times in a look-up, and has the garbage
// collector look at each key. An Index has numbers alone, in one flat table: it leaves the caches once for the table, and
// once for the key.
package hashindex

// Index finds the number of a key by the key's hash. Its owner has the keys, numbers them, and computes the hashes, with
// a seed, since inputs must not choose which keys meet. The zero Index has no keys. An Index is not safe for concurrent
// use.
type Index struct {
	slots []slot // a power of 2, or none; at most half of them are used
	used  int
}

// slot has the upper half of a key's hash and 1 more than the key's number; 0 is a free slot.
type slot struct{ hash, next uint32 }

// leastSlots is the size of an Index with one key.
const leastSlots = 1 << 8

// Len returns the number of keys.
func (x *Index) Len() int { return x.used }

// Find returns the number of the key with a hash for which is returns true, false if there is none.
func (x *Index) Find(hash uint64, is func(number uint32) bool) (number uint32, ok bool) {
	if x.used == 0 {
		return 0, false
	}
	for i := x.first(uint32(hash >> 32)); x.slots[i].next != 0; i = (i + 1) & (len(x.slots) - 1) {
		if x.slots[i].hash == uint32(hash>>32) && is(x.slots[i].next-1) {
			return x.slots[i].next - 1, true
		}
	}
	return 0, false
}

// Add adds a key that the index does not have.
func (x *Index) Add(hash uint64, number uint32) {
	if 2*(x.used+1) > len(x.slots) {
		old := x.slots
		x.slots = make([]slot, max(2*len(old), leastSlots))
		for _, s := range old {
			if s.next != 0 {
				x.put(s)
			}
		}
	}
	x.used++
	x.put(slot{uint32(hash >> 32), number + 1})
}

// first returns the slot where a key belongs that has half of a hash. Slots are in the order of the upper bits, so that
// a larger table is filled from its beginning to its end.
func (x *Index) first(hash uint32) int { return int(uint64(hash) * uint64(len(x.slots)) >> 32) }

// put puts a key in the next free slot from its own one on.
func (x *Index) put(s slot) {
	i := x.first(s.hash)
	for x.slots[i].next != 0 {
		i = (i + 1) & (len(x.slots) - 1)
	}
	x.slots[i] = s
}
