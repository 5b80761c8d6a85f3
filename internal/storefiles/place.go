package storefiles

import (
	"slices"
	"strings"
)

// Kind is what a file of a store is.
type Kind uint8

// The kinds of files.
const (
	Other      Kind = iota
	Symbols         // a symbol file
	GSYM            // the same in LLVM's format
	Executable      // an ELF file that is loaded
	DebugInfo       // an ELF file with debug information
	Sources         // the source files, as a bundle
)

func (k Kind) String() string {
	return [...]string{"other", "symbols", "gsym", "executable", "debuginfo", "sources"}[k]
}

// Place is what the path of a file says about it.
type Place struct {
	Key  string // the path below the store, divided by slashes
	Kind Kind
	Name string // of the module; empty in layouts that have ids alone
	ID   string // of the module, or its build id; empty outside of all layouts
	// Module is where the path has what all files of a module share: NAME/ID or, in layouts that have ids alone, the id.
	// It is empty for files that the layouts have no place for.
	Module string
	// Sure is set if no other program is likely to have a file of this path. In NAME/ID, one such file is enough.
	Sure bool
}

// Private is the directory of a store in which servers keep files that are no symbols.
const Private = ".symkit"

// unifiedNames are the names of files in layout unified.
var unifiedNames = map[string]Kind{"breakpad": Symbols, "gsym": GSYM, "executable": Executable, "debuginfo": DebugInfo, "sourcebundle": Sources}

// PlaceOf reads a path by the layouts of package dump/store, and by that of debuginfod servers.
func PlaceOf(key string) Place {
	p := Place{Key: key}
	parts := strings.Split(key, "/")
	n := len(parts)
	base := Unpacked(parts[n-1])
	stem, isSym := strings.CutSuffix(base, ".sym")
	symbols := Symbols
	for _, other := range []struct {
		suffix string
		kind   Kind
	}{{".gsym", GSYM}, {".src.zip", Sources}} {
		rest, ok := strings.CutSuffix(base, other.suffix)
		if ok {
			symbols, stem, isSym = other.kind, rest, true
		}
	}

	// The id is one part of the path, or two of which the first one has two digits.
	id, divided := "", false
	if n >= 2 {
		id = parts[n-2]
		if n >= 3 && isPair(parts[n-3]) && IsHex(id) {
			id, divided = parts[n-3]+id, true
		}
	}
	beside := n >= 2 && isPair(parts[n-2]) // of two digits, which the name of the file continues
	unified := unifiedNames[base]
	debug, isDebug := strings.CutSuffix(base, ".debug")
	switch {
	case parts[0] == Private:
		return p
	case beside && isSym && IsHex(stem):
		p.Kind, p.ID, p.Sure = symbols, parts[n-2]+stem, true
	case isSym:
		p.Kind = symbols
		if n >= 3 && IsHex(parts[n-2]) {
			p.Name, p.ID = parts[n-3], parts[n-2]
			p.Sure = stem == strings.TrimSuffix(p.Name, ".pdb")
		}
	case n >= 2 && IsHex(id) && unified != Other:
		p.Kind, p.ID, p.Sure = unified, id, divided
	case beside && IsHex(base):
		p.Kind, p.ID = Executable, parts[n-2]+base
	case beside && isDebug && IsHex(debug):
		p.Kind, p.ID, p.Sure = DebugInfo, parts[n-2]+debug, true
	case n >= 3 && IsHex(parts[n-2]) && !isPair(parts[n-3]):
		// Servers keep other files of a module beside its symbol file.
		p.Name, p.ID = parts[n-3], parts[n-2]
		p.Sure = strings.TrimSuffix(base, ".dbg") == p.Name
	}

	switch {
	case p.ID == "" || slices.ContainsFunc(parts, hidden):
		p.Sure = false // it is of no module
	case p.Name != "" || unified != Other:
		p.Module = strings.Join(parts[:n-1], "/")
	default:
		p.Module = strings.Join(parts[:n-1], "/") + "/" + strings.TrimSuffix(stem, ".debug")
	}
	p.ID = strings.ToLower(p.ID)
	return p
}

// hidden reports whether a part of a path is that of other programs, as .git is, or that of an unfinished file.
func hidden(part string) bool { return strings.HasPrefix(part, ".") && part != ".build-id" }

// Packed are the endings of the names of packed files.
var Packed = []string{".gz", ".zst"}

// Unpacked removes the ending of a packed file from its name.
func Unpacked(name string) string {
	for _, suffix := range Packed {
		name = strings.TrimSuffix(name, suffix)
	}
	return name
}

// IsHex reports whether s can be an id.
func IsHex(s string) bool {
	return s != "" && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

// isPair reports whether s is the first part of a divided id.
func isPair(s string) bool { return len(s) == 2 && IsHex(s) }

// Climbs reports whether a path can lead out of a store.
func Climbs(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." {
			return true
		}
	}
	return strings.ContainsAny(path, "\\\x00")
}
