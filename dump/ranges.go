package dump

import (
	"slices"
	"sort"

	"symkit/dump/dwarfx"
	"symkit/elfx"
)

// rangeList holds the ranges of a unit, in half the space where the unit's code
// lies within 4 GiB: of a large C++ program they are tens of megabytes. Addresses are
// virtual ones.
type rangeList struct {
	base   uint64
	narrow [][2]uint32 // from, to: added to base
	wide   []dwarfx.Range
}

// newRangeList copies ranges.
func newRangeList(ranges []dwarfx.Range) *rangeList {
	l := new(rangeList)
	if len(ranges) == 0 {
		return l
	}
	lo, hi := ranges[0].Lo, ranges[0].Hi
	for _, r := range ranges {
		lo, hi = min(lo, r.Lo), max(hi, r.Hi)
	}
	if hi-lo >= 1<<32 {
		l.wide = slices.Clone(ranges)
		return l
	}
	l.base, l.narrow = lo, make([][2]uint32, len(ranges))
	elfx.Populate(l.narrow)
	for i, r := range ranges {
		l.narrow[i] = [2]uint32{uint32(r.Lo - lo), uint32(r.Hi - lo)}
	}
	return l
}

// at returns range i.
func (l *rangeList) at(i uint32) dwarfx.Range {
	if l.wide != nil {
		return l.wide[i]
	}
	r := l.narrow[i]
	return dwarfx.Range{Lo: l.base + uint64(r[0]), Hi: l.base + uint64(r[1])}
}

// append appends the ranges of a span to dst.
func (l *rangeList) append(dst []dwarfx.Range, s dwarfx.Span) []dwarfx.Range {
	if l.wide != nil {
		return append(dst, l.wide[s.From:s.To]...)
	}
	for _, r := range l.narrow[s.From:s.To] {
		dst = append(dst, dwarfx.Range{Lo: l.base + uint64(r[0]), Hi: l.base + uint64(r[1])})
	}
	return dst
}

// put writes ranges, which lie where those of the list do, over those from a place on.
func (l *rangeList) put(from uint32, ranges []dwarfx.Range) {
	if l.wide != nil {
		copy(l.wide[from:], ranges)
		return
	}
	for i, r := range ranges {
		l.narrow[int(from)+i] = [2]uint32{uint32(r.Lo - l.base), uint32(r.Hi - l.base)}
	}
}

// leading returns how many elements of list, the first ones, are before something. It is soon
// found where they are few.
func leading[T any](list []T, before func(*T) bool) int {
	lo, step := 0, 1
	for lo+step <= len(list) && before(&list[lo+step-1]) {
		lo += step
		step *= 2
	}
	rest := list[lo:min(lo+step, len(list))]
	return lo + sort.Search(len(rest), func(i int) bool { return !before(&rest[i]) })
}
