package frames

import (
	"slices"
	"testing"
)

// span is [lo, hi).
type span [2]uint64

func entriesOf(spans []span) (entries []Entry) {
	for _, s := range spans {
		entries = append(entries, Entry{Lo: s[0], Hi: s[1]})
	}
	return entries
}

func spansOf(entries []Entry) (spans []span) {
	for _, f := range entries {
		spans = append(spans, span{f.Lo, f.Hi})
	}
	return spans
}

func TestDisjoint(t *testing.T) {
	got := spansOf(disjoint(entriesOf([]span{{30, 40}, {10, 25}, {20, 35}, {21, 24}})))
	want := []span{{10, 25}, {25, 35}, {35, 40}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestUnion(t *testing.T) {
	for _, tt := range []struct {
		name       string
		a, b, want []span
	}{
		{"nothing", nil, nil, nil},
		{"only the first", []span{{10, 20}}, nil, []span{{10, 20}}},
		{"only the second", nil, []span{{10, 20}}, []span{{10, 20}}},
		{"the same", []span{{10, 20}}, []span{{10, 20}}, []span{{10, 20}}},
		{"in turn", []span{{10, 20}, {30, 40}}, []span{{20, 30}, {40, 50}}, []span{{10, 20}, {20, 30}, {30, 40}, {40, 50}}},
		{"the second begins first", []span{{10, 20}}, []span{{5, 15}}, []span{{5, 10}, {10, 20}}},
		{"the second ends last", []span{{10, 20}}, []span{{15, 25}}, []span{{10, 20}, {20, 25}}},
		{"holes filled", []span{{10, 20}, {30, 40}}, []span{{0, 100}}, []span{{0, 10}, {10, 20}, {20, 30}, {30, 40}, {40, 100}}},
		{"several in one hole", []span{{10, 20}, {50, 60}}, []span{{18, 22}, {25, 30}, {45, 55}}, []span{{10, 20}, {20, 22}, {25, 30}, {45, 50}, {50, 60}}},
	} {
		if got := spansOf(union(entriesOf(tt.a), entriesOf(tt.b), nil)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}
