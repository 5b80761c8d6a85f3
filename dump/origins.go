package dump

import (
	"math/bits"
	"sync/atomic"

	"symkit/dump/dwarfx"
	"symkit/elfx"
)

// knownOrigins remembers where in .debug_str the linkage names stand that have
// numbers: to see one again costs neither reading it nor the table of names, which
// would learn nothing from a name of a later unit. All goroutines use it; what one
// remembers takes the place of something else.
type knownOrigins struct {
	data  *dwarfx.Data // whose .debug_str it is
	shift uint
	// slots hold, in this order: the bits that tell an offset's hash from others
	// with the same slot, the name's number + 1, the unit; 0 is nothing.
	slots []atomic.Uint64
}

// Bits of what is in a slot.
const (
	knownID   = 26
	knownUnit = 21
	knownTag  = 64 - knownID - knownUnit
)

// There are 2^leastKnown to 2^mostKnown slots. The hash of an offset has 32 bits; its
// slot and tag are enough to tell them all.
const (
	leastKnown = 32 - knownTag
	mostKnown  = 18
)

// knownOrigins returns those that the table's names come from. They are of the data
// that is asked for first.
func (t *nameTable) knownOrigins(d *dwarfx.Data) *knownOrigins {
	if k := t.origins.Load(); k != nil {
		return k
	}
	n := min(max(bits.Len(uint(t.size))+2, leastKnown), mostKnown)
	k := &knownOrigins{data: d, shift: uint(32 - n), slots: make([]atomic.Uint64, 1<<n)}
	if t.origins.CompareAndSwap(nil, k) {
		elfx.Populate(k.slots) // they are read first, see newSlots
	}
	return t.origins.Load()
}

// slot returns the slot of an offset, and the tag that it has there.
func (k *knownOrigins) slot(off uint32) (slot *atomic.Uint64, tag uint64) {
	hash := off * 0x9e3779b1 // odd: no two offsets have the same
	return &k.slots[hash>>k.shift], uint64(hash & (1<<knownTag - 1))
}

// at returns what is in the slot of an offset. Many can be waited for at the same time.
func (k *knownOrigins) at(off uint32) uint64 {
	slot, _ := k.slot(off)
	return slot.Load()
}

// find returns the number of the linkage name at an offset, if that is what is known,
// and was met in the same unit or one before.
func (k *knownOrigins) find(known uint64, off, unit uint32) (id uint32, ok bool) {
	_, tag := k.slot(off)
	id = uint32(known>>knownUnit) & (1<<knownID - 1)
	return id - 1, off != 0 && id != 0 && known>>(64-knownTag) == tag && uint32(known&(1<<knownUnit-1)) <= unit
}

// learn remembers the number of the linkage name at an offset that is not 0, met in
// a unit.
func (k *knownOrigins) learn(off, id, unit uint32) {
	if off == 0 || id+1 >= 1<<knownID || unit >= 1<<knownUnit {
		return
	}
	slot, tag := k.slot(off)
	slot.Store(tag<<(64-knownTag) | uint64(id+1)<<knownUnit | uint64(unit))
}
