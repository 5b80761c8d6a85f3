// Package linter makes the checks that need only a symbol file.
package linter

import (
	"errors"
	"slices"

	"symkit/cfi"
	"symkit/check/internal/checks"
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
	c.Begin(checks.Grammar, "lines")
	k := canon{c: c, data: text.Bytes}
	bad := func(line, _ int, err error) { c.Wrong(badLine(line, err), 1) }
	s, err := symfile.Parse(text, opt.Limits, bad, k.record, func(f *symfile.Func, b *symfile.Body) { l.body(f, b, k.on) })
	if err != nil {
		return nil, nil, err
	}
	c.Add(l.c)

	// All other checks look at the records in memory.
	l.c, l.s, l.own, s.Own = c, s, k.on, k.on
	c.Begin(checks.Nesting, "records")
	c.Compared(checks.Nesting, uint64(s.Lines+s.Inlines))
	if k.on {
		c.Compared(checks.Canonical, k.n)
	}
	if l.arch == nil {
		l.arch = cfi.ArchByName(s.Module.Arch)
	}
	c.Compared(checks.Grammar, uint64(s.NumLines))

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

// badLine returns the finding about a line that the strict reader rejects.
func badLine(line int, err error) report.Finding {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		err = errors.Unwrap(e.Err) // without the line number
		if err == nil {
			err = e.Err
		}
	}
	return report.Finding{Check: checks.Grammar, Line: line, What: err.Error()}
}

// numbers checks that each number of a FILE or INLINE_ORIGIN, each address of a PUBLIC, and each
// INFO key that symkit knows is used only once.
func (l *linter) numbers() {
	c, s := l.c, l.s
	c.Begin(checks.Duplicates, "records")
	c.Compared(checks.Duplicates, uint64(len(s.Files.List)+len(s.Origins.List)+len(s.Funcs)+len(s.Publics)))
	for _, names := range []struct {
		n    *symfile.Names
		what string
	}{{&s.Files, "FILE"}, {&s.Origins, "INLINE_ORIGIN"}} {
		most := uint32(0) // a number above all others is used once
		for i := range names.n.List {
			r := &names.n.List[i]
			if r.Num > most {
				most = r.Num
				continue
			}
			j, ok := names.n.Index(r.Num)
			if ok && int(j) != i {
				l.wrong(checks.Duplicates, r.At, 0, "%s %d is also on line %d", names.what, r.Num, names.n.List[j].At)
			}
		}
	}

	seen := map[string]uint32{}
	for _, i := range s.Infos {
		if i.Key != emit.KeyCodeID && i.Key != emit.KeyGenerator {
			continue
		}
		if at, ok := seen[i.Key]; ok {
			l.wrong(checks.Duplicates, i.Line, 0, "INFO %s is also on line %d", i.Key, at)
		}
		seen[i.Key] = i.Line
	}

	// Equal addresses are next to each other after sorting.
	publics := pcs.Sorted(s.Publics)
	for k := 1; k < len(publics); k++ {
		p, q := &publics[k-1], &publics[k]
		if p.Addr == q.Addr {
			l.wrong(checks.Duplicates, q.At, q.Addr, "a PUBLIC at %#x is also on line %d", q.Addr, p.At)
		}
	}
}

// funcs finds FUNC records at one address, and those that overlap.
func (l *linter) funcs() {
	c, s := l.c, l.s
	c.Begin(checks.Overlaps, "ranges")
	c.Compared(checks.Overlaps, uint64(len(s.Funcs)+s.Lines+len(s.Inits)))
	overlaps(pcs.Sorted(s.Funcs), func(open, f *symfile.Func) {
		if f.Addr == open.Addr {
			l.wrong(checks.Duplicates, f.Line, f.Addr, "a FUNC at %#x is also on line %d", f.Addr, open.Line)
		} else {
			l.wrong(checks.Overlaps, f.Line, f.Addr, "begins inside the FUNC of line %d, [%#x, %#x)", open.Line, open.Addr, open.End)
		}
	})
}

// inits checks that STACK CFI INIT ranges do not overlap.
func (l *linter) inits() {
	overlaps(pcs.Sorted(l.s.Inits), func(open, r *symfile.Init) {
		if r.Addr < r.End {
			l.wrong(checks.Overlaps, r.At, r.Addr, "begins inside the range of line %d, [%#x, %#x): consumers use only one of them", open.At, open.Addr, open.End)
		}
	})
}

// consumers finds records that readers drop without a message (reference: Breakpad's
// basic_source_line_resolver.cc, rust-minidump's parser.rs).
func (l *linter) consumers() {
	c, s := l.c, l.s
	c.Begin(checks.Consumers, "records")
	c.Compared(checks.Consumers, uint64(len(s.Funcs)+s.Lines+len(s.Publics)+len(s.Inits)))

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
		c.Note(checks.Consumers, "Breakpad drops the PUBLIC at address 0")
	}
}
