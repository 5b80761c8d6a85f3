// Package pcs has ranges and sets of code addresses, and lists of values, each of which holds for a range.
package pcs

import (
	"cmp"
	"slices"
	"sort"
)

// Range is the addresses [Lo, Hi).
type Range struct{ Lo, Hi uint64 }

// PCs returns r. A struct with an embedded Range has the method, too.
func (r *Range) PCs() Range { return *r }

// Bounds returns a pointer to r: it is PCs for ranges that may be changed.
func (r *Range) Bounds() *Range { return r }

// Set is ranges in ascending order, without overlaps.
type Set []Range

// Union sorts r and joins the ranges that overlap or touch.
func Union(r Set) Set {
	slices.SortFunc(r, func(a, b Range) int {
		if a.Lo != b.Lo {
			return cmp.Compare(a.Lo, b.Lo)
		}
		return cmp.Compare(a.Hi, b.Hi)
	})
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

// Find returns the index of the first range that ends above addr.
func (r Set) Find(addr uint64) int { return After(r, addr) }

// Contains reports whether addr is in r.
func (r Set) Contains(addr uint64) bool {
	i := r.Find(addr)
	return i < len(r) && r[i].Lo <= addr
}

// Size returns the number of bytes in r.
func (r Set) Size() (n uint64) {
	for _, x := range r {
		n += x.Hi - x.Lo
	}
	return n
}

// Within returns the number of bytes that a and b share.
func Within(a, b Set) (n uint64) {
	for len(a) > 0 && len(b) > 0 {
		if lo, hi := max(a[0].Lo, b[0].Lo), min(a[0].Hi, b[0].Hi); lo < hi {
			n += hi - lo
		}

		// The range that ends first cannot meet another one.
		if a[0].Hi < b[0].Hi {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return n
}

// FirstOutside returns the first address of [lo, hi) that is not in r, or hi.
func (r Set) FirstOutside(lo, hi uint64) uint64 {
	if i := r.Find(lo); i < len(r) && r[i].Lo <= lo {
		return min(r[i].Hi, hi)
	}
	return min(lo, hi)
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

// Ranged is a pointer to a value that holds for a range.
type Ranged[T any] interface {
	*T
	PCs() Range
}

// SetOf returns the addresses that any element of list holds for.
func SetOf[T any, P Ranged[T]](list []T) Set {
	all := make(Set, 0, len(list))
	for i := range list {
		all = append(all, P(&list[i]).PCs())
	}
	return Union(all)
}

// Sorted returns list in the order in which its elements begin: list itself if it is in order,
// otherwise a copy.
func Sorted[T any, P Ranged[T]](list []T) []T {
	for i := 1; i < len(list); i++ {
		if P(&list[i]).PCs().Lo < P(&list[i-1]).PCs().Lo {
			return inOrder[T, P](list)
		}
	}
	return list
}

// start is where an element of a list begins, and the element's index.
type start struct {
	lo uint64
	i  int
}

// inOrder returns a copy of list in the order in which its elements begin; of elements that begin
// together, the one that comes first in list comes first. (A comparison of elements themselves
// would allocate memory for both: their methods have pointer receivers.)
func inOrder[T any, P Ranged[T]](list []T) []T {
	starts := make([]start, len(list))
	for i := range list {
		starts[i] = start{P(&list[i]).PCs().Lo, i}
	}
	slices.SortFunc(starts, func(a, b start) int { return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.i, b.i)) })

	out := make([]T, len(list))
	for k, s := range starts {
		out[k] = list[s.i]
	}
	return out
}

// After returns the index of the first element that ends above addr. The elements do not overlap
// and are in order.
func After[T any, P Ranged[T]](list []T, addr uint64) int {
	return sort.Search(len(list), func(i int) bool { return P(&list[i]).PCs().Hi > addr })
}

// Disjoint sorts list and removes overlaps: of two elements that overlap, the one that begins first
// holds; of two that begin together, the one that comes first in list. The result may share the
// memory of list.
func Disjoint[T any, P interface {
	Ranged[T]
	Bounds() *Range
}](list []T) []T {
	list = Sorted[T, P](list)

	// pos is the end of the elements kept so far.
	out, pos := list[:0], uint64(0)
	for _, x := range list {
		r := P(&x).Bounds()
		if r.Hi <= pos || r.Hi <= r.Lo {
			continue
		}
		r.Lo = max(r.Lo, pos)
		pos = r.Hi
		out = append(out, x)
	}
	return out
}
