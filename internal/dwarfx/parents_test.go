package dwarfx

import (
	"slices"
	"testing"
)

// TestParentsOf: one DIE at a time, and out of the parent index, parents are the same.
func TestParentsOf(t *testing.T) {
	d := openReal(t, "../../testdata/elf/lang-x86_64-gcc12-O2-dw5.elf")
	compared := 0
	for _, u := range d.Units {
		var targets []Ref
		var want [][]Ref
		for at := u.first; at < u.End; at++ {
			targets = append(targets, Ref(at))
		}
		err := d.Parents(u, targets, nil, func(i int, parents []Ref) {
			for len(want) < i {
				want = append(want, nil)
			}
			want = append(want, slices.Clone(parents))
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, parents := range want {
			if len(parents) == 0 {
				continue // no DIE, or the root
			}
			got, ok := d.ParentsOf(u, targets[i], nil)
			if compared++; !ok || !slices.Equal(got, parents) {
				t.Fatalf("%#x: %#x, want %#x", targets[i], got, parents)
			}
		}
		d.ForgetParents(u)
	}
	if compared < 100 || len(d.parents) != 0 {
		t.Errorf("%d compared, %d units remembered", compared, len(d.parents))
	}
}
