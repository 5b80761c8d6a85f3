package diff

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"sort"

	"symkit/check/internal/pcs"
	"symkit/check/internal/symfile"
	"symkit/check/report"
)

// Changes are the differences of each function, for a page. Functions of the two files are paired
// in four steps, and each step pairs only functions that are not paired yet: by address and name; by
// a name that each file has once, because most functions move between two versions of a library; by
// address, for a function that was renamed; by name. The lines and inlined calls of a pair are
// compared by their distance from the function's first address, so that a function that only moved
// counts as equal. The rules of functions that moved are not compared.

// maxFirst is the number of differences of a function that are kept in words.
const maxFirst = 6

// pair is a function of both files, or of one.
type pair struct{ a, b *symfile.Func }

// changes lists the functions that differ, by address.
func (d *differ) changes() []report.Change {
	a, b := pcs.Sorted(d.a.Funcs), pcs.Sorted(d.b.Funcs)
	out := []report.Change{}
	for _, p := range pairs(a, b) {
		if c, differs := d.change(p); differs {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(x, y report.Change) int { return cmp.Compare(first(&x), first(&y)) })
	return out
}

// first returns the address by which a change is sorted.
func first(c *report.Change) uint64 {
	if c.Old.Hi > 0 {
		return c.Old.Lo
	}
	return c.New.Lo
}

// pairs joins the functions of two files, each by address.
func pairs(a, b []symfile.Func) (out []pair) {
	onlyA, onlyB := pointers(a), pointers(b)
	join := func(with func(a, b []*symfile.Func) []pair) {
		found := with(onlyA, onlyB)
		out = append(out, found...)
		onlyA, onlyB = without(onlyA, onlyB, found)
	}
	join(func(a, b []*symfile.Func) []pair {
		return slices.DeleteFunc(atOneAddress(a, b), func(p pair) bool { return !bytes.Equal(p.a.Name, p.b.Name) })
	})
	join(func(a, b []*symfile.Func) []pair { return ofOneName(a, b, true) })
	join(atOneAddress)
	join(func(a, b []*symfile.Func) []pair { return ofOneName(a, b, false) })

	for _, f := range onlyA {
		out = append(out, pair{a: f})
	}
	for _, f := range onlyB {
		out = append(out, pair{b: f})
	}
	return out
}

// pointers returns a pointer to each function.
func pointers(funcs []symfile.Func) []*symfile.Func {
	out := make([]*symfile.Func, len(funcs))
	for i := range funcs {
		out[i] = &funcs[i]
	}
	return out
}

// without returns the functions that are in no pair.
func without(a, b []*symfile.Func, pairs []pair) (restA, restB []*symfile.Func) {
	taken := make(map[*symfile.Func]bool, 2*len(pairs))
	for _, p := range pairs {
		taken[p.a], taken[p.b] = true, true
	}
	in := func(f *symfile.Func) bool { return taken[f] }
	return slices.DeleteFunc(a, in), slices.DeleteFunc(b, in)
}

// atOneAddress joins the functions that begin at the same address. Both lists are by address.
func atOneAddress(a, b []*symfile.Func) (out []pair) {
	for i, k := 0, 0; i < len(a) && k < len(b); {
		switch {
		case a[i].Addr < b[k].Addr:
			i++
		case b[k].Addr < a[i].Addr:
			k++
		default:
			out = append(out, pair{a[i], b[k]})
			i, k = i+1, k+1
		}
	}
	return out
}

// ofOneName pairs the functions with the same name. If unique is set, only names that each file has
// once count; otherwise the first function of a name in one file is paired with the first of the
// name in the other.
func ofOneName(a, b []*symfile.Func, unique bool) (out []pair) {
	byName := map[string][]*symfile.Func{}
	for _, f := range b {
		byName[string(f.Name)] = append(byName[string(f.Name)], f)
	}
	times := map[string]int{}
	for _, f := range a {
		times[string(f.Name)]++
	}

	for _, f := range a {
		name := string(f.Name)
		same := byName[name]
		if len(same) == 0 || unique && (len(same) > 1 || times[name] > 1) {
			continue
		}
		out = append(out, pair{f, same[0]})
		byName[name] = same[1:]
	}
	return out
}

// change returns the differences of a pair, and whether there are any.
func (d *differ) change(p pair) (c report.Change, differs bool) {
	switch {
	case p.b == nil:
		return report.Change{Name: symfile.Shown(p.a.Name), Kind: "removed", Old: report.Range(p.a.PCs())}, true
	case p.a == nil:
		return report.Change{Name: symfile.Shown(p.b.Name), Kind: "added", New: report.Range(p.b.PCs())}, true
	}

	c = report.Change{Name: symfile.Shown(p.b.Name), Old: report.Range(p.a.PCs()), New: report.Range(p.b.PCs())}
	if !bytes.Equal(p.a.Name, p.b.Name) {
		c.OldName = symfile.Shown(p.a.Name)
	}
	var a, b symfile.Body
	d.a.Read(p.a, &a)
	d.b.Read(p.b, &b)
	d.compareLines(&c, p, &a, &b)
	d.compareCalls(&c, p, &a, &b)
	if p.a.Addr == p.b.Addr {
		d.addRules(&c)
	}

	same := c.OldName == "" && c.Lines+c.Inlines+c.Rules == 0 && p.a.End-p.a.Addr == p.b.End-p.b.Addr && p.a.Params == p.b.Params && p.a.Multiple == p.b.Multiple
	c.Kind = "changed"
	if same && p.a.Addr != p.b.Addr {
		c.Kind = "moved"
	}
	return c, !same || c.Kind == "moved"
}

// note keeps a difference in words.
func note(c *report.Change, format string, args ...any) {
	if len(c.First) < maxFirst {
		c.First = append(c.First, fmt.Sprintf(format, args...))
	}
}

// compareLines compares the lines of a pair, whose records are a and b.
func (d *differ) compareLines(c *report.Change, p pair, a, b *symfile.Body) {
	name := func(s *side, l *symfile.Line) string {
		if l == nil {
			return "no line"
		}
		return fmt.Sprintf("%s:%d", d.paths.Name(s.path(l.File)), l.Line)
	}
	relative := func(f *symfile.Func) func(*symfile.Line) pcs.Range {
		return func(l *symfile.Line) pcs.Range { return shifted(l.PCs(), f.Addr) }
	}
	pcs.Sweep(whole(p), a.ByAddress(), relative(p.a), b.ByAddress(), relative(p.b), func(r pcs.Range, x, y *symfile.Line) {
		if x == nil && y == nil || x != nil && y != nil && x.Line == y.Line && d.a.path(x.File) == d.b.path(y.File) {
			return
		}
		c.Lines += r.Hi - r.Lo
		note(c, "+%#x to +%#x: %s, now %s", r.Lo, r.Hi, name(&d.a, x), name(&d.b, y))
	})
}

// level is a range of an inlined call, by the distance from the function.
type level struct {
	pcs.Range
	in *symfile.Inline
}

// compareCalls compares the inlined calls of a pair, whose records are first and second,
// depth by depth.
func (d *differ) compareCalls(c *report.Change, p pair, first, second *symfile.Body) {
	a, b := byDepth(first, p.a), byDepth(second, p.b)
	name := func(s *side, l *level) string {
		if l == nil {
			return "no inlined call"
		}
		return fmt.Sprintf("%s called from %s:%d", symfile.Shown(s.Origins.Text(l.in.Origin)), d.paths.Name(s.path(l.in.CallFile)), l.in.CallLine)
	}
	for depth := range max(len(a), len(b)) {
		pcs.Sweep(whole(p), at(a, depth), (*level).PCs, at(b, depth), (*level).PCs, func(r pcs.Range, x, y *level) {
			if x == nil && y == nil || x != nil && y != nil && x.in.CallLine == y.in.CallLine && d.a.path(x.in.CallFile) == d.b.path(y.in.CallFile) &&
				bytes.Equal(d.a.Origins.Text(x.in.Origin), d.b.Origins.Text(y.in.Origin)) {
				return
			}
			c.Inlines += r.Hi - r.Lo
			note(c, "+%#x to +%#x: %s, now %s", r.Lo, r.Hi, name(&d.a, x), name(&d.b, y))
		})
	}
}

// at returns the calls of one depth, which may be deeper than all.
func at(levels [][]level, depth int) []level {
	if depth < len(levels) {
		return levels[depth]
	}
	return nil
}

// maxLevels bounds the depth of the calls that are compared.
const maxLevels = 1024

// byDepth returns the ranges of the inlined calls of f by depth, in order.
func byDepth(body *symfile.Body, f *symfile.Func) (out [][]level) {
	for i := range body.Inlines {
		in := &body.Inlines[i]
		if in.Depth >= maxLevels {
			continue
		}
		for uint32(len(out)) <= in.Depth {
			out = append(out, nil)
		}
		for _, r := range body.RangesOf(in) {
			out[in.Depth] = append(out[in.Depth], level{shifted(pcs.Range{Lo: r.Addr, Hi: r.Addr + uint64(r.Size)}, f.Addr), in})
		}
	}
	for i := range out {
		slices.SortStableFunc(out[i], func(a, b level) int { return cmp.Compare(a.Lo, b.Lo) })
	}
	return out
}

// shifted returns r as distances from addr. Addresses below addr are cut off.
func shifted(r pcs.Range, addr uint64) pcs.Range {
	return pcs.Range{Lo: max(r.Lo, addr) - addr, Hi: max(r.Hi, addr) - addr}
}

// whole returns the addresses of the longer function of a pair, by the distance from the function.
func whole(p pair) pcs.Range {
	return pcs.Range{Hi: max(p.a.End-p.a.Addr, p.b.End-p.b.Addr)}
}

// ruleDifference is a range in which rules differ.
type ruleDifference struct {
	pcs.Range
	what string
}

// addRules adds the differences of the rules of a function that did not move. d.rules is in order.
func (d *differ) addRules(c *report.Change) {
	end := max(c.Old.Hi, c.New.Hi)
	for i := sort.Search(len(d.rules), func(i int) bool { return d.rules[i].Hi > c.Old.Lo }); i < len(d.rules) && d.rules[i].Lo < end; i++ {
		r := &d.rules[i]
		lo, hi := max(r.Lo, c.Old.Lo), min(r.Hi, end)
		c.Rules += hi - lo
		note(c, "+%#x to +%#x: %s", lo-c.Old.Lo, hi-c.Old.Lo, r.what)
	}
}
