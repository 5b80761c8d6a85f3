package dwarfinfo

// refTable maps Ref.key to the number of a name, for one unit after another. Nearly every function
// and inlined call is looked up, so that a Go map would take longer than reading the DIEs. A slot
// is free unless it is of the current unit.
type refTable struct {
	slots []refSlot // a power of 2, or none
	used  int
	unit  uint32
}

// refSlot is an entry, of the unit with a number.
type refSlot struct {
	key      uint64
	unit, id uint32
}

// leastSlots is the size of a table with one entry.
const leastSlots = 1 << 8

// clear removes all entries.
func (t *refTable) clear() {
	t.used = 0
	t.unit++
	if t.unit == 0 { // after 2³² units, slots of the first ones would count again
		clear(t.slots)
		t.unit = 1
	}
}

// find returns the slot of a key, or the free slot where the key belongs. t has a free slot.
func (t *refTable) find(key uint64) *refSlot {
	mask := uint64(len(t.slots) - 1)
	for i := key * 0x9e3779b97f4a7c15 >> 20 & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if s.unit != t.unit || s.key == key {
			return s
		}
	}
}

// get returns the number of a key, false if t has none.
func (t *refTable) get(key uint64) (id uint32, ok bool) {
	if t.used == 0 {
		return 0, false
	}
	s := t.find(key)
	return s.id, s.unit == t.unit
}

// add adds a key that t does not have. At most half of the slots are used.
func (t *refTable) add(key uint64, id uint32) {
	if 2*(t.used+1) > len(t.slots) {
		old := t.slots
		t.slots = make([]refSlot, max(2*len(old), leastSlots))
		for _, s := range old {
			if s.unit == t.unit {
				*t.find(s.key) = s
			}
		}
	}
	t.used++
	*t.find(key) = refSlot{key, t.unit, id}
}
