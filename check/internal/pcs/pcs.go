// Package pcs has ranges and sets of code addresses.
package pcs

import (
	"cmp"
	"slices"
)

// Set are addresses [lo, hi), ascending and without overlaps.
type Set []Range

type Range struct{ Lo, Hi uint64 }

// Union sorts and joins.
func Union(r Set) Set {
	slices.SortFunc(r, func(a, b Range) int { return cmp.Or(cmp.Compare(a.Lo, b.Lo), cmp.Compare(a.Hi, b.Hi)) })
	out := r[:0]
	for _, x := range r {
		switch n := len(out) - 1; {
		case x.Lo >= x.Hi:
		case n >= 0 && x.Lo <= out[n].Hi:
			out[n].Hi = max(out[n].Hi, x.Hi)
		default:
			out = append(out, x)
		}
	}
	return out
}

// Find is the index of the first range that ends above addr.
func (r Set) Find(addr uint64) int {
	i, _ := slices.BinarySearchFunc(r, addr, func(x Range, a uint64) int {
		if x.Hi <= a {
			return -1
		}
		return 1
	})
	return i
}

func (r Set) Contains(addr uint64) bool {
	i := r.Find(addr)
	return i < len(r) && r[i].Lo <= addr
}

// Size is the number of bytes.
func (r Set) Size() (n uint64) {
	for _, x := range r {
		n += x.Hi - x.Lo
	}
	return n
}

// Within is the number of bytes that a and b share.
func Within(a, b Set) (n uint64) {
	for len(a) > 0 && len(b) > 0 {
		if lo, hi := max(a[0].Lo, b[0].Lo), min(a[0].Hi, b[0].Hi); lo < hi {
			n += hi - lo
		}
		if a[0].Hi < b[0].Hi {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return n
}

// Outside calls f with the parts of [lo, hi) that are not in r.
func (r Set) Outside(lo, hi uint64, f func(lo, hi uint64)) {
	for i := r.Find(lo); lo < hi; i++ {
		if i == len(r) || r[i].Lo >= hi {
			f(lo, hi)
			return
		}
		if r[i].Lo > lo {
			f(lo, r[i].Lo)
		}
		lo = r[i].Hi
	}
}

// FirstOutside is the first address of [lo, hi) that is not in r, hi for none.
func (r Set) FirstOutside(lo, hi uint64) uint64 {
	if i := r.Find(lo); i < len(r) && r[i].Lo <= lo {
		return min(r[i].Hi, hi)
	}
	return min(lo, hi)
}
