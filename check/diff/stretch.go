package diff

import (
	"cmp"
	"slices"
)

// stretch is PCs [lo, hi) of which a file says one thing.
type stretch struct {
	lo, hi uint64
	at     uint32
	index  uint32 // of the record
}

// sweep calls f for every stretch of PCs on which neither side changes. The
// sides are sorted; where one overlaps itself the first holds.
func sweep(a, b []stretch, f func(lo, hi uint64, a, b *stretch)) {
	pos := uint64(0)
	for {
		for len(a) > 0 && a[0].hi <= pos {
			a = a[1:]
		}
		for len(b) > 0 && b[0].hi <= pos {
			b = b[1:]
		}
		if len(a) == 0 && len(b) == 0 {
			return
		}
		begin := ^uint64(0)
		if len(a) > 0 {
			begin = min(begin, max(a[0].lo, pos))
		}
		if len(b) > 0 {
			begin = min(begin, max(b[0].lo, pos))
		}
		end, x, y := ^uint64(0), (*stretch)(nil), (*stretch)(nil)
		for _, side := range []struct {
			list []stretch
			into **stretch
		}{{a, &x}, {b, &y}} {
			switch {
			case len(side.list) == 0:
			case side.list[0].lo <= begin:
				*side.into = &side.list[0]
				end = min(end, side.list[0].hi)
			default:
				end = min(end, side.list[0].lo)
			}
		}
		f(begin, end, x, y)
		pos = end
	}
}

func sortStretches(s []stretch) []stretch {
	s = slices.DeleteFunc(s, func(x stretch) bool { return x.lo >= x.hi })
	slices.SortStableFunc(s, func(a, b stretch) int { return cmp.Compare(a.lo, b.lo) })
	return s
}
