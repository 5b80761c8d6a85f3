package shown

import (
	"cmp"
	"slices"
	"sort"

	"symkit/walk"
)

// Unloaded finds the unloaded modules at an address.
type Unloaded struct {
	mods []walk.UnloadedModule // by Base
	ends []uint64              // the greatest End so far
}

func NewUnloaded(mods []walk.UnloadedModule) *Unloaded {
	x := &Unloaded{mods: slices.Clone(mods), ends: make([]uint64, len(mods))}
	slices.SortStableFunc(x.mods, func(a, b walk.UnloadedModule) int { return cmp.Compare(a.Base, b.Base) })
	top := uint64(0)
	for i := range x.mods {
		top = max(top, x.mods[i].End)
		x.ends[i] = top
	}
	return x
}

// UnloadedAt has the offsets of an address in unloaded modules of one name.
type UnloadedAt struct {
	Name    string
	Offsets []uint64 // ascending, each once
}

// maxUnloaded bounds how many modules below an address are looked at: systems
// remember some dozens.
const maxUnloaded = 1024

// At lists the unloaded modules whose ranges contained addr, by name.
func (x *Unloaded) At(addr uint64) (out []UnloadedAt) {
	i := sort.Search(len(x.mods), func(i int) bool { return x.mods[i].Base > addr })
	for last := max(0, i-maxUnloaded); i > last && x.ends[i-1] > addr; i-- {
		m := &x.mods[i-1]
		if addr >= m.End {
			continue
		}
		// Modules of one name share an entry.
		at, ok := slices.BinarySearchFunc(out, m.Name, func(u UnloadedAt, name string) int { return cmp.Compare(u.Name, name) })
		if !ok {
			out = slices.Insert(out, at, UnloadedAt{Name: m.Name})
		}
		if off := addr - m.Base; !slices.Contains(out[at].Offsets, off) {
			out[at].Offsets = append(out[at].Offsets, off)
		}
	}
	return out
}
