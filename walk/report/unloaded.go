package report

import (
	"cmp"
	"slices"
	"sort"

	"symkit/walk"
)

// unloadedIndex finds the unloaded modules at an address.
type unloadedIndex struct {
	mods []walk.UnloadedModule // by Base
	ends []uint64              // the greatest End so far
}

func newUnloadedIndex(mods []walk.UnloadedModule) *unloadedIndex {
	x := &unloadedIndex{mods: slices.Clone(mods), ends: make([]uint64, len(mods))}
	slices.SortStableFunc(x.mods, func(a, b walk.UnloadedModule) int { return cmp.Compare(a.Base, b.Base) })
	top := uint64(0)
	for i := range x.mods {
		top = max(top, x.mods[i].End)
		x.ends[i] = top
	}
	return x
}

// unloadedAt has the offsets of an address in unloaded modules of one name.
type unloadedAt struct {
	name    string
	offsets []uint64 // ascending, each once
}

// maxUnloaded bounds how many modules below an address are looked at: systems
// remember some dozens.
const maxUnloaded = 1024

// at lists the unloaded modules whose ranges contained addr, by name.
func (x *unloadedIndex) at(addr uint64) (out []unloadedAt) {
	i := sort.Search(len(x.mods), func(i int) bool { return x.mods[i].Base > addr })
	for last := max(0, i-maxUnloaded); i > last && x.ends[i-1] > addr; i-- {
		m := &x.mods[i-1]
		if addr >= m.End {
			continue
		}
		// Modules of one name share an entry.
		at, ok := slices.BinarySearchFunc(out, m.Name, func(u unloadedAt, name string) int { return cmp.Compare(u.name, name) })
		if !ok {
			out = slices.Insert(out, at, unloadedAt{name: m.Name})
		}
		if off := addr - m.Base; !slices.Contains(out[at].offsets, off) {
			out[at].offsets = append(out[at].offsets, off)
		}
	}
	return out
}
