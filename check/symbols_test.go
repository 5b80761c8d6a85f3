package check

import (
	"slices"
	"strings"
	"testing"

	"symkit/check/internal/checks"
	"symkit/check/report"
	"symkit/elfx"
	"symkit/internal/limitof"
	"symkit/limits"
)

// TestSymbolsLimited: symbols above a limit are not compared, and the other checks are made. They were
// an error of the whole run, or a finding for each PUBLIC.
func TestSymbolsLimited(t *testing.T) {
	sym := []byte("MODULE Linux x86_64 0 x\nFUNC 1000 1 0 f\nPUBLIC 1510 0 _start\nPUBLIC 1511 0 wrong\n")
	small := limits.Limits{}.With(limitof.SymbolRecords, 100)
	for name, opened := range map[string]elfx.Options{"compared": {}, "read": {Limits: small}} {
		f, err := opened.Open("../testdata/elf/cxx-x86_64-gcc12-O2-dw5.elf")
		if err != nil {
			t.Fatal(err)
		}
		rep, err := File(t.Context(), &elfx.Image{Main: f}, sym, Options{Options: report.Options{Limits: small}})
		f.Close()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}

		i := slices.IndexFunc(rep.Checks, func(k report.Check) bool { return k.Name == checks.Publics })
		k := rep.Checks[i]
		if k.State != report.NotVerified || k.Wrong+k.Missing != 0 || k.Unverified != 2 || !strings.Contains(strings.Join(k.Notes, "\n"), "symbol-records above the limit") {
			t.Errorf("%s: %+v", name, k)
		}
	}
}
