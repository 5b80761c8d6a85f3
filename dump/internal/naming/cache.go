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

// start makes the offsets that follow those of data's .debug_str.
func (c *linkageCache) start(data *dwarfx.Data) {
	if c.data != data {
		c.data, c.slots = data, make([]cachedLinkage, 1<<cacheBits)
	}
}

// at returns what the cache has in the place of an offset.
func (c *linkageCache) at(off uint32) cachedLinkage { return *c.slot(off) }

// is reports whether l is the linkage name at an offset and was met in unit or a unit
// before it. From a later unit the table would learn nothing.
func (l *cachedLinkage) is(off uint32, unit int) bool {
	return off != 0 && l.off == off && l.unit <= uint32(unit)
}

// add remembers the number of the linkage name at an offset, met in unit.
func (c *linkageCache) add(off uint32, unit int, number uint32) {
	*c.slot(off) = cachedLinkage{off, number, uint32(unit)}
}
