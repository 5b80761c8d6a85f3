package symfile

import (
	"symkit/check/internal/pcs"
	"symkit/check/report"
)

// Coverage tells how much of the code each class of records covers. Without an
// ELF file the code is what FUNC records cover.
func (s *File) Coverage(code pcs.Set) []report.Coverage {
	funcs := s.FuncRanges(0)
	if code == nil {
		code = funcs
	}
	lines := make(pcs.Set, 0, len(s.Lines))
	for i := range s.Lines {
		if l := &s.Lines[i]; l.Line > 0 { // line 0 tells nothing
			if n := len(lines) - 1; n >= 0 && lines[n].Hi == l.Addr {
				lines[n].Hi = l.End()
			} else {
				lines = append(lines, pcs.Range{Lo: l.Addr, Hi: l.End()})
			}
		}
	}
	inlines := make(pcs.Set, 0, len(s.Ranges))
	for i := range s.Inlines {
		if in := &s.Inlines[i]; in.Depth == 0 { // the others lie inside of them
			for _, x := range s.Ranges[in.Ranges.From:in.Ranges.To] {
				inlines = append(inlines, pcs.Range{Lo: x.Addr, Hi: x.Addr + uint64(x.Size)})
			}
		}
	}
	inits := make(pcs.Set, 0, len(s.Inits))
	for i := range s.Inits {
		inits = append(inits, pcs.Range{Lo: s.Inits[i].Addr, Hi: s.Inits[i].End})
	}
	var all []report.Coverage
	for _, class := range []struct {
		name string
		r    pcs.Set
	}{{"functions", funcs}, {"lines", pcs.Union(lines)}, {"inlines", pcs.Union(inlines)}, {"cfi", pcs.Union(inits)}} {
		all = append(all, report.Coverage{Class: class.name, Code: code.Size(), Covered: pcs.Within(code, class.r)})
	}
	return all
}
