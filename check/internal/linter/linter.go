// Package linter has the checks that need a symbol file alone.
package linter

import (
	"cmp"
	"errors"
	"slices"

	"symkit/cfi"
	"symkit/check/internal/collect"
	"symkit/check/internal/symfile"
	"symkit/check/report"
	"symkit/emit"
	"symkit/internal/wire"
)

// Run makes the checks that need no ELF file. The registers of rules are those
// of arch; nil: of the architecture that MODULE names.
func Run(c *collect.Collector, data []byte, arch *cfi.Arch) (*symfile.File, error) {
	if len(data) == 0 {
		return nil, symfile.ErrEmpty
	}
	l := &linter{c: c, arch: arch}
	c.Begin(report.CheckGrammar, "lines")
	k := canon{c: c, data: data}
	s, err := symfile.Parse(data, l.bad, k.record)
	if err != nil {
		return nil, err
	}
	if l.own, s.Own = k.on, k.on; k.on {
		c.Compared(report.CheckCanonical, k.n)
	}
	l.s, c.LineText = s, s.Text
	if l.arch == nil {
		l.arch = cfi.ArchByName(s.Module.Arch)
	}
	c.Compared(report.CheckGrammar, uint64(s.NumLines))
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
	c    *collect.Collector
	s    *symfile.File
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
	l.c.Wrong(report.Finding{Check: report.CheckGrammar, Line: line, What: err.Error()}, 1)
}

// numbers: FILE and INLINE_ORIGIN numbers, addresses of FUNC, PUBLIC and INIT,
// and the INFO keys that symkit knows, each only once.
func (l *linter) numbers() {
	c, s := l.c, l.s
	c.Begin(report.CheckDuplicates, "records")
	c.Compared(report.CheckDuplicates, uint64(len(s.Files.List)+len(s.Origins.List)+len(s.Funcs)+len(s.Publics)))
	for _, names := range []struct {
		n    *symfile.Names
		what string
	}{{&s.Files, "FILE"}, {&s.Origins, "INLINE_ORIGIN"}} {
		for i := range names.n.List {
			r := &names.n.List[i]
			if j, ok := names.n.Index(r.Num); ok && int(j) != i {
				c.Wrong(collect.At(report.CheckDuplicates, r.At, 0, "%s %d is also on line %d", names.what, r.Num, names.n.List[j].At), 1)
			}
		}
	}
	seen := map[string]uint32{}
	for _, i := range s.Infos {
		if i.Key != emit.KeyCodeID && i.Key != emit.KeyGenerator {
			continue
		}
		if at, ok := seen[i.Key]; ok {
			c.Wrong(collect.At(report.CheckDuplicates, i.Line, 0, "INFO %s is also on line %d", i.Key, at), 1)
		}
		seen[i.Key] = i.Line
	}
	order := symfile.ByAddr(len(s.Publics), func(i uint32) uint64 { return s.Publics[i].Addr })
	for k := 1; k < len(order); k++ {
		p, q := &s.Publics[order[k-1]], &s.Publics[order[k]]
		if p.Addr == q.Addr {
			c.Wrong(collect.At(report.CheckDuplicates, q.At, q.Addr, "a PUBLIC at %#x is also on line %d", q.Addr, p.At), 1)
		}
	}
}

// funcs: FUNC records at one address, and those that overlap.
func (l *linter) funcs() {
	c, s := l.c, l.s
	c.Begin(report.CheckOverlaps, "ranges")
	c.Compared(report.CheckOverlaps, uint64(len(s.Funcs)+len(s.Lines)+len(s.Inits)))
	order := symfile.ByAddr(len(s.Funcs), func(i uint32) uint64 { return s.Funcs[i].Addr })
	var open *symfile.Func // the one that reaches furthest
	for _, i := range order {
		f := &s.Funcs[i]
		switch {
		case open == nil || f.Addr >= open.End:
		case f.Addr == open.Addr:
			c.Wrong(collect.At(report.CheckDuplicates, f.Line, f.Addr, "a FUNC at %#x is also on line %d", f.Addr, open.Line), 1)
		default:
			c.Wrong(collect.At(report.CheckOverlaps, f.Line, f.Addr, "begins inside the FUNC of line %d, [%#x, %#x)", open.Line, open.Addr, open.End), 1)
		}
		if open == nil || f.End > open.End {
			open = f
		}
	}
}

// nesting: lines inside their FUNC, not overlapping; INLINE ranges inside
// their FUNC and inside a range one level up, and not overlapping on a level.
func (l *linter) nesting() {
	c, s := l.c, l.s
	c.Begin(report.CheckNesting, "records")
	c.Compared(report.CheckNesting, uint64(len(s.Lines)+len(s.Inlines)))
	var order []uint32
	var levels []levelRange
	for fi := range s.Funcs {
		f := &s.Funcs[fi]
		lines := s.Lines[f.Lines.From:f.Lines.To]
		order = byAddrInto(order, lines)
		pos, posAt := uint64(0), uint32(0)
		for _, i := range order {
			r := &lines[i]
			if r.Addr < f.Addr || r.End() > f.End {
				c.Wrong(collect.At(report.CheckNesting, r.At, r.Addr, "reaches out of its FUNC, [%#x, %#x)", f.Addr, f.End), 1)
			}
			if r.Addr < pos && r.Size > 0 {
				c.Wrong(collect.At(report.CheckOverlaps, r.At, r.Addr, "overlaps the line record of line %d", posAt), 1)
			}
			if r.End() > pos {
				pos, posAt = r.End(), r.At
			}
		}
		if f.Inlines.Len() > 0 {
			levels = l.inlines(f, levels[:0])
		}
	}
}

func byAddrInto(order []uint32, lines []symfile.Line) []uint32 {
	order = order[:0]
	sorted := true
	for i := range lines {
		order = append(order, uint32(i))
		sorted = sorted && (i == 0 || lines[i-1].Addr <= lines[i].Addr)
	}
	if !sorted {
		slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(lines[a].Addr, lines[b].Addr) })
	}
	return order
}

// stack: STACK CFI INIT ranges.
func (l *linter) stack() {
	c, s := l.c, l.s
	order := symfile.ByAddr(len(s.Inits), func(i uint32) uint64 { return s.Inits[i].Addr })
	var open *symfile.Init
	for _, i := range order {
		r := &s.Inits[i]
		if open != nil && r.Addr < open.End && r.Addr < r.End {
			c.Wrong(collect.At(report.CheckOverlaps, r.At, r.Addr, "begins inside the range of line %d, [%#x, %#x): consumers use only one of them", open.At, open.Addr, open.End), 1)
		}
		if open == nil || r.End > open.End {
			open = r
		}
	}
	l.rules()
}

// consumers: what readers drop without a word (reference: Breakpad's
// basic_source_line_resolver.cc, rust-minidump's parser.rs).
func (l *linter) consumers() {
	c, s := l.c, l.s
	c.Begin(report.CheckConsumers, "records")
	c.Compared(report.CheckConsumers, uint64(len(s.Funcs)+len(s.Lines)+len(s.Publics)+len(s.Inits)))
	empty := func(at uint32, addr, size uint64) {
		if size == 0 {
			c.Wrong(collect.At(report.CheckConsumers, at, addr, "a size of 0: consumers drop it"), 1)
		}
	}
	for i := range s.Funcs {
		f := &s.Funcs[i]
		empty(f.Line, f.Addr, f.End-f.Addr)
	}
	for i := range s.Lines {
		empty(s.Lines[i].At, s.Lines[i].Addr, uint64(s.Lines[i].Size))
	}
	for i := range s.Inits {
		empty(s.Inits[i].At, s.Inits[i].Addr, s.Inits[i].End-s.Inits[i].Addr)
	}
	dropped := slices.ContainsFunc(s.Publics, func(p symfile.Public) bool { return p.Addr == 0 })
	if dropped { // no fault: nothing else could be written
		c.Update(report.CheckConsumers, func(k *report.Check) { k.Notes = append(k.Notes, "Breakpad drops the PUBLIC at address 0") })
	}
}
