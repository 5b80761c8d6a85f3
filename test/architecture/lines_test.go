package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
	t.Chdir(top)
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
	t.Chdir(top)
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

// TestReferences: tests, targets of make, scripts and files that documents name exist.
func TestReferences(t *testing.T) {
	t.Chdir(top)
	var tests []string
	declaration := regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)`)
	tree := readSourceTree(t)
	for _, path := range tree.code {
		for _, m := range declaration.FindAllSubmatch(readSource(t, path), -1) {
			tests = append(tests, string(m[1]))
		}
	}
	makefile := string(readSource(t, "Makefile"))

	for _, path := range tree.text {
		if filepath.Ext(path) != ".md" {
			continue
		}
		text := string(readSource(t, path))

		// A name may stand for all tests that begin with it.
		for _, name := range regexp.MustCompile(`\bTest[A-Z][A-Za-z0-9]+`).FindAllString(text, -1) {
			if !slices.ContainsFunc(tests, func(test string) bool { return strings.HasPrefix(test, name) }) {
				t.Errorf("%s: there is no test %s", path, name)
			}
		}
		for _, m := range regexp.MustCompile("`make ([a-z][a-z0-9-]*)").FindAllStringSubmatch(text, -1) {
			if !strings.Contains(makefile, "\n"+m[1]+":") {
				t.Errorf("%s: there is no target %s", path, m[1])
			}
		}
		for _, name := range regexp.MustCompile(`\bscripts/[a-z][a-z.-]*[a-z]`).FindAllString(text, -1) {
			if _, err := os.Stat(name); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		for _, m := range regexp.MustCompile(`\]\(([^()#:]+)(#[^()]*)?\)`).FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), m[1])); err != nil {
				t.Errorf("%s: a link: %v", path, err)
			}
		}
	}
}
