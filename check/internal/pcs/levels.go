package pcs

import (
	"cmp"
	"slices"
)

// Key is the sort key of a range: its level, the address where it begins, and its index.
type Key struct {
	Lo           uint64
	Level, Index uint32
}

// Levels sorts the ranges of inlined calls by level, then by address, then by index. The ranges
// of a function mostly come as a tree, each call before the calls in it, so that those of one level
// are in order: Levels counts the ranges of each level, and moves each range to its level. Only
// levels whose ranges are not in order are sorted. A Levels can be used again.
type Levels struct {
	keys, byLevel []Key
	counts        []uint32 // by level
	packed        []uint64 // of the level that is being sorted
	highest       uint32
	unsorted      bool
}

// maxCounted is the highest level whose ranges are counted. No compiler writes a higher one.
const maxCounted = 1 << 10

// Reset removes all ranges.
func (l *Levels) Reset() { l.keys, l.highest, l.unsorted = l.keys[:0], 0, false }

// Add adds a range, whose index is the number of ranges before it.
func (l *Levels) Add(level uint32, lo uint64) {
	k := Key{lo, level, uint32(len(l.keys))}
	if n := len(l.keys); n > 0 && l.keys[n-1].compare(k) > 0 {
		l.unsorted = true
	}
	l.highest = max(l.highest, level)
	l.keys = append(l.keys, k)
}

// compare orders keys by level, address and index.
func (k Key) compare(other Key) int {
	switch {
	case k.Level != other.Level:
		return cmp.Compare(k.Level, other.Level)
	case k.Lo != other.Lo:
		return cmp.Compare(k.Lo, other.Lo)
	}
	return cmp.Compare(k.Index, other.Index)
}

// Sorted returns the keys of all ranges in order, until the next call of a method. moved is false
// if the ranges were added in this order.
func (l *Levels) Sorted() (keys []Key, moved bool) {
	if !l.unsorted {
		return l.keys, false
	}
	if l.highest > maxCounted {
		slices.SortFunc(l.keys, Key.compare)
		return l.keys, true
	}

	// Each count becomes the index in byLevel of the next range of the level.
	l.counts = append(l.counts[:0], make([]uint32, l.highest+1)...)
	for i := range l.keys {
		l.counts[l.keys[i].Level]++
	}
	at := uint32(0)
	for i, n := range l.counts {
		l.counts[i] = at
		at += n
	}
	l.byLevel = slices.Grow(l.byLevel[:0], len(l.keys))[:len(l.keys)]
	for _, k := range l.keys {
		l.byLevel[l.counts[k.Level]] = k
		l.counts[k.Level]++
	}

	// Each level is sorted for itself, unless it is in order.
	from := uint32(0)
	for _, to := range l.counts {
		level := l.byLevel[from:to]
		for i := 1; i < len(level); i++ {
			if level[i].Lo < level[i-1].Lo {
				l.sort(level)
				break
			}
		}
		from = to
	}
	return l.byLevel, true
}

// sort sorts the keys of one level. Their addresses mostly lie within 4 GiB: an address and an index
// are one number then, and numbers are sorted faster than keys.
func (l *Levels) sort(level []Key) {
	lowest, highest := level[0].Lo, level[0].Lo
	for _, k := range level {
		lowest, highest = min(lowest, k.Lo), max(highest, k.Lo)
	}
	if highest-lowest >= 1<<32 {
		slices.SortFunc(level, Key.compare)
		return
	}

	l.packed = l.packed[:0]
	for _, k := range level {
		l.packed = append(l.packed, (k.Lo-lowest)<<32|uint64(k.Index))
	}
	slices.Sort(l.packed)
	for i, x := range l.packed {
		level[i].Lo, level[i].Index = lowest+x>>32, uint32(x)
	}
}
