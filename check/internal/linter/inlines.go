package linter

import (
	"symkit/check/internal/checks"
	"symkit/check/internal/pcs"
	"symkit/check/internal/symfile"
)

// levelRange is one range of an INLINE record.
type levelRange struct {
	pcs.Range
	depth uint32
	at    uint32 // line of the text
}

// body checks that the lines of a FUNC lie inside of the FUNC and do not overlap, and that INLINE
// ranges lie inside their FUNC and inside ranges one level up, and do not overlap on a level. own
// states that symkit wrote the file. f is nil for records under no FUNC.
func (l *linter) body(f *symfile.Func, b *symfile.Body, own bool) {
	for i := range b.Lines {
		r := &b.Lines[i]
		l.empty(r.At, r.Addr, uint64(r.Size))
		if f == nil {
			continue
		}
		l.lines.add(r.At, r.Addr, i == 0, "line")
		if r.Addr < f.Addr || r.End() > f.End {
			l.wrong(checks.Nesting, r.At, r.Addr, "reaches out of its FUNC, [%#x, %#x)", f.Addr, f.End)
		}
	}
	if f == nil {
		return
	}
	overlaps(b.ByAddress(), func(open, r *symfile.Line) {
		if r.Size > 0 {
			l.wrong(checks.Overlaps, r.At, r.Addr, "overlaps the line record of line %d", open.At)
		}
	})

	if len(b.Inlines) > 0 {
		l.own = own
		l.inlines(f, b)
	}
}

// inlines checks the INLINE records of one FUNC.
func (l *linter) inlines(f *symfile.Func, b *symfile.Body) {
	unsorted := l.unsorted[:0]
	l.keys.Reset()
	for _, in := range b.Inlines {
		hasEmpty := false
		for _, r := range b.RangesOf(&in) {
			if r.Size > 0 {
				unsorted = append(unsorted, levelRange{pcs.Range{Lo: r.Addr, Hi: r.Addr + uint64(r.Size)}, in.Depth, in.At})
				l.keys.Add(in.Depth, r.Addr)
			} else if !hasEmpty {
				hasEmpty = true
				l.wrong(checks.Consumers, in.At, r.Addr, "an empty range, which has no effect")
			}
		}
	}
	l.unsorted = unsorted

	levels := unsorted
	keys, moved := l.keys.Sorted()
	if moved {
		levels = l.levels[:0]
		for i := range keys {
			levels = append(levels, unsorted[keys[i].Index])
		}
		l.levels = levels
	}

	// Each level has its parents one level up.
	var parents []levelRange // of the level above
	for rest := levels; len(rest) > 0; {
		depth := rest[0].depth
		n := 1
		for n < len(rest) && rest[n].depth == depth {
			n++
		}

		// A level that is missing leaves no parents.
		if len(parents) > 0 && parents[0].depth+1 != depth {
			parents = nil
		}
		l.level(f, rest[:n], parents)
		parents, rest = rest[:n], rest[n:]
	}
}

// level checks the ranges of one depth. Several parents next to each other may cover one range
// together.
func (l *linter) level(f *symfile.Func, own, parents []levelRange) {
	// parents is cut to the parents that end above the range.
	cover := pcs.SetOf(parents)
	for i, r := range own {
		if r.Lo < f.Addr || r.Hi > f.End {
			l.wrong(checks.Nesting, r.at, r.Lo, "[%#x, %#x) reaches out of its FUNC, [%#x, %#x)", r.Lo, r.Hi, f.Addr, f.End)
		}
		if i > 0 && own[i-1].Hi > r.Lo {
			l.wrong(checks.Overlaps, r.at, r.Lo, "[%#x, %#x) overlaps the call of line %d on the same level", r.Lo, r.Hi, own[i-1].at)
		}
		if r.depth == 0 {
			continue
		}

		// Both lists are in order of address.
		for len(parents) > 0 && parents[0].Hi <= r.Lo {
			parents = parents[1:]
		}
		if l.own && len(parents) > 0 && parents[0].at > r.at {
			l.wrong(checks.Canonical, r.at, r.Lo, "symkit writes it after the call that it is in, line %d", parents[0].at)
		}
		if pos := cover.FirstOutside(r.Lo, r.Hi); pos < r.Hi {
			l.wrong(checks.Nesting, r.at, pos, "no call of depth %d contains %#x", r.depth-1, pos)
		}
	}
}
