package symfile

import (
	"symkit/check/internal/pcs"
	"symkit/check/report"
)

// Class is the addresses that the records of one class cover.
type Class struct {
	Name string
	Set  pcs.Set
}

// Coverage returns how much of the code each class of records covers. If code is nil, the code is
// what FUNC records cover.
func (s *File) Coverage(code pcs.Set) (all []report.Coverage) {
	for _, class := range s.Covered() {
		if code == nil {
			code = class.Set // the first class is that of functions
		}
		all = append(all, report.Coverage{Class: class.Name, Code: code.Size(), Covered: pcs.Within(code, class.Set)})
	}
	return all
}

// Covered returns the addresses that each class of records covers.
func (s *File) Covered() (all []Class) {
	add := func(name string, covered pcs.Set) { all = append(all, Class{name, covered}) }
	add("functions", pcs.SetOf(s.Funcs))

	// Adjacent lines are joined at once, so that the set stays small.
	lines := make(pcs.Set, 0, len(s.Lines))
	for i := range s.Lines {
		l := &s.Lines[i]
		n := len(lines) - 1
		switch {
		case l.Line == 0: // no line is known
		case n >= 0 && lines[n].Hi == l.Addr:
			lines[n].Hi = l.End()
		default:
			lines = append(lines, l.PCs())
		}
	}
	add("lines", pcs.Union(lines))

	// Calls at depth 0 contain all deeper calls.
	inlines := make(pcs.Set, 0, len(s.Ranges))
	for i := range s.Inlines {
		if s.Inlines[i].Depth == 0 {
			for _, x := range s.RangesOf(&s.Inlines[i]) {
				inlines = append(inlines, pcs.Range{Lo: x.Addr, Hi: x.Addr + uint64(x.Size)})
			}
		}
	}
	add("inlines", pcs.Union(inlines))

	add("cfi", pcs.SetOf(s.Inits))
	return all
}
