package compare

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"symkit/internal/smallfile"
)

// Paths compares two result files, or the results of two directories: the files whose names
// end in .json, below any subdirectory, by their paths in the directories. An error names
// the file.
func Paths(a, b string) (*Differences, error) {
	dirs := 0
	for _, path := range []string{a, b} {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			dirs++
		}
	}

	d := newDifferences()
	switch dirs {
	case 0:
		return d, d.files("", a, b)
	case 1:
		return nil, fmt.Errorf("%s and %s: one is a directory, the other a file: give two result files or two directories of results", a, b)
	}
	return d, d.directories(a, b)
}

// files compares two result files.
func (d *Differences) files(name, a, b string) error {
	before, err := readFile(a)
	if err != nil {
		return err
	}
	after, err := readFile(b)
	if err != nil {
		return err
	}
	d.compare(name, before, after)
	return nil
}

// maxResult bounds a result, in bytes: a pipe need not have an end.
const maxResult = 4 << 30

func readFile(path string) (*result, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil && info.Mode()&fs.ModeDevice != 0 {
		err = smallfile.ErrDevice
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r, err := parse(bufio.NewReader(io.LimitReader(file, maxResult)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// directories compares the results of two directories.
func (d *Differences) directories(a, b string) error {
	first, err := list(a)
	if err != nil {
		return err
	}
	second, err := list(b)
	if err != nil {
		return err
	}
	if len(first)+len(second) == 0 {
		return fmt.Errorf("%s and %s: no files named *.json", a, b)
	}

	// Both lists are sorted.
	for len(first)+len(second) > 0 {
		switch {
		case len(second) == 0 || len(first) > 0 && first[0] < second[0]:
			d.note(resultLost, "", first[0], "", place{})
			first = first[1:]
		case len(first) == 0 || second[0] < first[0]:
			d.note(resultGained, "", "", second[0], place{})
			second = second[1:]
		default:
			err := d.files(first[0], filepath.Join(a, first[0]), filepath.Join(b, second[0]))
			if err != nil {
				return err
			}
			first, second = first[1:], second[1:]
		}
	}
	return nil
}

// list returns the results in a directory, sorted.
func list(dir string) (names []string, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !e.IsDir() && strings.HasSuffix(path, ".json") {
			name, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			names = append(names, name)
		}
		return nil
	})
	return names, err
}
