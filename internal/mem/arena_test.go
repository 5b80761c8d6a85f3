package mem

import (
	"slices"
	"testing"
)

// TestArena: slices keep what was appended, and appending to one leaves its
// neighbours alone.
func TestArena(t *testing.T) {
	var a Arena[int]
	var all [][]int
	for n := range 300 {
		s := a.Free()
		if len(s) != 0 {
			t.Fatal("a slice under construction begins with elements")
		}
		for i := range n * 7 {
			s = append(s, n+i)
		}
		all = append(all, a.Keep(s))
	}
	huge := a.Keep(slices.Repeat([]int{1}, 2*largestBlock))
	for n, s := range all {
		_ = append(s, -1)
		if n == 0 && s != nil {
			t.Error("an empty slice is not nil")
		}
	}
	for n, s := range all {
		if len(s) != n*7 {
			t.Fatalf("slice %d has %d elements", n, len(s))
		}
		for i, v := range s {
			if v != n+i {
				t.Fatalf("element %d of slice %d is %d", i, n, v)
			}
		}
	}
	if len(huge) != 2*largestBlock || len(a.Free()) != 0 {
		t.Error("a slice larger than a block")
	}
}
