package check

import (
	"testing"

	"symkit/check/internal/checks"
	"symkit/check/report"
)

// TestTypeUnits checks that every line and inlined call is verified if hundreds of type units name
// the line program of their unit.
func TestTypeUnits(t *testing.T) {
	img, sym := own(t, "types-x86_64-gcc12-O2-dw5-types.elf")
	rep := mustCheck(t, img, sym, Options{})
	for name, least := range map[string]uint64{checks.Funcs: 150, checks.Lines: 10_000, checks.Inlines: 1000} {
		k := rep.Check(name)
		if k.State != report.Checked || k.Findings > 0 || k.Unverified > 0 || k.Compared < least {
			t.Errorf("%+v, want %d and more compared", *k, least)
		}
	}
}
