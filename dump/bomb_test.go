//go:build !race

package dump

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"symkit/elfx"
	"symkit/internal/mutant"
	"symkit/limits"
)

// Small files in which much is one thing, used again and again.
func TestBombs(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		loss string
	}{
		{"units that share a line program", nil, ""},
		{"units whose line programs are the ends of one", nil, "line-sharing above the limit of 16"},
		{"units that share a table of files", nil, ""},
		{"one long name for every function", limits.ErrExceeded, ""},
		{"functions with one origin, a quarter of a million DIEs away", nil, ""},
		{"functions that are each other's scopes and origins", nil, ""},
		{"functions of C++ that are each other's scopes and origins", nil, ""},
		{"scopes of C++ that are declared elsewhere", nil, ""},
		{"an inlined call in one of many ranges, with ranges that overlap", nil, ""},
		{"inlined calls in each other that have all the ranges of one", nil, ".debug_info+0x0: range-entries above the limit of 87643"},
		{"inlined calls side by side that have all the ranges of one", nil, ".debug_info+0x0: range-entries above the limit of 485643"},
		{"a function of many ranges with inlined calls side by side", nil, ".debug_info+0x0: range-entries above the limit of 1115622"},
		{"a function of many ranges with inlined calls in each other", nil, ".debug_info+0x0: range-entries above the limit of 87622"},
		{"functions and symbols at one address", nil, ""},
		{"units whose lines are of all symbols", nil, ""},
		{"slots of one function with a long name", nil, "bomb: names above the limit of"},
		{"the CFA of a procedure linkage table over 4 GB", nil, ""},
		{"FDEs in one of SFrame with rows for each", nil, ""},
		{"a long FDE between many short ones", nil, "bomb: .debug_frame+0x14: an FDE in more than 64 parts"},
	} {
		f, err := elfx.NewFile("bomb", mutant.Named(test.name))
		if err != nil {
			t.Fatal(err)
		}
		m, err := Dump(t.Context(), &elfx.Image{Main: f}, Options{Inlines: true})
		if !errors.Is(err, test.err) {
			t.Errorf("%s: %v", test.name, err)
		}
		if err != nil || test.loss == "" {
			continue
		}
		hasLoss := func(err error) bool { return strings.Contains(err.Error(), test.loss) }
		if !slices.ContainsFunc(m.Stats.Losses, hasLoss) {
			t.Errorf("%s: %d losses, want %s; the first: %v", test.name, m.Stats.LossCount, test.loss, m.Stats.Losses[:min(len(m.Stats.Losses), 3)])
		}
	}
}
