package hashindex

import "testing"

// TestIndex: each key is found by its number alone, also where hashes are equal or differ in their lower half, and where
// the last slots are used.
func TestIndex(t *testing.T) {
	for _, c := range []struct {
		name string
		keys int
		hash func(key int) uint64
	}{
		{"spread", 100_000, func(key int) uint64 { return uint64(key) * 0x9e3779b97f4a7c15 }},
		{"equal", 1000, func(int) uint64 { return 1 << 40 }},
		{"of equal upper halves", 1000, func(key int) uint64 { return 1<<40 | uint64(key) }},
		{"of the last slots", 1000, func(key int) uint64 { return ^uint64(key % 3) }},
	} {
		var x Index
		find := func(key int) (uint32, bool) {
			return x.Find(c.hash(key), func(n uint32) bool { return n == uint32(key) })
		}
		for key := range c.keys {
			_, ok := find(key)
			if ok {
				t.Fatalf("%s: key %d is found before it is added", c.name, key)
			}
			x.Add(c.hash(key), uint32(key))
		}
		for key := range c.keys {
			n, ok := find(key)
			if !ok || n != uint32(key) {
				t.Fatalf("%s: key %d has the number %d, %v", c.name, key, n, ok)
			}
		}
	}
}
