// Package linter makes the checks that need only a symbol file.
package linter

import (
	"errors"
	"slices"

	"symkit/cfi"
	"symkit/check/internal/collect"
	"symkit/check/internal/pcs"
	"symkit/check/internal/symfile"
	"symkit/check/report"
	"symkit/emit"
	"symkit/internal/wire"
)

// Run makes the checks that need no ELF file, and returns the records. The registers of rules are
// those of arch or, if arch is nil, of the architecture that MODULE names.
func Run(opt report.Options, text symfile.Text, arch *cfi.Arch) (*symfile.File, *collect.Outcome, error) {
	if len(text.Bytes) == 0 {
		return nil, nil, symfile.ErrEmpty
	}

	// The grammar and symkit's own spelling are checked while the file is read, and the bodies of
	// functions on another goroutine.
	c := collect.New(opt)
	l := &linter{c: collect.New(opt), arch: arch}
	c.Begin(report.CheckGrammar, "lines")
	k := canon{c: c, data: text.Bytes}
	bad := func(line, _ int, err error) { c.Wrong(badLine(line, err), 1) }
	s, err := symfile.Parse(text, opt.Limits, bad, k.record, func(f *symfile.Func, b *symfile.Body) { l.body(f, b, k.on) })
	if err != nil {
		return nil, nil, err
	}
	c.Add(l.c)

	// All other checks look at the records in memory.
	l.c, l.s, l.own, s.Own = c, s, k.on, k.on
	c.Begin(report.CheckNesting, "records")
	c.Compared(report.CheckNesting, uint64(s.Lines+s.Inlines))
	if k.on {
		c.Compared(report.CheckCanonical, k.n)
	}
	if l.arch == nil {
		l.arch = cfi.ArchByName(s.Module.Arch)
	}
	c.Compared(report.CheckGrammar, uint64(s.NumLines))

	l.numbers()
	l.publicSizes()
	l.order()
	l.funcs()
	l.inits()
	l.rules()
	l.consumers()
	l.win()
	return s, c, nil
}

// linter is one run of Run.
type linter struct {
	c    *collect.Outcome
	s    *symfile.File
	arch *cfi.Arch // nil if unknown
	own  bool      // symkit wrote the file

	lines ordering // of the lines of each FUNC

	// Memory for inlines.
	unsorted, levels []levelRange
	keys             pcs.Levels
}

// wrong adds a finding about a line of the file.
func (l *linter) wrong(check string, line uint32, addr uint64, format string, args ...any) {
	l.c.Wrong(collect.At(check, line, addr, format, args...), 1)
}

// badLine returns the finding about a line that the strict reader rejects.
func badLine(line int, err error) report.Finding {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		err = errors.Unwrap(e.Err) // without the line number
		if err == nil {
			err = e.Err
		}
	}
	return report.Finding{Check: report.CheckGrammar, Line: line, What: err.Error()}
}

// numbers checks that each number of a FILE or INLINE_ORIGIN, each address of a PUBLIC, and each
// INFO key that symkit knows is used only once.
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
				l.wrong(report.CheckDuplicates, r.At, 0, "%s %d is also on line %d", names.what, r.Num, names.n.List[j].At)
			}
		}
	}

	seen := map[string]uint32{}
	for _, i := range s.Infos {
		if i.Key != emit.KeyCodeID && i.Key != emit.KeyGenerator {
			continue
		}
		if at, ok := seen[i.Key]; ok {
			l.wrong(report.CheckDuplicates, i.Line, 0, "INFO %s is also on line %d", i.Key, at)
		}
		seen[i.Key] = i.Line
	}

	// Equal addresses are next to each other after sorting.
	publics := pcs.Sorted(s.Publics)
	for k := 1; k < len(publics); k++ {
		p, q := &publics[k-1], &publics[k]
		if p.Addr == q.Addr {
			l.wrong(report.CheckDuplicates, q.At, q.Addr, "a PUBLIC at %#x is also on line %d", q.Addr, p.At)
		}
	}
}

// overlaps calls f for every record that begins below the end of an earlier record. open is the
// earlier record with the highest end. The records are in order of address.
func overlaps[T any, P pcs.Ranged[T]](list []T, f func(open, record P)) {
	var open P
	for i := range list {
		record := P(&list[i])
		if open != nil && record.PCs().Lo < open.PCs().Hi {
			f(open, record)
		}

		if open == nil || record.PCs().Hi > open.PCs().Hi {
			open = record
		}
	}
}

// funcs finds FUNC records at one address, and those that overlap.
func (l *linter) funcs() {
	c, s := l.c, l.s
	c.Begin(report.CheckOverlaps, "ranges")
	c.Compared(report.CheckOverlaps, uint64(len(s.Funcs)+s.Lines+len(s.Inits)))
	overlaps(pcs.Sorted(s.Funcs), func(open, f *symfile.Func) {
		if f.Addr == open.Addr {
			l.wrong(report.CheckDuplicates, f.Line, f.Addr, "a FUNC at %#x is also on line %d", f.Addr, open.Line)
		} else {
			l.wrong(report.CheckOverlaps, f.Line, f.Addr, "begins inside the FUNC of line %d, [%#x, %#x)", open.Line, open.Addr, open.End)
		}
	})
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
			l.wrong(report.CheckNesting, r.At, r.Addr, "reaches out of its FUNC, [%#x, %#x)", f.Addr, f.End)
		}
	}
	if f == nil {
		return
	}
	overlaps(b.ByAddress(), func(open, r *symfile.Line) {
		if r.Size > 0 {
			l.wrong(report.CheckOverlaps, r.At, r.Addr, "overlaps the line record of line %d", open.At)
		}
	})

	if len(b.Inlines) > 0 {
		l.own = own
		l.inlines(f, b)
	}
}

// inits checks that STACK CFI INIT ranges do not overlap.
func (l *linter) inits() {
	overlaps(pcs.Sorted(l.s.Inits), func(open, r *symfile.Init) {
		if r.Addr < r.End {
			l.wrong(report.CheckOverlaps, r.At, r.Addr, "begins inside the range of line %d, [%#x, %#x): consumers use only one of them", open.At, open.Addr, open.End)
		}
	})
}

// empty reports a record without a size, which Breakpad and rust-minidump drop.
func (l *linter) empty(at uint32, addr, size uint64) {
	if size == 0 {
		l.wrong(report.CheckConsumers, at, addr, "a size of 0: consumers drop it")
	}
}

// consumers finds records that readers drop without a message (reference: Breakpad's
// basic_source_line_resolver.cc, rust-minidump's parser.rs).
func (l *linter) consumers() {
	c, s := l.c, l.s
	c.Begin(report.CheckConsumers, "records")
	c.Compared(report.CheckConsumers, uint64(len(s.Funcs)+s.Lines+len(s.Publics)+len(s.Inits)))

	for i := range s.Funcs {
		f := &s.Funcs[i]
		l.empty(f.Line, f.Addr, f.End-f.Addr)
	}
	for i := range s.Inits {
		l.empty(s.Inits[i].At, s.Inits[i].Addr, s.Inits[i].End-s.Inits[i].Addr)
	}

	// A PUBLIC at address 0 is no fault: nothing else could be written.
	dropped := slices.ContainsFunc(s.Publics, func(p symfile.Public) bool { return p.Addr == 0 })
	if dropped {
		c.Note(report.CheckConsumers, "Breakpad drops the PUBLIC at address 0")
	}
}
