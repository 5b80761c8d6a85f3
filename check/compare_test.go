package check

import (
	"testing"

	"symkit/check/internal/collect"
	"symkit/check/internal/symfile"
	"symkit/check/internal/truth/dwarfinfo"
	"symkit/check/report"
)

// TestDifferences checks that only some differences of a FUNC are kept, but all of them and their
// PCs are counted.
func TestDifferences(t *testing.T) {
	r := &replay{c: collect.New(report.Options{Limit: 100}), mostDiffs: 3}
	r.c.Begin(report.CheckLines, "PCs")
	outcomes := []funcOutcome{{done: true}, {done: true}}
	for i := range uint64(10) {
		r.add(&outcomes[0], difference{lo: 10 * i, hi: 10*i + 1, at: uint32(i % 2)}) // every other one is missing
	}
	r.add(&outcomes[1], difference{lo: 100, hi: 107, at: 1})
	r.outcomes(report.CheckLines, outcomes, func(*difference) string { return "" })
	report := r.c.Report()
	k := report.Checks[0]
	if k.Findings != 11 || k.Wrong != 5+7 || k.Missing != 5 || len(report.Findings) != 3+1 {
		t.Errorf("%d findings, %d PCs wrong, %d missing, %d kept; want 11, 12, 5, 4", k.Findings, k.Wrong, k.Missing, len(report.Findings))
	}
}

func TestMostDiffs(t *testing.T) {
	for funcs, want := range map[int]int{0: 4096, 1: 4096, 128: 4096, 1024: 512, 1 << 19: 1, 1 << 30: 1} {
		if got := mostDiffs(funcs); got != want {
			t.Errorf("%d of a file with %d, want %d", got, funcs, want)
		}
	}
}

// TestDescribedOften checks that code that thousands of units describe, such as that of an inline
// function in a large program, is compared until one description is right. The other descriptions
// cost nothing, so that they do not use up the limit on comparing.
func TestDescribedOften(t *testing.T) {
	r := &replay{ctx: t.Context(), c: collect.New(report.Options{}), s: &symfile.File{Funcs: []symfile.Func{{Addr: 0x1000, End: 0x1010}}}, mostDiffs: 3}
	w := &worker{r: r}
	outcomes := make([]funcOutcome, 1)
	var table dwarfinfo.Lines
	w.compare(outcomes, 0, &table, 0)
	once := r.spent.Load()
	for range 1000 {
		w.compare(outcomes, 0, &table, 0)
	}
	if !outcomes[0].right() || once == 0 || r.spent.Load() != once {
		t.Errorf("%+v: %d steps once, %d after 1000 more", outcomes[0], once, r.spent.Load())
	}
}
