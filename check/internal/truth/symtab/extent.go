package symtab

import (
	"cmp"
	"slices"
	"sort"
)

// mappingMark is a mapping symbol: the code, or data, from addr on.
type mappingMark struct {
	addr uint64
	data bool
}

// order prepares the symbols for look-ups.
func (t *Table) order() {
	slices.Sort(t.objects)

	// Of several mapping symbols at one address, which empty ranges leave, one for code is right.
	slices.SortFunc(t.marks, func(a, b mappingMark) int {
		switch {
		case a.addr != b.addr:
			return cmp.Compare(a.addr, b.addr)
		case a.data == b.data:
			return 0
		case a.data:
			return 1
		}
		return -1
	})
	t.marks = slices.CompactFunc(t.marks, func(a, b mappingMark) bool { return a.addr == b.addr })

	t.bounds = slices.Clone(t.objects)
	for i := range t.All {
		if s := &t.All[i]; s.Kind != Alias && !s.Dotted {
			t.bounds = append(t.bounds, s.Addr)
		}
	}
	slices.Sort(t.bounds)
}

// isData reports whether addr is that of data in code: of an object, or in the range of a mapping
// symbol for data.
func (t *Table) isData(addr uint64) bool {
	_, object := slices.BinarySearch(t.objects, addr)
	after := sort.Search(len(t.marks), func(i int) bool { return t.marks[i].addr > addr })
	return object || after > 0 && t.marks[after-1].data
}

// Next returns the first address above addr where another symbol of code or data begins.
func (t *Table) Next(addr uint64) uint64 {
	after := sort.Search(len(t.bounds), func(i int) bool { return t.bounds[i] > addr })
	if after == len(t.bounds) {
		return ^uint64(0)
	}
	return t.bounds[after]
}

// NeedsFunc reports whether a symbol whose code has lines needs a FUNC. A dotted label may be
// nasm's name of a local label: .loop after main is main.loop.
func (t *Table) NeedsFunc(s *Symbol) bool {
	return s.Kind == Function || s.Kind == Label && !s.Dotted && !t.isData(s.Addr)
}

// SizedEnd returns the highest end of the functions, or else of the labels, among symbols at one address
// that have a size, or 0.
func SizedEnd(symbols []Symbol, function bool) (end uint64) {
	for i := range symbols {
		if s := &symbols[i]; s.Function == function && s.End > s.Addr {
			end = max(end, s.End)
		}
	}
	return end
}
