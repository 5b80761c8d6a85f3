package report

import (
	"slices"

	"symkit/lookup/source"
)

// Sources has the source files of findings, by Place.Of and path.
type Sources map[string]map[string]source.Found

// PathsOf returns the paths of the places of findings with one of some values of Place.Of.
func (r *Report) PathsOf(of ...string) (paths []string) {
	seen := map[string]bool{}
	for i := range r.Findings {
		for _, p := range r.Findings[i].Places {
			if slices.Contains(of, p.Of) && !seen[p.File] {
				seen[p.File] = true
				paths = append(paths, p.File)
			}
		}
	}
	return paths
}

// findingView is a finding with the source lines around its places.
type findingView struct {
	Finding
	Sources []placeView
}

// placeView is a place with the lines around.
type placeView struct {
	Of string // empty if all have this place
	Place
	Code *source.Excerpt
}

// mostSource bounds the source lines of a page, in bytes.
const mostSource = 4 << 20

// view returns a finding with the source lines of its places, of those whose text is at hand. budget is what they may
// take on the page, in bytes.
func (s Sources) view(f Finding, budget *int) findingView {
	v := findingView{Finding: f}
	for _, p := range f.Places {
		found, ok := s[p.Of][p.File]
		if !ok || *budget <= 0 {
			continue
		}
		n := len(v.Sources)
		if n > 0 && v.Sources[n-1].File == p.File && v.Sources[n-1].Line == p.Line && string(found.Text) == string(s[v.Sources[n-1].Place.Of][p.File].Text) {
			v.Sources[n-1].Of = ""
			continue
		}
		code := found.Excerpt(p.Line)
		if code != nil {
			*budget -= code.Size()
			v.Sources = append(v.Sources, placeView{p.Of, p, code})
		}
	}
	return v
}
