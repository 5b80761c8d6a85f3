package store

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"symkit/internal/filename"
)

// Layout decides the paths of a module's files in a store.
type Layout uint8

// The layouts. IDs in paths of Unified and GDB are lower case and divided after
// the second digit.
const (
	// Breakpad has NAME/ID/NAME.sym (Breakpad's SimpleSymbolSupplier, Tecken), and NAME.gsym beside it, the file
	// name that llvm-symbolizer looks for, and NAME.src.zip.
	Breakpad Layout = iota
	// Unified has ID/breakpad, ID/executable and ID/debuginfo (Sentry's
	// symbolicator), ID/sourcebundle, and ID/gsym; the ID is the build id, else the module's.
	Unified
	// GDB has BUILDID.sym, BUILDID.gsym, BUILDID.src.zip, BUILDID.debug and the program as BUILDID (GDB manual,
	// "Separate Debug Files"). GDB looks for them below a directory .build-id.
	GDB
)

var layoutNames = []string{"breakpad", "unified", "gdb"}

func (l Layout) String() string { return layoutNames[l] }

// Kind is the content of a file.
type Kind uint8

// The kinds of files.
const (
	Symbols    Kind = iota // the symbol file
	GSYM                   // the same in LLVM's format
	Executable             // the ELF file that is loaded
	DebugInfo              // the ELF file with the debug information alone
	Sources                // the source files: a bundle of package lookup/source
)

var (
	// errNoBuildID is the error for a module without a build id in a layout whose
	// paths are made of build ids.
	errNoBuildID = errors.New("no build id, by which this layout finds modules")
	// errNoPlace is the error for an ELF file in a layout of symbol files alone.
	errNoPlace = errors.New("this layout has no place for ELF files")
	// errNoELF is the error for an ELF file on a server that has no place for it.
	errNoELF = errors.New("this server takes symbol files alone")
	// errNoGSYM is the error for a GSYM file or a bundle on a server.
	errNoGSYM = errors.New("symbol servers take no GSYM files and no source files")
	// errNameTooLong is the error for a name that file systems do not accept.
	errNameTooLong = errors.New("name is too long for a file")
)

// maxName is the longest name of a file or directory on usual file systems, in
// bytes.
const maxName = 255

// Module has the fields that identify a module.
type Module struct {
	Names   []string // as in MODULE records, or file names; the module is found under each
	ID      string   // of the MODULE record
	BuildID string   // upper-case hexadecimal; may be empty
}

// paths returns the paths of a file of m: slash-separated, below the store's directory,
// without duplicates and in the order of the names.
func (l Layout) paths(m Module, kind Kind) (paths []string, err error) {
	if l == Breakpad {
		return breakpadPaths(m, kind)
	}
	id := m.BuildID
	if id == "" && l == Unified {
		id = m.ID
	}
	if len(id) <= 2 {
		return nil, errNoBuildID
	}

	id = strings.ToLower(id)
	id = id[:2] + "/" + id[2:]
	if l == Unified {
		return []string{id + "/" + [...]string{"breakpad", "gsym", "executable", "debuginfo", "sourcebundle"}[kind]}, nil
	}
	return []string{id + [...]string{".sym", ".gsym", "", ".debug", ".src.zip"}[kind]}, nil
}

func breakpadPaths(m Module, kind Kind) (paths []string, err error) {
	if kind == Executable || kind == DebugInfo {
		return nil, errNoPlace
	}
	suffix := map[Kind]string{Symbols: ".sym", GSYM: ".gsym", Sources: ".src.zip"}[kind]

	for _, name := range m.Names {
		// Breakpad replaces the ending .pdb, which modules of Windows have.
		name = fileName(name)
		file := strings.TrimSuffix(name, ".pdb") + suffix
		if len(file)+maxSuffix > maxName {
			return nil, fmt.Errorf("%w: %.40s… has %d bytes", errNameTooLong, name, len(name))
		}
		to := path.Join(name, m.ID, file)
		if !slices.Contains(paths, to) {
			paths = append(paths, to)
		}
	}
	return paths, nil
}

// fileName returns the file name that a store has for a module's name: the part after the
// last slash or backslash, with _ for characters that Windows allows in no name.
func fileName(name string) string { return filename.Escape(name) }
