//go:build oracle

package peers

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"symkit/test/oracle"
	"symkit/test/oracle/symfile"
	"symkit/test/testfile"
)

// differ collects the differences of two symbol files as lines of text.
type differ struct {
	ours, theirs *symfile.File
	lines        []string
	counts       map[string]int // of kinds that are too many to list
}

func (c *differ) add(format string, args ...any) {
	c.lines = append(c.lines, fmt.Sprintf(format, args...))
}

// check compares the differences with those that docs/differences.md has for a file.
func (c *differ) check(t *testing.T, file string) {
	t.Helper()
	for what, n := range c.counts {
		c.add("%d × %s", n, what)
	}

	listed := map[string]bool{}
	for _, line := range testfile.Listed(t, "../../../docs/differences.md", file) {
		listed[line] = true
	}

	missing := oracle.NewDiffs(t, "differences from Breakpad that docs/differences.md does not have")
	for _, line := range c.lines {
		if !listed[line] {
			missing.Add("%s", line)
		}
		delete(listed, line)
	}
	missing.Report()
	stale := oracle.NewDiffs(t, "differences in docs/differences.md that are none any more")
	for _, line := range slices.Sorted(maps.Keys(listed)) {
		stale.Add("%s", line)
	}
	stale.Report()
}
