package dump

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"symkit/elfx"
	"symkit/internal/limitof"
	"symkit/limits"
	"symkit/test/mutant"
)

// TestRecordsLimited: what is lost to a limit of records, and what is written, is the same for any
// number of goroutines; the loss names the limit, and with all that the file needs nothing is lost.
func TestRecordsLimited(t *testing.T) {
	for _, test := range []struct {
		file  string
		limit string
		all   uint64 // more than the file needs
	}{
		{"rust-x86_64-rustc-O-dw5.so", limitof.UnitRecords, 1 << 24},
		{"cxx-x86_64-gcc12-O2-dw5.elf", limitof.UnitRecords, 1 << 24},
		{"cxx-x86_64-gcc12-O2-dw5.elf", limitof.LineRecords, 1 << 24},
		{"rust-x86_64-rustc-O-dw5.so", limitof.LineRecords, 1 << 24},
		{"cxx-x86_64-gcc12-O2-dw5.elf", limitof.SymbolRecords, 1 << 24},
		{"rust-x86_64-rustc-O-dw5.so", limitof.FrameRecords, 1 << 24},
	} {
		var sizes []int
		for share := test.all; share >= 1; share /= 3 {
			limit := limits.Limits{}.With(test.limit, share)
			f, err := elfx.Options{Limits: limit}.Open("../testdata/elf/" + test.file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			var want string
			for _, jobs := range []int{1, 2, 8, 8} {
				m, err := Dump(t.Context(), &elfx.Image{Main: f}, Options{Jobs: jobs, Inlines: true, Limits: limit})
				if err != nil {
					t.Fatal(err)
				}
				var text bytes.Buffer
				err = m.Write(&text)
				if err != nil {
					t.Fatal(err)
				}
				got := fmt.Sprint(m.Stats.LossCount, m.Stats.Losses, m.Stats.FuncShare, m.Stats.LineShare, text.String())
				if want == "" {
					want = got
					sizes = append(sizes, text.Len())
				}
				if got != want {
					t.Errorf("%s: %s=%d: %d goroutines give other losses or another text:\n%.600s\n%.600s", test.file, test.limit, share, jobs, got, want)
				}
				names := func(err error) bool {
					return errors.Is(err, limits.ErrExceeded) && strings.Contains(err.Error(), test.limit+" above the limit of ")
				}
				if lost := slices.ContainsFunc(m.Stats.Losses, names); lost != (text.Len() < sizes[0]) {
					t.Errorf("%s: %s=%d: %d of %d bytes, losses: %v", test.file, test.limit, share, text.Len(), sizes[0], m.Stats.Losses)
				}
			}
		}
		slices.Reverse(sizes)
		if !slices.IsSorted(sizes) || slices.Max(sizes) == slices.Min(sizes) {
			t.Errorf("%s: %s: sizes %v, want some that ascend", test.file, test.limit, sizes)
		}
	}
}

// TestRepeatedDamage: units of length 0, and FDEs without a CIE, are some thousand losses, and the
// rest of the section is one.
func TestRepeatedDamage(t *testing.T) {
	for name, want := range map[string]struct {
		count int
		place string
	}{
		"units of length 0": {4096, ".debug_info+0x3ffc: truncated; damage in every unit from here on"},
		"damaged FDEs":      {65536, "damage in every entry from here on"},
	} {
		f, err := elfx.NewFile("bomb", mutant.Named(name))
		if err != nil {
			t.Fatal(err)
		}
		m, err := Dump(t.Context(), &elfx.Image{Main: f}, Options{})
		if err != nil || m.Stats.LossCount != want.count {
			t.Errorf("%s: %v, %d losses, want %d", name, err, m.Stats.LossCount, want.count)
		}
	}
}
