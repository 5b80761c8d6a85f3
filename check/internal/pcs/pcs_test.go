package pcs

import (
	"slices"
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

// TestDisjoint checks that of two elements that overlap the one that begins first holds, then the
// one that comes first.
func TestDisjoint(t *testing.T) {
	type element struct {
		Range
		name string
	}
	list := []element{{Range{8, 12}, "c"}, {Range{0, 4}, "a"}, {Range{2, 6}, "b"}, {Range{9, 11}, "hidden"}, {Range{8, 14}, "d"}, {Range{20, 20}, "empty"}}
	if sorted := Sorted(list); sorted[0].name != "a" || list[0].name != "c" {
		t.Errorf("Sorted: %v of %v", sorted, list)
	}

	got := Disjoint(slices.Clone(list))
	if n := testing.AllocsPerRun(10, func() { Sorted(got) }); n > 0 {
		t.Errorf("Sorted of a list in order allocates %v times", n)
	}
	want := []element{{Range{0, 4}, "a"}, {Range{4, 6}, "b"}, {Range{8, 12}, "c"}, {Range{12, 14}, "d"}}
	if !slices.Equal(got, want) {
		t.Errorf("Disjoint: %v", got)
	}
	for addr, index := range map[uint64]int{0: 0, 3: 0, 4: 1, 6: 2, 7: 2, 8: 2, 13: 3, 14: 4} {
		if i := After(got, addr); i != index {
			t.Errorf("After %d: %d, want %d", addr, i, index)
		}
	}
	if set := SetOf(list); !slices.Equal(set, Set{{0, 6}, {8, 14}}) {
		t.Errorf("SetOf: %v", set)
	}
}
