//go:build oracle

package oracle

import (
	"fmt"
	"strings"
	"testing"
)

// Diffs collects differences; report fails the test with the first five.
type Diffs struct {
	t     *testing.T
	what  string
	N     int
	first []string
}

func NewDiffs(t *testing.T, what string) *Diffs { return &Diffs{t: t, what: what} }

func (d *Diffs) Add(format string, args ...any) {
	if d.N++; d.N <= 5 {
		d.first = append(d.first, fmt.Sprintf(format, args...))
	}
}

func (d *Diffs) Report() {
	d.t.Helper()
	if d.N > 0 {
		d.t.Errorf("%d %s:\n\t%s", d.N, d.what, strings.Join(d.first, "\n\t"))
	}
}
