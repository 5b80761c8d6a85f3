package report

import (
	"strings"
	"testing"

	"symkit/lookup/source"
)

// TestSources: a finding has the lines around its places, as many as the page has room for; a place that two sides share
// is there once, if both have the same text.
func TestSources(t *testing.T) {
	text := source.Found{Text: []byte("1\n2\n3\n")}
	s := Sources{OfFirst: {"a.c": text}, OfSecond: {"a.c": text, "b.c": {Text: []byte("b\n")}}}
	f := Finding{Places: []Place{{OfFirst, "a.c", 2}, {OfSecond, "a.c", 2}, {OfSecond, "b.c", 1}, {OfSecond, "none.c", 1}, {OfSecond, "b.c", 0}}}
	budget := 1000
	v := s.view(f, &budget)
	var got []string
	for _, p := range v.Sources {
		got = append(got, p.Of+" "+p.File+" "+p.Code.Lines[0].Text)
	}
	if want := " a.c 1, second file b.c b"; strings.Join(got, ", ") != want || budget >= 1000 {
		t.Errorf("%q, want %q; %d", got, want, budget)
	}
	s[OfSecond]["a.c"] = source.Found{Text: []byte("other\n2\n")}
	if v := s.view(f, &budget); len(v.Sources) != 3 || v.Sources[0].Of != OfFirst {
		t.Errorf("%+v", v.Sources)
	}
	budget = 0
	if v := s.view(f, &budget); v.Sources != nil {
		t.Errorf("%+v", v.Sources)
	}
	rep := &Report{Findings: []Finding{f, f}}
	if paths := rep.PathsOf(OfSecond); strings.Join(paths, " ") != "a.c b.c none.c" {
		t.Errorf("%q", paths)
	}
}
