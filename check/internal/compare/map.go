package compare

import (
	"cmp"
	"slices"
	"sort"

	"symkit/check/internal/symfile"
	"symkit/check/report"
)

// Map returns the coverage of the code, for a page. missing are functions without a FUNC.
func Map(in *Input, u *Units, missing []report.Function) *report.Map {
	m := &report.Map{}
	for _, x := range in.RelativeCode() {
		m.Code = append(m.Code, report.Range(x))
	}
	for _, class := range in.Sym.Covered() {
		c := report.Covered{Class: class.Name}
		for _, x := range class.Set {
			c.Ranges = append(c.Ranges, report.Range(x))
		}
		m.Covered = append(m.Covered, c)
	}

	// The functions of the symbol file, then those that it lacks.
	sources := numbering{index: map[string]int{}}
	for i := range in.Sym.Funcs {
		f := &in.Sym.Funcs[i]
		calls, _ := u.calls.of(i)
		l, ok := u.lines.of(i)
		if !ok {
			l, _ = u.others.of(i)
		}
		m.Functions = append(m.Functions, report.Function{Range: report.Range{Lo: f.Addr, Hi: f.End}, Name: symfile.Shown(f.Name),
			Wrong: l.wrong - l.missing + calls.wrong - calls.missing, Lost: l.missing + calls.missing, File: in.fileOf(f, &sources), Unit: -1})
	}
	for _, f := range missing {
		f.File, f.Unit = -1, -1
		m.Functions = append(m.Functions, f)
	}
	slices.SortStableFunc(m.Functions, func(a, b report.Function) int { return cmp.Compare(a.Lo, b.Lo) })
	m.Files = sources.names
	u.addTo(m, in.Bias)
	return m
}

// numbering gives each name a number.
type numbering struct {
	index map[string]int
	names []string
}

// number returns the number of a name.
func (n *numbering) number(name string) int {
	i, known := n.index[name]
	if !known {
		i = len(n.names)
		n.index[name] = i
		n.names = append(n.names, name)
	}
	return i
}

// fileOf returns the number of the source file that f begins in, -1 if no line is known.
func (in *Input) fileOf(f *symfile.Func, sources *numbering) int {
	var body symfile.Body
	in.Sym.Read(f, &body)
	if len(body.Lines) == 0 {
		return -1
	}
	i, ok := in.Sym.Files.Index(body.ByAddress()[0].File)
	if !ok {
		return -1
	}
	return sources.number(symfile.Shown(in.Sym.Files.List[i].Text))
}

// addTo sets the unit of each function. u.functions is sorted by address.
func (u *Units) addTo(m *report.Map, bias uint64) {
	units := numbering{index: map[string]int{}}
	for i := range m.Functions {
		f := &m.Functions[i]
		at := f.Lo + bias
		k := sort.Search(len(u.functions), func(k int) bool { return u.functions[k].lo >= at })
		if k == len(u.functions) || u.functions[k].lo != at {
			continue
		}

		// Of several units with this function, the first in the order of their names is chosen, since
		// the order of u.functions depends on the goroutines.
		name := u.names[u.functions[k].unit]
		for ; k < len(u.functions) && u.functions[k].lo == at; k++ {
			other := u.names[u.functions[k].unit]
			if name == "" || other != "" && other < name {
				name = other
			}
		}
		if name != "" {
			f.Unit = units.number(name)
		}
	}
	m.Units = units.names
}
