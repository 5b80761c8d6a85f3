package signature

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"symkit/internal/smallfile"
)

// Lists are the patterns that decide which frames are part of a signature.
type Lists struct {
	irrelevant  *regexp.Regexp // frames to ignore
	prefix      *regexp.Regexp // frames after which the next frame is part of the signature, too
	lineNumbers *regexp.Regexp // frames that get the number of the line
	sentinels   []string       // frames at which a signature begins
}

//go:embed lists.txt
var included string

// listNames are the lists in lists.txt, with the names of the files that have them in
// siggen.
var listNames = []struct{ title, file string }{
	{"irrelevant", "irrelevant_signature_re"},
	{"prefix", "prefix_signature_re"},
	{"sentinels", "signature_sentinels"},
	{"line numbers", "signatures_with_line_numbers_re"},
}

// includedLists returns Socorro's own lists.
var includedLists = sync.OnceValue(func() *Lists {
	lines, list := map[string][]string{}, ""
	for _, line := range patterns(included) {
		title := strings.Trim(line, "[]")
		if line == "["+title+"]" && known(title) {
			list = title
			continue
		}
		lines[list] = append(lines[list], line)
	}

	l, err := newLists(lines)
	if err != nil {
		panic(err) // lists.txt is wrong
	}
	return l
})

func known(title string) bool {
	for _, n := range listNames {
		if n.title == title {
			return true
		}
	}
	return false
}

// ReadLists reads the lists in a directory, which has a file for each, as siggen's
// --signature-list-dir: irrelevant_signature_re.txt, prefix_signature_re.txt,
// signature_sentinels.txt and signatures_with_line_numbers_re.txt. An error names the file and
// the pattern.
func ReadLists(dir string) (*Lists, error) {
	lines := map[string][]string{}
	for _, n := range listNames {
		path := filepath.Join(dir, n.file+".txt")
		text, err := smallfile.Read(path, smallfile.Most)
		if err != nil {
			return nil, err
		}
		lines[n.title] = patterns(string(text))
		if n.title == "sentinels" {
			continue
		}

		// Each pattern is also compiled alone, so that the error names the malformed one.
		for _, pattern := range lines[n.title] {
			if _, err := regexp.Compile(pattern); err != nil {
				return nil, fmt.Errorf("%s: %q: %w", path, pattern, err)
			}
		}
	}
	return newLists(lines)
}

// patterns returns the lines of a list without comments and empty lines.
func patterns(text string) (lines []string) {
	scanner := bufio.NewScanner(strings.NewReader(text))
	for scanner.Scan() {
		line := strings.TrimSpace(scanner.Text())
		if line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines
}

// newLists compiles the lists by their titles. An empty list of expressions matches every
// frame, as in Python.
func newLists(lines map[string][]string) (*Lists, error) {
	compile := func(title string) (*regexp.Regexp, error) {
		return regexp.Compile(`^(?:` + strings.Join(lines[title], "|") + `)`)
	}
	irrelevant, err1 := compile("irrelevant")
	prefix, err2 := compile("prefix")
	numbers, err3 := compile("line numbers")
	return &Lists{irrelevant, prefix, numbers, lines["sentinels"]}, errors.Join(err1, err2, err3)
}
