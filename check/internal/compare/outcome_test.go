package compare

import (
	"testing"

	"symkit/check/internal/checks"
	"symkit/check/internal/collect"
	"symkit/check/internal/naming"
	"symkit/check/internal/symfile"
	"symkit/check/internal/truth"
	"symkit/check/internal/truth/dwarfinfo"
	"symkit/check/report"
)

// TestDifferences checks that only some differences of a FUNC are kept, but all of them and their
// PCs are counted.
func TestDifferences(t *testing.T) {
	in := &Input{Sym: &symfile.File{Funcs: make([]symfile.Func, 2)}}
	r := &funcReport{Input: in, c: collect.New(report.Options{Limit: 100})}
	r.c.Begin(checks.Lines, "PCs")
	const most = 3
	var many, one outcome
	for i := range uint64(10) {
		many.add(difference{lo: 10 * i, hi: 10*i + 1, at: uint32(i % 2)}, most) // every other one is missing
	}
	one.add(difference{lo: 100, hi: 107, at: 1}, most)
	r.outcomes(checks.Lines, []*outcomes{{list: []funcOutcome{{0, many}, {1, one}}}}, func(*difference) string { return "" })
	report := r.c.Report(nil)
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

// TestBestOutcome: the outcome that counts does not depend on the order in which units are compared.
func TestBestOutcome(t *testing.T) {
	all := []outcome{{wrong: 3, from: 1}, {wrong: 2, unread: 2, from: 4}, {wrong: 2, unread: 1, from: 3}, {wrong: 2, unread: 1, from: 2}, {empty: true}}
	for first := range all {
		var a, b outcomes
		for i := range all {
			m := &a
			if i%2 > 0 {
				m = &b
			}
			m.add(funcOutcome{7, all[(first+i)%len(all)]})
		}
		a.add(b.list...)
		a.sort()
		best, _ := a.of(7)
		if best.from != 2 || len(a.list) != 1 {
			t.Errorf("from %d: %+v", first, a)
		}
	}
}

// TestDescribedOften checks that code that thousands of units describe, such as that of an inline
// function in a large program, is compared until one description is right. The other descriptions
// cost nothing, so that they do not use up the limit on comparing. A description without lines of a FUNC without lines is
// not enough: another one may have lines.
func TestDescribedOften(t *testing.T) {
	in := New(Input{Sym: &symfile.File{Funcs: []symfile.Func{{Addr: 0x1000, End: 0x1010}}}, Truth: &truth.Truth{Paths: naming.NewPaths()}})
	w := newWorker(in, newUnits(in.Report))
	var table dwarfinfo.Lines
	o, ok := w.lines(0, &table, 0, linesRight)
	once := w.spent
	in.work.set(0, linesRight)
	for range 1000 {
		_, again := w.lines(0, &table, 0, linesRight)
		ok = ok && !again
	}
	if !ok || !o.empty || o.right() || once == 0 || w.spent != once {
		t.Errorf("%v, %+v: %d steps once, %d after 1000 more", ok, o, once, w.spent)
	}
}
