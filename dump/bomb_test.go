//go:build !race

package dump

import (
	"slices"
	"strings"
	"testing"

	"symkit/elfx"
	"symkit/test/mutant"
)

// Small files in which much is one thing, used again and again.
func TestBombs(t *testing.T) {
	for _, test := range []struct {
		name string
		loss string
	}{
		{"units that share a line program", ""},
		{"units whose line programs are the ends of one", "line-sharing above the limit of 16"},
		{"units that share a table of files", ""},
		{"one long name for every function", ".debug_info+0x0: names above the limit of"},
		{"functions with one origin, a quarter of a million DIEs away", ""},
		{"functions that are each other's scopes and origins", ""},
		{"functions of C++ that are each other's scopes and origins", ""},
		{"scopes of C++ that are declared elsewhere", ""},
		{"an inlined call in one of many ranges, with ranges that overlap", ""},
		{"inlined calls in each other that have all the ranges of one", ".debug_info+0x0: range-entries above the limit of 87643"},
		{"inlined calls side by side that have all the ranges of one", ".debug_info+0x0: range-entries above the limit of 485643"},
		{"a function of many ranges with inlined calls side by side", ".debug_info+0x0: range-entries above the limit of 1115622"},
		{"a function of many ranges with inlined calls in each other", ".debug_info+0x0: range-entries above the limit of 87622"},
		{"functions and symbols at one address", ""},
		{"units whose lines are of all symbols", ""},
		{"slots of one function with a long name", "bomb: names above the limit of"},
		{"the CFA of a procedure linkage table over 4 GB", ""},
		{"FDEs in one of SFrame with rows for each", ""},
		{"a long FDE between many short ones", "bomb: .debug_frame+0x14: an FDE in more than 64 parts"},
	} {
		f, err := elfx.NewFile("bomb", mutant.Named(test.name))
		if err != nil {
			t.Fatal(err)
		}
		m, err := Dump(t.Context(), &elfx.Image{Main: f}, Options{Inlines: true})
		if err != nil {
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
