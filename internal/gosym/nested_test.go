package gosym

import (
	"slices"
	"testing"
)

func TestNested(t *testing.T) {
	for _, test := range []struct {
		parents []int32
		want    []uint32 // names: the index in Calls
	}{
		{nil, nil},
		{[]int32{-1}, []uint32{0}},
		{[]int32{-1, -1, 0}, []uint32{0, 2, 1}},
		{[]int32{-1, 0, -1, 0, 1, 2, 3, 2, -1}, []uint32{0, 1, 4, 3, 6, 2, 5, 7, 8}},
	} {
		in := Inlines{next: []int32{7}, child: []int32{7}} // of the function before
		for i, parent := range test.parents {
			in.Calls = append(in.Calls, Call{Name: uint32(i), Parent: parent})
		}
		var got []uint32
		for c := range in.Nested {
			got = append(got, c.Name)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%v: %v, want %v", test.parents, got, test.want)
		}
		for range in.Nested {
			break
		}
	}
}
