package naming

import "symkit/dump/dwarfx"

// linkageCache remembers the numbers of linkage names by the offsets of the names in
// .debug_str. A linker merges equal strings, so a name that many units have is at
// one offset, and neither its text has to be read and hashed again, nor its entry in
// the table. The cache holds for one goroutine and one file; without it, ceph-osd
// takes 5 % more CPU time.
type linkageCache struct {
	data  *dwarfx.Data // whose .debug_str it is
	slots []cachedLinkage
}

// cachedLinkage is a name that was met in unit number unit.
type cachedLinkage struct {
	off    uint32 // in .debug_str; 0: free
	number uint32
	unit   uint32
}

// cacheBits is the binary logarithm of the number of slots.
const cacheBits = 17

// slot returns the slot of an offset.
func (c *linkageCache) slot(off uint32) *cachedLinkage {
	return &c.slots[off*0x9e3779b1>>(32-cacheBits)]
}

// find returns the number of the linkage name at offset off of data's .debug_str, if
// the name was met in unit or a unit before it. From a later unit the table would
// learn nothing.
func (c *linkageCache) find(data *dwarfx.Data, off uint32, unit int) (number uint32, ok bool) {
	if c.data != data {
		c.data, c.slots = data, make([]cachedLinkage, 1<<cacheBits)
	}
	s := c.slot(off)
	return s.number, off != 0 && s.off == off && s.unit <= uint32(unit)
}

// add remembers the number of the linkage name at an offset, met in unit.
func (c *linkageCache) add(off uint32, unit int, number uint32) {
	*c.slot(off) = cachedLinkage{off, number, uint32(unit)}
}
