package storecheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"symkit/internal/filename"
	"symkit/internal/storefiles"
)

// errModule is the error of a line that names no module.
var errModule = errors.New("want NAME ID, NAME/ID, a path of the store, a MODULE record, or a line of a manifest of dump_syms")

// Modules reads a list of modules, one on each line, and returns the paths of their symbol files in a store of layout
// breakpad. A line is NAME ID, NAME/ID, a MODULE record, the path of a file in the store, or a line of a manifest of
// dump_syms, which has all paths. Empty lines and those that begin with # do not count. The error has the number of the
// line.
func Modules(text []byte) (paths []string, err error) {
	seen := map[string]bool{}
	at := 0
	for line := range bytes.Lines(text) {
		at++
		found, err := modulePaths(strings.TrimSpace(string(line)))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", at, err)
		}
		for _, path := range found {
			if !seen[path] {
				seen[path] = true
				paths = append(paths, path)
			}
		}
	}
	return paths, nil
}

// modulePaths returns the paths that a line stands for.
func modulePaths(line string) ([]string, error) {
	switch {
	case line == "" || line[0] == '#':
		return nil, nil
	case line[0] == '{':
		return recordPaths(line)
	case strings.HasPrefix(line, "MODULE "):
		words := strings.SplitN(line, " ", 5)
		if len(words) < 5 {
			return nil, errModule
		}
		return modulePath(words[4], words[3])
	case storefiles.PlaceOf(line).Kind == storefiles.Symbols:
		if storefiles.Climbs(line) {
			return nil, errModule
		}
		return []string{line}, nil
	}
	cut := strings.LastIndexAny(line, " \t/")
	if cut < 0 {
		return nil, errModule
	}
	return modulePath(strings.TrimSpace(line[:cut]), line[cut+1:])
}

// recordPaths returns the paths that a line of a manifest stands for.
func recordPaths(line string) (paths []string, err error) {
	var record struct {
		Name, ID string
		Outputs  []string
	}
	err = json.Unmarshal([]byte(line), &record)
	if err != nil {
		return nil, errModule
	}
	for _, path := range record.Outputs {
		if storefiles.PlaceOf(path).Kind == storefiles.Symbols && !storefiles.Climbs(path) {
			paths = append(paths, path)
		}
	}
	if paths != nil || record.ID == "" {
		return paths, nil // files that are no module have lines, too
	}
	return modulePath(record.Name, record.ID)
}

// modulePath returns the path of a module's symbol file.
func modulePath(name, id string) ([]string, error) {
	if name == "" || !storefiles.IsHex(id) {
		return nil, errModule
	}
	name = filename.Escape(name)
	return []string{name + "/" + id + "/" + strings.TrimSuffix(name, ".pdb") + ".sym"}, nil
}

// escaped returns a path as a part of a URL.
func escaped(path string) string {
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}
