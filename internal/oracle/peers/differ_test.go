//go:build oracle

package peers

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"symkit/internal/oracle"
	"symkit/internal/oracle/symfile"
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

	listed := documented(t, file)
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

// documented reads the differences of a file: the lines of the block that
// begins with "```differences FILE", without comments.
func documented(t *testing.T, file string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("../../../docs/differences.md")
	if err != nil {
		t.Fatal(err)
	}

	_, block, ok := strings.Cut(string(text), "\n```differences "+file)
	block, _, closed := strings.Cut(block, "\n```")
	if !ok || !closed {
		t.Fatalf("docs/differences.md has no block for %s", file)
	}

	lines := map[string]bool{}
	for line := range strings.Lines(block) {
		line = strings.TrimSpace(line)
		if line != "" && line[0] != '#' {
			lines[line] = true
		}
	}
	return lines
}
