package testfile

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Documented asserts that a document lists exactly these differences from another program: the
// lines that Listed returns.
func Documented(t *testing.T, document, name string, diffs []string) {
	t.Helper()
	listed := Listed(t, document, name)
	for _, d := range diffs {
		if !slices.Contains(listed, d) {
			t.Errorf("not in %s: %s", document, d)
		}
	}
	for _, l := range listed {
		if !slices.Contains(diffs, l) {
			t.Errorf("in %s, but no difference any more: %s", document, l)
		}
	}
}

// Listed returns the lines that a block of a document lists. The block begins with
// ```differences NAME. Lines that begin with # give the reasons. A line that begins with two
// spaces belongs to the line before.
func Listed(t *testing.T, document, name string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}

	_, block, found := strings.Cut(string(text), "\n```differences "+name+"\n")
	block, _, ended := strings.Cut(block, "\n```\n")
	if !found || !ended {
		t.Fatalf("%s has no block for %s", document, name)
	}

	for line := range strings.Lines(block) {
		line = strings.TrimSuffix(line, "\n")
		rest, goesOn := strings.CutPrefix(line, "  ")
		switch {
		case line == "" || line[0] == '#':
		case goesOn && len(lines) > 0:
			lines[len(lines)-1] += " " + rest
		default:
			lines = append(lines, line)
		}
	}
	return lines
}
