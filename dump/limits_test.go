package dump

import (
	"errors"
	"strings"
	"testing"

	"symkit/elfx"
	"symkit/internal/mutant"
	"symkit/limits"
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
		_, err = Dump(t.Context(), &elfx.Image{Main: f}, Options{Jobs: 2})
		if !errors.Is(err, limits.ErrExceeded) || !strings.HasPrefix(err.Error(), "bomb: names above the limit of ") {
			t.Errorf("%v, want the limit of names", err)
		}
		return
	}
	t.Fatal("there is no such bomb")
}
