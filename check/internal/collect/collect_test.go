package collect

import (
	"testing"

	"symkit/check/internal/checks"
	"symkit/check/report"
)

// TestReasons: a gap has the reason of most of its units, and not that of the other kind.
func TestReasons(t *testing.T) {
	c := New(report.Options{})
	c.Begin(checks.Lines, "PCs")
	c.Compared(checks.Lines, 100)
	c.Unverified(checks.Lines, 5, "a small reason")
	c.Unverified(checks.Lines, 40, "the great reason")
	c.Unverified(checks.Lines, 0, "a detail")
	c.Unread(checks.Lines, 10, "a limit")
	c.Unread(checks.Lines, 60, "")

	gaps := c.Report(nil).Gaps
	if len(gaps) != 2 || gaps[0].Kind != report.GapUnverified || gaps[0].Why != "a limit" || gaps[1].Kind != report.GapIncomplete || gaps[1].Why != "the great reason" {
		t.Errorf("%+v", gaps)
	}
	if want := "lines: 45 of 215 PCs are not verified (20.9 %): the great reason"; gaps[1].What != want {
		t.Errorf("%q, want %q", gaps[1].What, want)
	}
}
