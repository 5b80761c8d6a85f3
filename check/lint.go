package check

import (
	"cmp"
	"errors"
	"slices"

	"symkit/cfi"
	"symkit/emit"
	"symkit/internal/wire"
)

// lint makes the checks that need no ELF file. The registers of rules are those
// of arch; nil: of the architecture that MODULE names.
func lint(c *collector, data []byte, arch *cfi.Arch) (*symFile, error) {
	if len(data) == 0 {
		return nil, ErrEmpty
	}
	l := &linter{c: c, arch: arch}
	c.begin(CheckGrammar, "lines")
	k := canon{c: c, data: data}
	s, err := parse(data, l.bad, k.record)
	if err != nil {
		return nil, err
	}
	if l.own, s.own = k.on, k.on; k.on {
		c.compared(CheckCanonical, k.n)
	}
	l.s, c.sym = s, s
	if l.arch == nil {
		l.arch = cfi.ArchByName(s.module.Arch)
	}
	c.compared(CheckGrammar, uint64(s.nlines))
	l.numbers()
	l.order()
	l.funcs()
	l.nesting()
	l.stack()
	l.consumers()
	l.win()
	return s, nil
}

type linter struct {
	c    *collector
	s    *symFile
	arch *cfi.Arch // nil: unknown
	own  bool      // symkit wrote the file
}

// bad reports a line that the strict reader rejects.
func (l *linter) bad(line, _ int, err error) {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		err = errors.Unwrap(e.Err) // without the line number
		if err == nil {
			err = e.Err
		}
	}
	l.c.wrong(Finding{Check: CheckGrammar, Line: line, What: err.Error()}, 1)
}

// numbers: FILE and INLINE_ORIGIN numbers, addresses of FUNC, PUBLIC and INIT,
// and the INFO keys that symkit knows, each only once.
func (l *linter) numbers() {
	c, s := l.c, l.s
	c.begin(CheckDuplicates, "records")
	c.compared(CheckDuplicates, uint64(len(s.files.list)+len(s.origins.list)+len(s.funcs)+len(s.publics)))
	for _, names := range []struct {
		n    *symNames
		what string
	}{{&s.files, "FILE"}, {&s.origins, "INLINE_ORIGIN"}} {
		for i := range names.n.list {
			r := &names.n.list[i]
			if j, ok := names.n.index(r.num); ok && int(j) != i {
				c.wrong(s.finding(CheckDuplicates, r.at, 0, "%s %d is also on line %d", names.what, r.num, names.n.list[j].at), 1)
			}
		}
	}
	seen := map[string]uint32{}
	for _, i := range s.infos {
		if i.key != emit.KeyCodeID && i.key != emit.KeyGenerator {
			continue
		}
		if at, ok := seen[i.key]; ok {
			c.wrong(s.finding(CheckDuplicates, i.line, 0, "INFO %s is also on line %d", i.key, at), 1)
		}
		seen[i.key] = i.line
	}
	order := byAddr(len(s.publics), func(i uint32) uint64 { return s.publics[i].addr })
	for k := 1; k < len(order); k++ {
		p, q := &s.publics[order[k-1]], &s.publics[order[k]]
		if p.addr == q.addr {
			c.wrong(s.finding(CheckDuplicates, q.at, q.addr, "a PUBLIC at %#x is also on line %d", q.addr, p.at), 1)
		}
	}
}

// byAddr lists the indices of n records by address, then in file order.
func byAddr(n int, addr func(i uint32) uint64) []uint32 {
	order := make([]uint32, n)
	sorted := true
	for i := range order {
		order[i] = uint32(i)
		sorted = sorted && (i == 0 || addr(uint32(i-1)) <= addr(uint32(i)))
	}
	if !sorted {
		slices.SortFunc(order, func(a, b uint32) int {
			return cmp.Or(cmp.Compare(addr(a), addr(b)), cmp.Compare(a, b))
		})
	}
	return order
}

// funcs: FUNC records at one address, and those that overlap.
func (l *linter) funcs() {
	c, s := l.c, l.s
	c.begin(CheckOverlaps, "ranges")
	c.compared(CheckOverlaps, uint64(len(s.funcs)+len(s.lines)+len(s.inits)))
	order := byAddr(len(s.funcs), func(i uint32) uint64 { return s.funcs[i].addr })
	var open *symFunc // the one that reaches furthest
	for _, i := range order {
		f := &s.funcs[i]
		switch {
		case open == nil || f.addr >= open.end:
		case f.addr == open.addr:
			c.wrong(s.finding(CheckDuplicates, f.line, f.addr, "a FUNC at %#x is also on line %d", f.addr, open.line), 1)
		default:
			c.wrong(s.finding(CheckOverlaps, f.line, f.addr, "begins inside the FUNC of line %d, [%#x, %#x)", open.line, open.addr, open.end), 1)
		}
		if open == nil || f.end > open.end {
			open = f
		}
	}
}

// nesting: lines inside their FUNC, not overlapping; INLINE ranges inside
// their FUNC and inside a range one level up, and not overlapping on a level.
func (l *linter) nesting() {
	c, s := l.c, l.s
	c.begin(CheckNesting, "records")
	c.compared(CheckNesting, uint64(len(s.lines)+len(s.inlines)))
	var order []uint32
	var levels []levelRange
	for fi := range s.funcs {
		f := &s.funcs[fi]
		lines := s.lines[f.lines.from:f.lines.to]
		order = byAddrInto(order, lines)
		pos, posAt := uint64(0), uint32(0)
		for _, i := range order {
			r := &lines[i]
			if r.addr < f.addr || r.end() > f.end {
				c.wrong(s.finding(CheckNesting, r.at, r.addr, "reaches out of its FUNC, [%#x, %#x)", f.addr, f.end), 1)
			}
			if r.addr < pos && r.size > 0 {
				c.wrong(s.finding(CheckOverlaps, r.at, r.addr, "overlaps the line record of line %d", posAt), 1)
			}
			if r.end() > pos {
				pos, posAt = r.end(), r.at
			}
		}
		if f.inlines.len() > 0 {
			levels = l.inlines(f, levels[:0])
		}
	}
}

func byAddrInto(order []uint32, lines []symLine) []uint32 {
	order = order[:0]
	sorted := true
	for i := range lines {
		order = append(order, uint32(i))
		sorted = sorted && (i == 0 || lines[i-1].addr <= lines[i].addr)
	}
	if !sorted {
		slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(lines[a].addr, lines[b].addr) })
	}
	return order
}

// levelRange is one range of an INLINE record.
type levelRange struct {
	depth  uint32
	lo, hi uint64
	at     uint32
}

// levelsOf collects the ranges of the INLINE records of f that are not empty,
// by depth, then by address.
func (s *symFile) levelsOf(f *symFunc, levels []levelRange) []levelRange {
	for i := f.inlines.from; i < f.inlines.to; i++ {
		in := &s.inlines[i]
		for _, r := range s.ranges[in.ranges.from:in.ranges.to] {
			if r.Size > 0 {
				levels = append(levels, levelRange{in.depth, r.Addr, r.Addr + uint64(r.Size), in.at})
			}
		}
	}
	slices.SortStableFunc(levels, func(a, b levelRange) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.lo, b.lo))
	})
	return levels
}

// inlines checks the INLINE records of one FUNC.
func (l *linter) inlines(f *symFunc, levels []levelRange) []levelRange {
	c, s := l.c, l.s
	levels = s.levelsOf(f, levels)
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
	for i := f.inlines.from; i < f.inlines.to; i++ {
		in := &s.inlines[i]
		for _, r := range s.ranges[in.ranges.from:in.ranges.to] {
			if r.Size == 0 {
				c.wrong(s.finding(CheckConsumers, in.at, r.Addr, "an empty range, which says nothing"), 1)
				break
			}
		}
	}
	return levels
}

// level checks the ranges of one depth.
func (l *linter) level(f *symFunc, own, parents []levelRange) {
	c, s := l.c, l.s
	p := 0
	cover := make(ranges, 0, len(parents))
	for _, r := range parents {
		cover = append(cover, addrRange{r.lo, r.hi})
	}
	cover = union(cover)
	for i, r := range own {
		if r.lo < f.addr || r.hi > f.end {
			c.wrong(s.finding(CheckNesting, r.at, r.lo, "[%#x, %#x) reaches out of its FUNC, [%#x, %#x)", r.lo, r.hi, f.addr, f.end), 1)
		}
		if i > 0 && own[i-1].hi > r.lo {
			c.wrong(s.finding(CheckOverlaps, r.at, r.lo, "[%#x, %#x) overlaps the call of line %d on the same level", r.lo, r.hi, own[i-1].at), 1)
		}
		if r.depth == 0 {
			continue
		}
		for p < len(parents) && parents[p].hi <= r.lo {
			p++
		}
		if l.own && p < len(parents) && parents[p].at > r.at {
			c.wrong(s.finding(CheckCanonical, r.at, r.lo, "symkit writes it behind the call that it is in, line %d", parents[p].at), 1)
		}
		// Several parents next to each other may cover it together.
		if pos := cover.firstOutside(r.lo, r.hi); pos < r.hi {
			c.wrong(s.finding(CheckNesting, r.at, pos, "no call of depth %d contains %#x", r.depth-1, pos), 1)
		}
	}
}

// stack: STACK CFI INIT ranges.
func (l *linter) stack() {
	c, s := l.c, l.s
	order := byAddr(len(s.inits), func(i uint32) uint64 { return s.inits[i].addr })
	var open *symInit
	for _, i := range order {
		r := &s.inits[i]
		if open != nil && r.addr < open.end && r.addr < r.end {
			c.wrong(s.finding(CheckOverlaps, r.at, r.addr, "begins inside the range of line %d, [%#x, %#x): consumers use only one of them", open.at, open.addr, open.end), 1)
		}
		if open == nil || r.end > open.end {
			open = r
		}
	}
	l.rules()
}

// consumers: what readers drop without a word (reference: Breakpad's
// basic_source_line_resolver.cc, rust-minidump's parser.rs).
func (l *linter) consumers() {
	c, s := l.c, l.s
	c.begin(CheckConsumers, "records")
	c.compared(CheckConsumers, uint64(len(s.funcs)+len(s.lines)+len(s.publics)+len(s.inits)))
	empty := func(at uint32, addr, size uint64) {
		if size == 0 {
			c.wrong(s.finding(CheckConsumers, at, addr, "a size of 0: consumers drop it"), 1)
		}
	}
	for i := range s.funcs {
		f := &s.funcs[i]
		empty(f.line, f.addr, f.end-f.addr)
	}
	for i := range s.lines {
		empty(s.lines[i].at, s.lines[i].addr, uint64(s.lines[i].size))
	}
	for i := range s.inits {
		empty(s.inits[i].at, s.inits[i].addr, s.inits[i].end-s.inits[i].addr)
	}
	dropped := slices.ContainsFunc(s.publics, func(p symPublic) bool { return p.addr == 0 })
	if dropped { // no fault: nothing else could be written
		c.update(CheckConsumers, func(k *Check) { k.Notes = append(k.Notes, "Breakpad drops the PUBLIC at address 0") })
	}
}
