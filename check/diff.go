package check

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"symkit/cfi"
	"symkit/internal/limits"
)

// differ is one run of Diff.
type differ struct {
	c    *collector
	a, b *symFile
	// The numbers of pathTable of both files' FILE records, by index.
	paths          *pathTable
	filesA, filesB []uint32
}

// diff compares two symbol files.
func diff(a, b []byte, opt Options) (*Report, error) {
	d := &differ{c: newCollector(opt), paths: newPathTable()}
	d.c.begin(CheckGrammar, "lines")
	for _, side := range []struct {
		data []byte
		into **symFile
		name string
	}{{a, &d.a, "the first file"}, {b, &d.b, "the second file"}} {
		if len(side.data) == 0 {
			return nil, &SideError{side.into == &d.b, ErrEmpty}
		}
		bad := uint64(0)
		s, err := parse(side.data, func(int, int, error) { bad++ }, nil)
		if err != nil {
			return nil, &SideError{side.into == &d.b, err}
		}
		*side.into = s
		d.c.compared(CheckGrammar, uint64(s.nlines))
		if bad > 0 {
			d.c.unverified(CheckGrammar, bad, side.name+" has lines that cannot be read: see symcheck lint")
		}
	}
	d.c.sym = d.a
	d.filesA, d.filesB = d.number(d.a), d.number(d.b)
	d.module()
	d.functions()
	d.lines()
	d.inlines()
	d.publics()
	d.unwind()
	return d.c.report(), nil
}

func (d *differ) number(s *symFile) (ids []uint32) {
	for i := range s.files.list {
		ids = append(ids, d.paths.id(string(s.files.list[i].text)))
	}
	return append(ids, anyPath)
}

// module compares MODULE and all INFO records but GENERATOR.
func (d *differ) module() {
	c := d.c
	c.begin(CheckModule, "records")
	c.compared(CheckModule, uint64(1+len(d.a.infos)))
	if d.a.module != d.b.module {
		c.wrong(Finding{Check: CheckModule, Line: 1, What: fmt.Sprintf("the other file has %s %s %s %s",
			d.b.module.OS, d.b.module.Arch, d.b.module.ID, d.b.module.Name)}, 1)
	}
	texts := func(s *symFile) (t []symInfo) {
		for _, i := range s.infos {
			if i.key != "GENERATOR" {
				t = append(t, i)
			}
		}
		return t
	}
	has := func(list []symInfo, i symInfo) bool {
		return slices.ContainsFunc(list, func(x symInfo) bool { return x.key == i.key && x.text == i.text })
	}
	a, b := texts(d.a), texts(d.b)
	for _, i := range a {
		if !has(b, i) {
			c.wrong(Finding{Check: CheckModule, Line: int(i.line), What: "not in the other file"}, 1)
		}
	}
	for _, i := range b {
		if !has(a, i) {
			c.missing(Finding{Check: CheckModule, What: fmt.Sprintf("only in the other file: INFO %s %s", i.key, i.text)}, 1)
		}
	}
}

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

// compare sweeps two sides and reports where same is false or one has nothing.
// say describes what the second file says.
func (d *differ) compare(check string, a, b []stretch, same func(a, b *stretch) bool, say func(b *stretch) string) {
	sweep(a, b, func(lo, hi uint64, x, y *stretch) {
		d.c.compared(check, hi-lo)
		switch {
		case x == nil:
			d.c.missing(Finding{Check: check, Addr: lo, What: fmt.Sprintf("only the other file covers [%#x, %#x): %s", lo, hi, say(y))}, hi-lo)
		case y == nil:
			d.c.wrong(Finding{Check: check, Line: int(x.at), Addr: lo, What: fmt.Sprintf("[%#x, %#x): nothing in the other file", lo, hi)}, hi-lo)
		case !same(x, y):
			d.c.wrong(Finding{Check: check, Line: int(x.at), Addr: lo, What: fmt.Sprintf("[%#x, %#x): the other file says %s", lo, hi, say(y))}, hi-lo)
		}
	})
}

// functions compares the FUNC of each PC: where it begins, and its name.
func (d *differ) functions() {
	d.c.begin(CheckFuncs, "PCs")
	list := func(s *symFile) (out []stretch) {
		for i := range s.funcs {
			out = append(out, stretch{s.funcs[i].addr, s.funcs[i].end, s.funcs[i].line, uint32(i)})
		}
		return sortStretches(out)
	}
	d.compare(CheckFuncs, list(d.a), list(d.b), func(a, b *stretch) bool {
		x, y := &d.a.funcs[a.index], &d.b.funcs[b.index]
		return x.addr == y.addr && x.params == y.params && x.multiple == y.multiple && bytes.Equal(x.name, y.name)
	}, func(b *stretch) string {
		f := &d.b.funcs[b.index]
		return fmt.Sprintf("FUNC %x %x %x %s", f.addr, f.end-f.addr, f.params, shown(f.name))
	})
}

// lines compares the file and line of each PC.
func (d *differ) lines() {
	d.c.begin(CheckLines, "PCs")
	list := func(s *symFile) (out []stretch) {
		for i := range s.lines {
			l := &s.lines[i]
			out = append(out, stretch{l.addr, l.end(), l.at, uint32(i)})
		}
		return sortStretches(out)
	}
	d.compare(CheckLines, list(d.a), list(d.b), func(a, b *stretch) bool {
		x, y := &d.a.lines[a.index], &d.b.lines[b.index]
		return x.line == y.line && d.path(d.a, d.filesA, x.file) == d.path(d.b, d.filesB, y.file)
	}, func(b *stretch) string {
		l := &d.b.lines[b.index]
		return fmt.Sprintf("%s:%d", d.paths.name(d.path(d.b, d.filesB, l.file)), l.line)
	})
}

func (d *differ) path(s *symFile, ids []uint32, num uint32) uint32 {
	if i, ok := s.files.index(num); ok {
		return ids[i]
	}
	return anyPath
}

// inlines compares the chain of inlined calls of each PC, level by level.
func (d *differ) inlines() {
	d.c.begin(CheckInlines, "PCs")
	a, b := d.levels(d.a), d.levels(d.b)
	for depth := range max(len(a), len(b)) {
		var x, y []stretch
		if depth < len(a) {
			x = a[depth]
		}
		if depth < len(b) {
			y = b[depth]
		}
		d.compare(CheckInlines, x, y, func(a, b *stretch) bool {
			p, q := &d.a.inlines[a.index], &d.b.inlines[b.index]
			return p.callLine == q.callLine && d.path(d.a, d.filesA, p.callFile) == d.path(d.b, d.filesB, q.callFile) &&
				bytes.Equal(d.a.origins.text(p.origin), d.b.origins.text(q.origin))
		}, func(b *stretch) string {
			in := &d.b.inlines[b.index]
			return fmt.Sprintf("at depth %d %s called from %s:%d", in.depth, shown(d.b.origins.text(in.origin)),
				d.paths.name(d.path(d.b, d.filesB, in.callFile)), in.callLine)
		})
	}
}

// levels are the ranges of the INLINE records by depth.
func (d *differ) levels(s *symFile) (levels [][]stretch) {
	for i := range s.inlines {
		in := &s.inlines[i]
		if int(in.depth) >= limits.CheckDepth.Int() {
			d.c.unverified(CheckInlines, 1, "calls more than 1024 deep")
			continue
		}
		for uint32(len(levels)) <= in.depth {
			levels = append(levels, nil)
		}
		for _, r := range s.ranges[in.ranges.from:in.ranges.to] {
			levels[in.depth] = append(levels[in.depth], stretch{r.Addr, r.Addr + uint64(r.Size), in.at, uint32(i)})
		}
	}
	for i := range levels {
		levels[i] = sortStretches(levels[i])
	}
	return levels
}

// publics compares the PUBLIC records by address.
func (d *differ) publics() {
	d.c.begin(CheckPublics, "addresses")
	list := func(s *symFile) (out []stretch) {
		for i := range s.publics {
			if p := &s.publics[i]; p.addr < ^uint64(0) {
				out = append(out, stretch{p.addr, p.addr + 1, p.at, uint32(i)})
			}
		}
		return sortStretches(out)
	}
	d.compare(CheckPublics, list(d.a), list(d.b), func(a, b *stretch) bool {
		x, y := &d.a.publics[a.index], &d.b.publics[b.index]
		return x.params == y.params && x.multiple == y.multiple && bytes.Equal(x.name, y.name)
	}, func(b *stretch) string { return "PUBLIC " + shown(d.b.publics[b.index].name) })
}

// unwind compares what the rules of each PC evaluate to.
func (d *differ) unwind() {
	if len(d.a.inits) == 0 && len(d.b.inits) == 0 {
		return
	}
	d.c.begin(CheckCFI, "PCs")
	a := cfi.ArchByName(d.a.module.Arch)
	if a == nil {
		d.c.state(CheckCFI, NotVerified, "no register names are known for the architecture")
		return
	}
	w := &ruleDiff{parser: newRuleParser(newArchInfo(a))}
	for i := range w.machines {
		w.machines[i] = newMachine(w.parser.arch, mix(uint64(i)+1), false)
	}
	x, y := w.rules(d.a), w.rules(d.b)
	if lost := x.lost + y.lost; lost > 0 {
		d.c.unverified(CheckCFI, lost, "too many different sets of rules")
		return
	}
	var said string
	d.compare(CheckCFI, x.stretches, y.stretches, func(a, b *stretch) bool {
		said = w.difference(a, b, x.sets[a.index], y.sets[b.index])
		return said == ""
	}, func(b *stretch) string { return cmp.Or(said, "other rules") })
}
