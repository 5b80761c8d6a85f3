package dwarfx

import (
	"cmp"
	"slices"

	"symkit/elfx"
)

// Range is the addresses [Lo, Hi).
type Range = elfx.Range

// CodeMap holds the address ranges of a file's machine code, ascending and without
// overlaps. It distinguishes real code from code that the linker discarded: the
// addresses of discarded code are resolved to a tombstone, which is 0, 1 in
// .debug_ranges, −1 or −2 in the address size, or the offset in the discarded section.
type CodeMap []Range

// NewCodeMap returns the map of the given ranges, in any order.
func NewCodeMap(ranges []Range) CodeMap {
	m := CodeMap(slices.Clone(ranges))
	slices.SortFunc(m, func(a, b Range) int {
		return cmp.Or(cmp.Compare(a.Lo, b.Lo), cmp.Compare(a.Hi, b.Hi))
	})

	// Join ranges that touch or overlap.
	out := m[:0]
	for _, r := range m {
		switch last := len(out) - 1; {
		case r.Lo >= r.Hi:
		case last >= 0 && r.Lo <= out[last].Hi:
			out[last].Hi = max(out[last].Hi, r.Hi)
		default:
			out = append(out, r)
		}
	}
	return out
}

// Contains reports whether code lies at addr.
func (m CodeMap) Contains(addr uint64) bool {
	i := m.find(addr)
	return i < len(m) && addr >= m[i].Lo
}

// EndOf returns the end of the range that contains addr, or addr if none does.
func (m CodeMap) EndOf(addr uint64) uint64 {
	i := m.find(addr)
	if i < len(m) && addr >= m[i].Lo {
		return m[i].Hi
	}
	return addr
}

// find returns the index of the first range that ends above addr.
func (m CodeMap) find(addr uint64) int {
	lo, hi := 0, len(m)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if addr >= m[mid].Hi {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// tombstone reports whether addr is one that linkers write for discarded code, in the
// address size, wherever real code lies (DWARF 6 issue 200609.1; lld writes −2 in
// .debug_ranges and .debug_loc).
func tombstone(addr uint64, addrSize uint8) bool {
	top := ^uint64(0) >> (64 - 8*addrSize)
	return addr >= top-1
}
