//go:build oracle

package oracle

import (
	"fmt"
	"strings"
	"testing"
)

// Diffs collects differences of one kind. Report fails the test with the first five of them.
type Diffs struct {
	t     *testing.T
	kind  string
	N     int // all differences
	first []string
}

// NewDiffs returns an empty list. The report calls the differences by kind.
func NewDiffs(t *testing.T, kind string) *Diffs { return &Diffs{t: t, kind: kind} }

// Add adds a difference.
func (d *Diffs) Add(format string, args ...any) {
	d.N++
	if d.N <= 5 {
		d.first = append(d.first, fmt.Sprintf(format, args...))
	}
}

// Report fails the test if there are differences.
func (d *Diffs) Report() {
	d.t.Helper()
	if d.N > 0 {
		d.t.Errorf("%d %s:\n\t%s", d.N, d.kind, strings.Join(d.first, "\n\t"))
	}
}
