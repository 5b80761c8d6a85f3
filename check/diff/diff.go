// Package diff compares two symbol files by their meaning: what they say about each address.
// Numbers of files, the order of records, and where ranges are divided do not matter.
package diff

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"symkit/cfi"
	"symkit/check/internal/collect"
	"symkit/check/internal/eval"
	"symkit/check/internal/naming"
	"symkit/check/internal/symfile"
	"symkit/check/report"
	"symkit/elfx"
	"symkit/internal/limits"
)

// SideError is an error of Diff: one of the files cannot be read.
type SideError struct {
	Second bool // it is b
	Err    error
}

func (e *SideError) Error() string {
	if e.Second {
		return "the second file: " + e.Err.Error()
	}
	return "the first file: " + e.Err.Error()
}

// Unwrap is the error itself.
func (e *SideError) Unwrap() error { return e.Err }

// Files tells what two symbol files say differently, per PC and by meaning:
// numbers of files and origins, the order of records and where ranges are cut
// do not matter. Findings have the lines of a; where only b has something, they
// say so.
func Files(a, b []byte, opt report.Options) (rep *report.Report, err error) {
	guarded := elfx.Guard(func() error {
		rep, err = diff(a, b, opt)
		return nil
	})
	return rep, errors.Join(err, guarded)
}

// differ is one run of Diff.
type differ struct {
	c    *collect.Collector
	a, b *symfile.File
	// The numbers of pathTable of both files' FILE records, by index.
	paths          *naming.Paths
	filesA, filesB []uint32
}

// diff compares two symbol files.
func diff(a, b []byte, opt report.Options) (*report.Report, error) {
	d := &differ{c: collect.New(opt), paths: naming.NewPaths()}
	d.c.Begin(report.CheckGrammar, "lines")
	for _, side := range []struct {
		data []byte
		into **symfile.File
		name string
	}{{a, &d.a, "the first file"}, {b, &d.b, "the second file"}} {
		if len(side.data) == 0 {
			return nil, &SideError{side.into == &d.b, symfile.ErrEmpty}
		}
		bad := uint64(0)
		s, err := symfile.Parse(side.data, func(int, int, error) { bad++ }, nil)
		if err != nil {
			return nil, &SideError{side.into == &d.b, err}
		}
		*side.into = s
		d.c.Compared(report.CheckGrammar, uint64(s.NumLines))
		if bad > 0 {
			d.c.Unverified(report.CheckGrammar, bad, side.name+" has lines that cannot be read: see symcheck lint")
		}
	}
	d.c.LineText = d.a.Text
	d.filesA, d.filesB = d.number(d.a), d.number(d.b)
	d.module()
	d.functions()
	d.lines()
	d.inlines()
	d.publics()
	d.unwind()
	return d.c.Report(), nil
}

func (d *differ) number(s *symfile.File) (ids []uint32) {
	for i := range s.Files.List {
		ids = append(ids, d.paths.ID(string(s.Files.List[i].Text)))
	}
	return append(ids, naming.AnyPath)
}

// module compares MODULE and all INFO records but GENERATOR.
func (d *differ) module() {
	c := d.c
	c.Begin(report.CheckModule, "records")
	c.Compared(report.CheckModule, uint64(1+len(d.a.Infos)))
	if d.a.Module != d.b.Module {
		c.Wrong(report.Finding{Check: report.CheckModule, Line: 1, What: fmt.Sprintf("the other file has %s %s %s %s",
			d.b.Module.OS, d.b.Module.Arch, d.b.Module.ID, d.b.Module.Name)}, 1)
	}
	texts := func(s *symfile.File) (t []symfile.Info) {
		for _, i := range s.Infos {
			if i.Key != "GENERATOR" {
				t = append(t, i)
			}
		}
		return t
	}
	has := func(list []symfile.Info, i symfile.Info) bool {
		return slices.ContainsFunc(list, func(x symfile.Info) bool { return x.Key == i.Key && x.Text == i.Text })
	}
	a, b := texts(d.a), texts(d.b)
	for _, i := range a {
		if !has(b, i) {
			c.Wrong(report.Finding{Check: report.CheckModule, Line: int(i.Line), What: "not in the other file"}, 1)
		}
	}
	for _, i := range b {
		if !has(a, i) {
			c.Missing(report.Finding{Check: report.CheckModule, What: fmt.Sprintf("only in the other file: INFO %s %s", i.Key, i.Text)}, 1)
		}
	}
}

// compare sweeps two sides and reports where same is false or one has nothing.
// say describes what the second file says.
func (d *differ) compare(check string, a, b []stretch, same func(a, b *stretch) bool, say func(b *stretch) string) {
	sweep(a, b, func(lo, hi uint64, x, y *stretch) {
		d.c.Compared(check, hi-lo)
		switch {
		case x == nil:
			d.c.Missing(report.Finding{Check: check, Addr: lo, What: fmt.Sprintf("only the other file covers [%#x, %#x): %s", lo, hi, say(y))}, hi-lo)
		case y == nil:
			d.c.Wrong(report.Finding{Check: check, Line: int(x.at), Addr: lo, What: fmt.Sprintf("[%#x, %#x): nothing in the other file", lo, hi)}, hi-lo)
		case !same(x, y):
			d.c.Wrong(report.Finding{Check: check, Line: int(x.at), Addr: lo, What: fmt.Sprintf("[%#x, %#x): the other file says %s", lo, hi, say(y))}, hi-lo)
		}
	})
}

// functions compares the FUNC of each PC: where it begins, and its name.
func (d *differ) functions() {
	d.c.Begin(report.CheckFuncs, "PCs")
	list := func(s *symfile.File) (out []stretch) {
		for i := range s.Funcs {
			out = append(out, stretch{s.Funcs[i].Addr, s.Funcs[i].End, s.Funcs[i].Line, uint32(i)})
		}
		return sortStretches(out)
	}
	d.compare(report.CheckFuncs, list(d.a), list(d.b), func(a, b *stretch) bool {
		x, y := &d.a.Funcs[a.index], &d.b.Funcs[b.index]
		return x.Addr == y.Addr && x.Params == y.Params && x.Multiple == y.Multiple && bytes.Equal(x.Name, y.Name)
	}, func(b *stretch) string {
		f := &d.b.Funcs[b.index]
		return fmt.Sprintf("FUNC %x %x %x %s", f.Addr, f.End-f.Addr, f.Params, symfile.Shown(f.Name))
	})
}

// lines compares the file and line of each PC.
func (d *differ) lines() {
	d.c.Begin(report.CheckLines, "PCs")
	list := func(s *symfile.File) (out []stretch) {
		for i := range s.Lines {
			l := &s.Lines[i]
			out = append(out, stretch{l.Addr, l.End(), l.At, uint32(i)})
		}
		return sortStretches(out)
	}
	d.compare(report.CheckLines, list(d.a), list(d.b), func(a, b *stretch) bool {
		x, y := &d.a.Lines[a.index], &d.b.Lines[b.index]
		return x.Line == y.Line && d.path(d.a, d.filesA, x.File) == d.path(d.b, d.filesB, y.File)
	}, func(b *stretch) string {
		l := &d.b.Lines[b.index]
		return fmt.Sprintf("%s:%d", d.paths.Name(d.path(d.b, d.filesB, l.File)), l.Line)
	})
}

func (d *differ) path(s *symfile.File, ids []uint32, num uint32) uint32 {
	if i, ok := s.Files.Index(num); ok {
		return ids[i]
	}
	return naming.AnyPath
}

// inlines compares the chain of inlined calls of each PC, level by level.
func (d *differ) inlines() {
	d.c.Begin(report.CheckInlines, "PCs")
	a, b := d.levels(d.a), d.levels(d.b)
	for depth := range max(len(a), len(b)) {
		var x, y []stretch
		if depth < len(a) {
			x = a[depth]
		}
		if depth < len(b) {
			y = b[depth]
		}
		d.compare(report.CheckInlines, x, y, func(a, b *stretch) bool {
			p, q := &d.a.Inlines[a.index], &d.b.Inlines[b.index]
			return p.CallLine == q.CallLine && d.path(d.a, d.filesA, p.CallFile) == d.path(d.b, d.filesB, q.CallFile) &&
				bytes.Equal(d.a.Origins.Text(p.Origin), d.b.Origins.Text(q.Origin))
		}, func(b *stretch) string {
			in := &d.b.Inlines[b.index]
			return fmt.Sprintf("at depth %d %s called from %s:%d", in.Depth, symfile.Shown(d.b.Origins.Text(in.Origin)),
				d.paths.Name(d.path(d.b, d.filesB, in.CallFile)), in.CallLine)
		})
	}
}

// levels are the ranges of the INLINE records by depth.
func (d *differ) levels(s *symfile.File) (levels [][]stretch) {
	for i := range s.Inlines {
		in := &s.Inlines[i]
		if int(in.Depth) >= limits.CheckDepth.Int() {
			d.c.Unverified(report.CheckInlines, 1, "calls more than 1024 deep")
			continue
		}
		for uint32(len(levels)) <= in.Depth {
			levels = append(levels, nil)
		}
		for _, r := range s.Ranges[in.Ranges.From:in.Ranges.To] {
			levels[in.Depth] = append(levels[in.Depth], stretch{r.Addr, r.Addr + uint64(r.Size), in.At, uint32(i)})
		}
	}
	for i := range levels {
		levels[i] = sortStretches(levels[i])
	}
	return levels
}

// publics compares the PUBLIC records by address.
func (d *differ) publics() {
	d.c.Begin(report.CheckPublics, "addresses")
	list := func(s *symfile.File) (out []stretch) {
		for i := range s.Publics {
			if p := &s.Publics[i]; p.Addr < ^uint64(0) {
				out = append(out, stretch{p.Addr, p.Addr + 1, p.At, uint32(i)})
			}
		}
		return sortStretches(out)
	}
	d.compare(report.CheckPublics, list(d.a), list(d.b), func(a, b *stretch) bool {
		x, y := &d.a.Publics[a.index], &d.b.Publics[b.index]
		return x.Params == y.Params && x.Multiple == y.Multiple && bytes.Equal(x.Name, y.Name)
	}, func(b *stretch) string { return "PUBLIC " + symfile.Shown(d.b.Publics[b.index].Name) })
}

// unwind compares what the rules of each PC evaluate to.
func (d *differ) unwind() {
	if len(d.a.Inits) == 0 && len(d.b.Inits) == 0 {
		return
	}
	d.c.Begin(report.CheckCFI, "PCs")
	a := cfi.ArchByName(d.a.Module.Arch)
	if a == nil {
		d.c.State(report.CheckCFI, report.NotVerified, "no register names are known for the architecture")
		return
	}
	w := &ruleDiff{parser: eval.NewParser(eval.NewArch(a))}
	for i := range w.machines {
		w.machines[i] = eval.NewMachine(w.parser.Arch, eval.Mix(uint64(i)+1), false)
	}
	x, y := w.rules(d.a), w.rules(d.b)
	if lost := x.lost + y.lost; lost > 0 {
		d.c.Unverified(report.CheckCFI, lost, "too many different sets of rules")
		return
	}
	var said string
	d.compare(report.CheckCFI, x.stretches, y.stretches, func(a, b *stretch) bool {
		said = w.difference(a, b, x.sets[a.index], y.sets[b.index])
		return said == ""
	}, func(b *stretch) string { return cmp.Or(said, "other rules") })
}
