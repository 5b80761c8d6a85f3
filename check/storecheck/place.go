package storecheck

import (
	"strings"
)

// kind is what a file of a store is.
type kind uint8

const (
	other      kind = iota
	symbols         // a symbol file
	executable      // an ELF file that is loaded
	debugInfo       // an ELF file with debug information
)

// place is what the path of a file says about it.
type place struct {
	key  string // the path below the store, divided by slashes
	kind kind
	name string // of the module; empty in layouts that have ids alone
	id   string // of the module, or its build id; empty outside of all layouts
	err  error  // why it cannot be listed
}

// private is the directory of a store in which servers keep files that are no symbols.
const private = ".symkit"

// placeOf reads a path by the layouts of package dump/store, and by that of debuginfod servers.
func placeOf(key string) place {
	p := place{key: key}
	parts := strings.Split(key, "/")
	n := len(parts)
	base := unpackedName(parts[n-1])
	stem, isSym := strings.CutSuffix(base, ".sym")

	// The id is one part of the path, or two of which the first one has two digits.
	id := ""
	if n >= 2 {
		id = parts[n-2]
		if n >= 3 && isPair(parts[n-3]) && isHex(id) {
			id = parts[n-3] + id
		}
	}
	switch {
	case parts[0] == private:
	case n >= 2 && isPair(parts[n-2]) && isSym && isHex(stem):
		p.kind, p.id = symbols, parts[n-2]+stem
	case isSym:
		p.kind = symbols
		if n >= 3 && isHex(parts[n-2]) {
			p.name, p.id = parts[n-3], parts[n-2]
		}
	case n >= 2 && isHex(id) && base == "breakpad":
		p.kind, p.id = symbols, id
	case n >= 2 && isHex(id) && base == "executable":
		p.kind, p.id = executable, id
	case n >= 2 && isHex(id) && base == "debuginfo":
		p.kind, p.id = debugInfo, id
	case n >= 2 && isPair(parts[n-2]) && isHex(base):
		p.kind, p.id = executable, parts[n-2]+base
	case n >= 2 && isPair(parts[n-2]) && isHex(strings.TrimSuffix(base, ".debug")):
		p.kind, p.id = debugInfo, parts[n-2]+strings.TrimSuffix(base, ".debug")
	}
	p.id = strings.ToLower(p.id)
	return p
}

// packed are the endings of the names of packed files.
var packed = []string{".gz", ".zst"}

// unpackedName removes the ending of a packed file.
func unpackedName(name string) string {
	for _, suffix := range packed {
		name = strings.TrimSuffix(name, suffix)
	}
	return name
}

// isHex reports whether s can be an id.
func isHex(s string) bool {
	return s != "" && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

// isPair reports whether s is the first part of a divided id.
func isPair(s string) bool { return len(s) == 2 && isHex(s) }
