package symfile

import (
	"slices"
	"sort"

	"symkit/check/internal/pcs"
	"symkit/check/report"
)

// AddPlaces adds to findings the places in source files that the symbol file has for them. line returns the line of the
// symbol file that a finding is about, 0 for none.
func (s *File) AddPlaces(findings []report.Finding, of string, line func(*report.Finding) int) {
	for i := range findings {
		f := &findings[i]
		p, ok := s.placeOf(uint32(line(f)))
		if !ok && f.Addr != 0 {
			p, ok = s.PlaceAt(f.Addr)
		}
		if ok {
			p.Of = of
			f.Places = append([]report.Place{p}, f.Places...)
		}
	}
}

// PlaceAt returns the file and line that the line records have for an address.
func (s *File) PlaceAt(addr uint64) (p report.Place, ok bool) {
	i := pcs.After(s.Funcs, addr)
	if i == len(s.Funcs) || s.Funcs[i].Addr > addr {
		return p, false
	}
	var body Body
	s.Read(&s.Funcs[i], &body)
	lines := body.ByAddress()
	k := pcs.After(lines, addr)
	if k == len(lines) || lines[k].Addr > addr {
		return p, false
	}
	return s.place(lines[k].File, lines[k].Line)
}

// placeOf returns the file and line that a line of text is about: a line record, the call of an INLINE record, or the
// first line of a FUNC.
func (s *File) placeOf(at uint32) (p report.Place, ok bool) {
	i := sort.Search(len(s.Funcs), func(i int) bool { return s.Funcs[i].Line > at }) - 1
	if i < 0 {
		return p, false
	}
	f := &s.Funcs[i]
	if f.Line == at {
		return s.PlaceAt(f.Addr)
	}
	var body Body
	s.Read(f, &body)
	k := slices.IndexFunc(body.Lines, func(l Line) bool { return l.At == at })
	if k >= 0 {
		return s.place(body.Lines[k].File, body.Lines[k].Line)
	}
	k = slices.IndexFunc(body.Inlines, func(in Inline) bool { return in.At == at })
	if k >= 0 {
		return s.place(body.Inlines[k].CallFile, body.Inlines[k].CallLine)
	}
	return p, false
}

// place returns a line of a FILE.
func (s *File) place(file, line uint32) (p report.Place, ok bool) {
	i, ok := s.Files.Index(file)
	if ok {
		p = report.Place{File: string(s.Files.List[i].Text), Line: line}
	}
	return p, ok
}
