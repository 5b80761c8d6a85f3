//go:build !race

// The race detector allocates.

package cfi

import "testing"

func TestRowsDoNotAllocate(t *testing.T) {
	s := synthetic()
	var fdes []FDE
	for f, err := range s.FDEs() {
		if err != nil {
			t.Fatal(err)
		}
		fdes = append(fdes, f)
	}
	text := NewText(&x86_64)
	n := testing.AllocsPerRun(100, func() {
		for i := range fdes[:10] {
			text.Reset()
			text.Begin(fdes[i].CIE.RA)
			for row, err := range fdes[i].Rows() {
				if err != nil {
					t.Fatal(err)
				}
				text.Add(row)
			}
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
