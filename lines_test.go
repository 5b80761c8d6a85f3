package symkit

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// longestLine is what a line of a document may have, in characters: two windows of an
// editor stand side by side.
const longestLine = 120

// TestLines: no line of a document is too long, without an exception. Tables with long
// cells become lists; a line of output is shortened, or folded by the command above it.
func TestLines(t *testing.T) {
	for _, path := range readSourceTree(t).text {
		if filepath.Ext(path) != ".md" {
			continue
		}
		for i, line := range strings.Split(string(readSource(t, path)), "\n") {
			if n := utf8.RuneCountInString(line); n > longestLine {
				t.Errorf("%s:%d: %d characters; at most %d", path, i+1, n, longestLine)
			}
		}
	}
}

// TestFuzzTargets: docs/robustness.md names each fuzz target, and no other.
func TestFuzzTargets(t *testing.T) {
	target := regexp.MustCompile(`\bFuzz[A-Z][A-Za-z0-9]*`)
	listed := map[string]bool{}
	for _, name := range target.FindAllString(string(readSource(t, filepath.Join("docs", "robustness.md"))), -1) {
		listed[name] = true
	}

	declared := map[string]bool{}
	declaration := regexp.MustCompile(`(?m)^func (Fuzz[A-Za-z0-9_]*)`)
	for _, path := range readSourceTree(t).code {
		for _, m := range declaration.FindAllSubmatch(readSource(t, path), -1) {
			name := string(m[1])
			declared[name] = true
			if !listed[name] {
				t.Errorf("docs/robustness.md does not name %s of %s", name, path)
			}
		}
	}

	for name := range listed {
		if !declared[name] {
			t.Errorf("docs/robustness.md names %s, which is no fuzz target", name)
		}
	}
}
