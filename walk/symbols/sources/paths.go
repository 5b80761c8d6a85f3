package sources

import (
	"slices"
	"strings"

	"symkit/internal/filename"
	"symkit/walk"
)

// Paths returns the paths NAME/ID/NAME.sym, with slashes, that symbols of m can have in
// symbol stores, the likeliest first: by m's DebugID, then by the name and the id of the
// file itself. No part of a path has a separator in it or leads upwards, whatever the dump
// contains.
func Paths(m *walk.Module) (paths []string) {
	if isID(m.DebugID) {
		for _, name := range names(m) {
			paths = append(paths, name+"/"+m.DebugID+"/"+symName(name, ".pdb"))
		}
	}

	if id := m.FileID(); isID(id) {
		for _, name := range spellings(m.File()) {
			paths = append(paths, name+"/"+id+"/"+symName(name, ".dll"))
		}
	}
	return paths
}

// idPaths returns the paths of the symbols of m in stores that identify modules by their ids
// alone.
func idPaths(m *walk.Module) (paths []string) {
	for _, id := range []string{strings.ToLower(m.FileID()), strings.ToLower(m.DebugID)} {
		if isID(id) && len(id) > 2 {
			id = id[:2] + "/" + id[2:]
			paths = append(paths, id+"/breakpad", id+".sym")
		}
	}
	return paths
}

// isID reports whether s can be an id: hexadecimal, and no longer than any.
func isID(s string) bool {
	return s != "" && len(s) <= 128 && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

// names returns the names that symbol stores may have for m. No name has a directory in it,
// whatever the dump contains.
func names(m *walk.Module) (names []string) {
	for _, name := range []string{walk.BaseName(m.Name), m.File()} {
		for _, name := range spellings(name) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// spellings returns the names that stores may use for a module: the name itself, and the
// name that dump_syms writes if some systems do not allow the module's.
func spellings(name string) (all []string) {
	if plain(name) {
		all = append(all, name)
	}
	if strings.Trim(name, ".") == "" && len(name) <= 2 {
		return nil // no name of a module
	}
	if escaped := filename.Escape(name); escaped != name && plain(escaped) {
		all = append(all, escaped)
	}
	return all
}

// plain reports whether a name can be that of a file, and only of a file in the
// directory where it is looked for: dumps are not to be trusted.
func plain(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= 255 && !strings.ContainsAny(name, "/\\\x00")
}

// symName returns the name of a symbol file in NAME/ID: .sym replaces the extension, or is
// appended to a name without the extension.
func symName(name, extension string) string {
	if n := len(name) - len(extension); n > 0 && strings.EqualFold(name[n:], extension) {
		name = name[:n]
	}
	return name + ".sym"
}
