// Package diff compares two symbol files by their meaning: what they contain about each address.
// Numbers of files, the order of records, and where ranges are divided do not matter.
//
//	rep, err := diff.Files(old, now, report.Options{})
//	if err != nil {
//		return err
//	}
//	return rep.WriteText(os.Stdout, "old.sym")
package diff

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"symkit/cfi"
	"symkit/check/internal/checks"
	"symkit/check/internal/collect"
	"symkit/check/internal/eval"
	"symkit/check/internal/naming"
	"symkit/check/internal/pcs"
	"symkit/check/internal/symfile"
	"symkit/check/report"
	"symkit/emit"
	"symkit/internal/limitof"
	"symkit/internal/mem"
	"symkit/limits"
)

// SideError is an error of Files: one of the files cannot be read.
type SideError struct {
	Second bool // the file is the second one
	Err    error
}

func (e *SideError) Error() string {
	if e.Second {
		return "the second file: " + e.Err.Error()
	}
	return "the first file: " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *SideError) Unwrap() error { return e.Err }

// Files finds the differences of two symbol files, per PC and by meaning: numbers of files and
// origins, the order of records and where ranges are divided do not matter. A finding has a line of
// a, or none if only b covers the addresses.
func Files(a, b []byte, opt report.Options) (rep *report.Report, err error) {
	guarded := mem.Guard(func() error {
		rep, err = diff(a, b, opt)
		return nil
	})
	return rep, errors.Join(err, guarded)
}

// side is one of the two files.
type side struct {
	*symfile.File
	body  symfile.Body // the records of all FUNCs
	paths []uint32     // numbers in differ.paths of the FILE records
}

// path returns the number in differ.paths of a FILE.
func (s *side) path(file uint32) uint32 {
	i, ok := s.Files.Index(file)
	if !ok {
		return naming.AnyPath
	}
	return s.paths[i]
}

// differ is one run of Files.
type differ struct {
	c      *collect.Outcome
	a, b   side
	paths  *naming.Paths
	limits limits.Limits
	// keep states that the caller needs Report.Changes; rules then has the differences of rules.
	keep  bool
	rules []ruleDifference
}

// diff compares two symbol files.
func diff(a, b []byte, opt report.Options) (*report.Report, error) {
	d := &differ{c: collect.New(opt), paths: naming.NewPaths(), limits: opt.Limits, keep: opt.Map}
	d.c.Begin(checks.Grammar, "lines")
	for i, data := range [][]byte{a, b} {
		err := d.read(data, i == 1)
		if err != nil {
			return nil, &SideError{i == 1, err}
		}
	}

	// Each step adds one check.
	d.module()
	d.functions()
	d.lines()
	d.inlines()
	d.publics()
	d.unwind()
	rep := d.c.Report(d.a.Text) // findings show the lines of the first file
	if opt.Map {
		rep.Changes = d.changes()
	}
	if opt.Places {
		d.b.AddPlaces(rep.Findings, report.OfSecond, func(f *report.Finding) int { return f.Other })
		d.a.AddPlaces(rep.Findings, report.OfFirst, func(f *report.Finding) int { return f.Line })
	}
	return rep, nil
}

// read reads one of the files.
func (d *differ) read(data []byte, second bool) (err error) {
	if len(data) == 0 {
		return symfile.ErrEmpty
	}

	into, name := &d.a, "the first file"
	if second {
		into, name = &d.b, "the second file"
	}

	bad := uint64(0)
	into.File, err = symfile.Parse(symfile.Text{Bytes: data}, d.limits, func(int, int, error) { bad++ }, nil, into.body.Append)
	if err != nil {
		return err
	}
	d.c.Compared(checks.Grammar, uint64(into.NumLines))
	if bad > 0 {
		d.c.Unverified(checks.Grammar, bad, name+" has lines that cannot be read: see symcheck lint")
	}
	for _, file := range into.Files.List {
		into.paths = append(into.paths, d.paths.ID(file.Text))
	}
	return nil
}

// module compares MODULE and all INFO records but GENERATOR.
func (d *differ) module() {
	c := d.c
	c.Begin(checks.Module, "records")
	c.Compared(checks.Module, uint64(1+len(d.a.Infos)))
	if m := d.b.Module; d.a.Module != m {
		c.Wrong(collect.At(checks.Module, 1, 0, "the other file has %s %s %s %s", m.OS, m.Arch, m.ID, m.Name), 1)
	}

	// only returns the records of a that b does not have.
	only := func(a, b []symfile.Info) []symfile.Info {
		return slices.DeleteFunc(slices.Clone(a), func(i symfile.Info) bool {
			return i.Key == emit.KeyGenerator || slices.ContainsFunc(b, func(x symfile.Info) bool { return x.Key == i.Key && x.Text == i.Text })
		})
	}
	for _, i := range only(d.a.Infos, d.b.Infos) {
		c.Wrong(collect.At(checks.Module, i.Line, 0, "not in the other file"), 1)
	}
	for _, i := range only(d.b.Infos, d.a.Infos) {
		c.Missing(collect.At(checks.Module, 0, 0, "only in the other file: INFO %s %s", i.Key, i.Text), 1)
	}
}

// compare sweeps two sides, and adds a finding where same returns false or only one side has an
// element. describe returns what the second file has, in words.
func (d *differ) compare(check string, a, b []stretch, same func(a, b *stretch) bool, describe func(b *stretch) string) {
	addresses := func(s *stretch) pcs.Range { return s.Range }
	everywhere := pcs.Range{Hi: math.MaxUint64}
	pcs.Sweep(everywhere, a, addresses, b, addresses, func(r pcs.Range, x, y *stretch) {
		if x == nil && y == nil {
			return
		}

		n := r.Hi - r.Lo
		d.c.Compared(check, n)
		if d.keep && check == checks.CFI {
			d.keepRules(r, x, y, same, describe)
		}
		switch {
		case x == nil:
			f := collect.At(check, 0, r.Lo, "only the other file covers [%#x, %#x): %s", r.Lo, r.Hi, describe(y))
			f.Other = int(y.at)
			d.c.Missing(f, n)
		case y == nil:
			d.c.Wrong(collect.At(check, x.at, r.Lo, "[%#x, %#x): nothing in the other file", r.Lo, r.Hi), n)
		case !same(x, y):
			f := collect.At(check, x.at, r.Lo, "[%#x, %#x): the other file says %s", r.Lo, r.Hi, describe(y))
			f.Other = int(y.at)
			d.c.Wrong(f, n)
		}
	})
}

// keepRules keeps a difference of rules for the changes of functions.
func (d *differ) keepRules(r pcs.Range, x, y *stretch, same func(a, b *stretch) bool, describe func(b *stretch) string) {
	switch {
	case x == nil:
		d.rules = append(d.rules, ruleDifference{r, "rules only in the second file"})
	case y == nil:
		d.rules = append(d.rules, ruleDifference{r, "rules only in the first file"})
	case !same(x, y):
		d.rules = append(d.rules, ruleDifference{r, describe(y)})
	}
}

// functions compares the FUNC of each PC: where it begins, and its name.
func (d *differ) functions() {
	d.c.Begin(checks.Funcs, "PCs")
	list := func(s side) []stretch { return stretches(s.Funcs, func(f *symfile.Func) uint32 { return f.Line }) }
	d.compare(checks.Funcs, list(d.a), list(d.b), func(a, b *stretch) bool {
		x, y := &d.a.Funcs[a.index], &d.b.Funcs[b.index]
		return x.Addr == y.Addr && x.Params == y.Params && x.Multiple == y.Multiple && bytes.Equal(x.Name, y.Name)
	}, func(b *stretch) string {
		f := &d.b.Funcs[b.index]
		return fmt.Sprintf("FUNC %x %x %x %s", f.Addr, f.End-f.Addr, f.Params, symfile.Shown(f.Name))
	})
}

// lines compares the file and line of each PC.
func (d *differ) lines() {
	d.c.Begin(checks.Lines, "PCs")
	list := func(s side) []stretch { return stretches(s.body.Lines, func(l *symfile.Line) uint32 { return l.At }) }
	d.compare(checks.Lines, list(d.a), list(d.b), func(a, b *stretch) bool {
		x, y := &d.a.body.Lines[a.index], &d.b.body.Lines[b.index]
		return x.Line == y.Line && d.a.path(x.File) == d.b.path(y.File)
	}, func(b *stretch) string {
		l := &d.b.body.Lines[b.index]
		return fmt.Sprintf("%s:%d", d.paths.Name(d.b.path(l.File)), l.Line)
	})
}

// inlines compares the chain of inlined calls of each PC, level by level.
func (d *differ) inlines() {
	d.c.Begin(checks.Inlines, "PCs")
	a, b := d.levels(d.a), d.levels(d.b)

	// Both sides get the same number of levels.
	levels := max(len(a), len(b))
	a, b = append(a, make([][]stretch, levels-len(a))...), append(b, make([][]stretch, levels-len(b))...)
	for depth := range levels {
		d.compare(checks.Inlines, a[depth], b[depth], func(a, b *stretch) bool {
			p, q := &d.a.body.Inlines[a.index], &d.b.body.Inlines[b.index]
			return p.CallLine == q.CallLine && d.a.path(p.CallFile) == d.b.path(q.CallFile) &&
				bytes.Equal(d.a.Origins.Text(p.Origin), d.b.Origins.Text(q.Origin))
		}, func(b *stretch) string {
			in := &d.b.body.Inlines[b.index]
			return fmt.Sprintf("at depth %d %s called from %s:%d", in.Depth, symfile.Shown(d.b.Origins.Text(in.Origin)),
				d.paths.Name(d.b.path(in.CallFile)), in.CallLine)
		})
	}
}

// levels returns the ranges of the INLINE records by depth.
func (d *differ) levels(s side) (levels [][]stretch) {
	for i := range s.body.Inlines {
		in := &s.body.Inlines[i]
		if int(in.Depth) >= d.limits.Int(limitof.CheckDepth) {
			d.c.Unverified(checks.Inlines, 1, "calls more than 1024 deep")
			continue
		}
		for uint32(len(levels)) <= in.Depth {
			levels = append(levels, nil)
		}
		for _, r := range s.body.RangesOf(in) {
			levels[in.Depth] = append(levels[in.Depth], stretch{pcs.Range{Lo: r.Addr, Hi: r.Addr + uint64(r.Size)}, in.At, uint32(i)})
		}
	}

	// Ranges of several records are in no order.
	for i := range levels {
		levels[i] = ordered(levels[i])
	}
	return levels
}

// publics compares the PUBLIC records by address.
func (d *differ) publics() {
	d.c.Begin(checks.Publics, "addresses")
	list := func(s side) []stretch { return stretches(s.Publics, func(p *symfile.Public) uint32 { return p.At }) }
	d.compare(checks.Publics, list(d.a), list(d.b), func(a, b *stretch) bool {
		x, y := &d.a.Publics[a.index], &d.b.Publics[b.index]
		return x.Params == y.Params && x.Multiple == y.Multiple && bytes.Equal(x.Name, y.Name)
	}, func(b *stretch) string { return "PUBLIC " + symfile.Shown(d.b.Publics[b.index].Name) })
}

// unwind compares the values that the rules of each PC give.
func (d *differ) unwind() {
	if len(d.a.Inits) == 0 && len(d.b.Inits) == 0 {
		return
	}
	d.c.Begin(checks.CFI, "PCs")
	a := cfi.ArchByName(d.a.Module.Arch)
	if a == nil {
		d.c.State(checks.CFI, report.NotVerified, "no register names are known for the architecture")
		return
	}

	arch := eval.NewArch(a)
	w := &ruleDiff{parser: eval.NewParser(arch), machines: eval.NewMachines(arch, false)}

	// Both sides are parsed with one Parser, so that equal expressions are parsed once.
	x, y := w.rules(d.a.File), w.rules(d.b.File)
	if lost := x.lost + y.lost; lost > 0 {
		d.c.Unverified(checks.CFI, lost, "too many different sets of rules")
		return
	}

	var detail string // the difference in the last range that both files cover
	d.compare(checks.CFI, x.stretches, y.stretches, func(a, b *stretch) bool {
		detail = w.difference(a, b, x.sets[a.index], y.sets[b.index])
		return detail == ""
	}, func(*stretch) string { return cmp.Or(detail, "other rules") })
}
