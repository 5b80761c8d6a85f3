package pcs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnionAndWithin(t *testing.T) {
	got := Union(Set{{20, 30}, {5, 5}, {0, 10}, {8, 12}, {30, 31}})
	want := Set{{0, 12}, {20, 31}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Range{})); diff != "" {
		t.Error(diff)
	}
	if n := Within(want, Set{{10, 25}, {40, 50}}); n != 7 {
		t.Errorf("%d bytes in common", n)
	}
	var out Set
	want.Outside(5, 40, func(lo, hi uint64) { out = append(out, Range{lo, hi}) })
	if diff := cmp.Diff(Set{{12, 20}, {31, 40}}, out, cmp.AllowUnexported(Range{})); diff != "" {
		t.Error(diff)
	}
}
