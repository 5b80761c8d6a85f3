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

	add("lines", pcs.Union(s.lines))
	add("inlines", pcs.Union(s.inlines))
	add("cfi", pcs.SetOf(s.Inits))
	return all
}
