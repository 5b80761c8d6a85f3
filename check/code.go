package check

import (
	"cmp"
	"debug/elf"
	"slices"

	"symkit/elfx"
)

// ranges are addresses [lo, hi), ascending and without overlaps.
type ranges []addrRange

type addrRange struct{ lo, hi uint64 }

// union sorts and joins.
func union(r ranges) ranges {
	slices.SortFunc(r, func(a, b addrRange) int { return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.hi, b.hi)) })
	out := r[:0]
	for _, x := range r {
		switch n := len(out) - 1; {
		case x.lo >= x.hi:
		case n >= 0 && x.lo <= out[n].hi:
			out[n].hi = max(out[n].hi, x.hi)
		default:
			out = append(out, x)
		}
	}
	return out
}

// find is the index of the first range that ends above addr.
func (r ranges) find(addr uint64) int {
	i, _ := slices.BinarySearchFunc(r, addr, func(x addrRange, a uint64) int {
		if x.hi <= a {
			return -1
		}
		return 1
	})
	return i
}

func (r ranges) contains(addr uint64) bool {
	i := r.find(addr)
	return i < len(r) && r[i].lo <= addr
}

// size is the number of bytes.
func (r ranges) size() (n uint64) {
	for _, x := range r {
		n += x.hi - x.lo
	}
	return n
}

// within is the number of bytes that a and b share.
func within(a, b ranges) (n uint64) {
	for len(a) > 0 && len(b) > 0 {
		if lo, hi := max(a[0].lo, b[0].lo), min(a[0].hi, b[0].hi); lo < hi {
			n += hi - lo
		}
		if a[0].hi < b[0].hi {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return n
}

// outside calls f with the parts of [lo, hi) that are not in r.
func (r ranges) outside(lo, hi uint64, f func(lo, hi uint64)) {
	for i := r.find(lo); lo < hi; i++ {
		if i == len(r) || r[i].lo >= hi {
			f(lo, hi)
			return
		}
		if r[i].lo > lo {
			f(lo, r[i].lo)
		}
		lo = r[i].hi
	}
}

// firstOutside is the first address of [lo, hi) that is not in r, hi for none.
func (r ranges) firstOutside(lo, hi uint64) uint64 {
	if i := r.find(lo); i < len(r) && r[i].lo <= lo {
		return min(r[i].hi, hi)
	}
	return min(lo, hi)
}

// codeOf is where a file's machine code lies: its executable sections, or,
// without section headers, its executable segments. (A segment may hold the
// ELF header too, and with it address 0, which marks discarded code.)
func codeOf(f *elfx.File) ranges {
	var r ranges
	for i := range f.Sections {
		if s := &f.Sections[i]; s.Flags&elf.SHF_EXECINSTR != 0 && s.Flags&elf.SHF_ALLOC != 0 {
			r = append(r, addrRange{s.Addr, s.Addr + s.Size})
		}
	}
	if len(r) == 0 {
		for _, x := range f.ExecRanges() {
			r = append(r, addrRange{x.Lo, x.Hi})
		}
	}
	return union(r)
}
