package dump

import (
	"errors"
	"strings"
	"testing"

	"symkit/elfx"
	"symkit/internal/limits"
	"symkit/internal/mutant"
)

// Small files in which much is one thing, used again and again.
func TestBombs(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		loss string
	}{
		{"units that share a line program", nil, ".debug_line+0x0: line-sharing above the limit of 16"},
		{"units that share a table of files", nil, ".debug_line+0x0: line-sharing above the limit of 16"},
		{"one long name for every function", limits.ErrExceeded, ""},
		{"functions with one origin, a quarter of a million DIEs away", nil, ""},
		{"functions that are each other's scopes and origins", nil, ""},
	} {
		f, err := elfx.NewFile("bomb", mutant.Named(test.name))
		if err != nil {
			t.Fatal(err)
		}
		m, err := Dump(t.Context(), &elfx.Image{Main: f}, Options{})
		if !errors.Is(err, test.err) {
			t.Errorf("%s: %v", test.name, err)
		}
		if err != nil || test.loss == "" {
			continue
		}
		if m.Stats.LossCount == 0 || !strings.Contains(m.Stats.Losses[0].Error(), test.loss) {
			t.Errorf("%s: %d losses, %v", test.name, m.Stats.LossCount, m.Stats.Losses)
		}
	}
}
