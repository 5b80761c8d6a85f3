package dump

import (
	"errors"
	"strings"
	"testing"

	"symkit/elfx"
	"symkit/limits"
	"symkit/test/mutant"
)

// TestNamesLimit: 131,072 functions whose names are the ends of one string of a
// megabyte.
func TestNamesLimit(t *testing.T) {
	for _, bomb := range mutant.Bombs {
		if bomb.Name != "one long name for every function" {
			continue
		}
		f, err := elfx.NewFile("bomb", bomb.Make())
		if err != nil {
			t.Fatal(err)
		}
		m, err := Dump(t.Context(), &elfx.Image{Main: f}, Options{Jobs: 2})
		if err != nil {
			t.Fatal(err)
		}
		if l := m.Stats.Losses; len(l) != 1 || !errors.Is(l[0], limits.ErrExceeded) || !strings.HasPrefix(l[0].Error(), "bomb: .debug_info+0x0: names above the limit of ") {
			t.Errorf("%v, want the limit of names", l)
		}
		return
	}
	t.Fatal("there is no such bomb")
}
