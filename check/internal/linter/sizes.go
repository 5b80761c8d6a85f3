package linter

import (
	"sort"

	"symkit/check/internal/checks"
	"symkit/check/internal/pcs"
	"symkit/emit"
)

// publicSizes checks that each INFO PUBLIC_SIZES has a size for each PUBLIC record of its range, and
// that no two have one range.
func (l *linter) publicSizes() {
	publics := pcs.Sorted(l.s.Publics)
	above := func(addr uint64, from int) int {
		return from + sort.Search(len(publics)-from, func(i int) bool { return publics[from+i].Addr > addr })
	}
	next := 0 // index of the first PUBLIC that no record has been about
	for _, i := range l.s.Infos {
		if i.Key != emit.KeyPublicSizes {
			continue
		}
		info := emit.Info{Key: i.Key, Text: i.Text}
		p, ok := info.PublicSizes()
		if !ok {
			l.wrong(checks.Grammar, i.Line, 0, "INFO %s: want the addresses of the first and the last PUBLIC, and sizes", i.Key)
			continue
		}
		from := sort.Search(len(publics), func(k int) bool { return publics[k].Addr >= p.First })
		to := above(p.Last, from)
		switch {
		case to-from != len(p.Sizes):
			l.wrong(checks.Grammar, i.Line, p.First, "INFO %s: %d sizes for %d PUBLIC records from %#x to %#x", i.Key, len(p.Sizes), to-from, p.First, p.Last)
		case from < next:
			l.wrong(checks.Order, i.Line, p.First, "INFO %s: the PUBLIC at %#x has a size already", i.Key, p.First)
		}
		next = max(next, to)
	}
}
