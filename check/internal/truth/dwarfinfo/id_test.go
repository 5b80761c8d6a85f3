package dwarfinfo

import "testing"

// TestStringIDs: strings of different files are different ones, of packages of more than 65,536 files, too.
func TestStringIDs(t *testing.T) {
	seen := map[stringID]uint64{}
	for _, number := range []uint64{0, 1, 2, 1<<16 - 1, 1 << 16, 1<<16 + 1, 1 << 20, altNumber} {
		d := &Info{number: number}
		for _, section := range []stringID{inInfo, inStr, inLineStr} {
			id := d.id(section, 5)
			other, ok := seen[id]
			if ok || id == 0 {
				t.Errorf("files %d and %d have the id %#x", other, number, id)
			}
			seen[id] = number
		}
	}
}
