package linter

import (
	"cmp"
	"slices"

	"symkit/check/internal/collect"
	"symkit/check/internal/pcs"
	"symkit/check/internal/symfile"
	"symkit/check/report"
)

// levelRange is one range of an INLINE record.
type levelRange struct {
	depth  uint32
	lo, hi uint64
	at     uint32
}

// levelsOf collects the ranges of the INLINE records of f that are not empty,
// by depth, then by address.
func levelsOf(s *symfile.File, f *symfile.Func, levels []levelRange) []levelRange {
	for i := f.Inlines.From; i < f.Inlines.To; i++ {
		in := &s.Inlines[i]
		for _, r := range s.Ranges[in.Ranges.From:in.Ranges.To] {
			if r.Size > 0 {
				levels = append(levels, levelRange{in.Depth, r.Addr, r.Addr + uint64(r.Size), in.At})
			}
		}
	}
	slices.SortStableFunc(levels, func(a, b levelRange) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.lo, b.lo))
	})
	return levels
}

// inlines checks the INLINE records of one FUNC.
func (l *linter) inlines(f *symfile.Func, levels []levelRange) []levelRange {
	c, s := l.c, l.s
	levels = levelsOf(s, f, levels)
	var parents, own []levelRange // of the level above and of this one
	for i := 0; i < len(levels); {
		n := i
		for n < len(levels) && levels[n].depth == levels[i].depth {
			n++
		}
		own = levels[i:n]
		if levels[i].depth > 0 && (i == 0 || parents[0].depth != levels[i].depth-1) {
			parents = nil
		}
		l.level(f, own, parents)
		parents, i = own, n
	}
	for i := f.Inlines.From; i < f.Inlines.To; i++ {
		in := &s.Inlines[i]
		for _, r := range s.Ranges[in.Ranges.From:in.Ranges.To] {
			if r.Size == 0 {
				c.Wrong(collect.At(report.CheckConsumers, in.At, r.Addr, "an empty range, which says nothing"), 1)
				break
			}
		}
	}
	return levels
}

// level checks the ranges of one depth.
func (l *linter) level(f *symfile.Func, own, parents []levelRange) {
	c := l.c
	p := 0
	cover := make(pcs.Set, 0, len(parents))
	for _, r := range parents {
		cover = append(cover, pcs.Range{Lo: r.lo, Hi: r.hi})
	}
	cover = pcs.Union(cover)
	for i, r := range own {
		if r.lo < f.Addr || r.hi > f.End {
			c.Wrong(collect.At(report.CheckNesting, r.at, r.lo, "[%#x, %#x) reaches out of its FUNC, [%#x, %#x)", r.lo, r.hi, f.Addr, f.End), 1)
		}
		if i > 0 && own[i-1].hi > r.lo {
			c.Wrong(collect.At(report.CheckOverlaps, r.at, r.lo, "[%#x, %#x) overlaps the call of line %d on the same level", r.lo, r.hi, own[i-1].at), 1)
		}
		if r.depth == 0 {
			continue
		}
		for p < len(parents) && parents[p].hi <= r.lo {
			p++
		}
		if l.own && p < len(parents) && parents[p].at > r.at {
			c.Wrong(collect.At(report.CheckCanonical, r.at, r.lo, "symkit writes it behind the call that it is in, line %d", parents[p].at), 1)
		}
		// Several parents next to each other may cover it together.
		if pos := cover.FirstOutside(r.lo, r.hi); pos < r.hi {
			c.Wrong(collect.At(report.CheckNesting, r.at, pos, "no call of depth %d contains %#x", r.depth-1, pos), 1)
		}
	}
}
