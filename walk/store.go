package walk

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"symkit/elfx"
	"symkit/emit"
	"symkit/internal/filename"
	"symkit/internal/mem"
)

// Why a symbol file is not the one that was looked for.
var (
	ErrOtherModule = errors.New("is of another module")
	ErrNoSymbols   = errors.New("has no symbols")
)

// Store finds symbol files.
type Store struct {
	// Dirs are symbol stores. In each, NAME/ID/NAME.sym, where a file's name
	// lacks the .pdb of a directory's; or by the id alone ID/breakpad, as
	// Sentry's symbolicator has it, or ID.sym, a slash behind the id's second
	// digit. Packed with gzip or zstd they may end in .gz or .zst.
	Dirs []string
	// Files are symbol files, for the module whose id their MODULE record has,
	// or, when the module's is unknown, its name.
	Files []string
}

// NewStore makes a Store of paths to directories and files.
func NewStore(paths []string) (*Store, error) {
	s := &Store{}
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return nil, err
		case info.IsDir():
			s.Dirs = append(s.Dirs, path)
		case !info.Mode().IsRegular(): // opening a FIFO would wait for its writer
			return nil, fmt.Errorf("%s: %w", path, elfx.ErrNotRegular)
		default:
			s.Files = append(s.Files, path)
		}
	}
	return s, nil
}

// Symbols implements Supplier.
func (s *Store) Symbols(_ context.Context, m *Module) *Symbols {
	out := &Symbols{}
	for _, path := range s.Files {
		if err := fileIsFor(path, m); err != nil {
			out.Tried = append(out.Tried, elfx.Probe{Path: path, Err: err})
		} else if out.load(path, m) {
			return out
		}
	}
	for _, dir := range s.Dirs {
		for _, place := range slices.Concat(m.SymbolPaths(), m.idPaths()) {
			path := filepath.Join(dir, filepath.FromSlash(place))
			if out.load(path, m) || out.load(path+".gz", m) || out.load(path+".zst", m) {
				return out
			}
		}
	}
	return out
}

// SymbolPaths are where symbol stores have the symbols of m, NAME/ID/NAME.sym
// with slashes, the likeliest first: by its DebugID, then, under the name of the
// file itself, by that file's id. No part has a separator in it or leads
// upwards, whatever the dump says.
func (m *Module) SymbolPaths() (paths []string) {
	if isID(m.DebugID) {
		for _, name := range m.names() {
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

// idPaths are where stores that know modules by their ids alone have the symbols
// of m.
func (m *Module) idPaths() (paths []string) {
	for _, id := range []string{strings.ToLower(m.FileID()), strings.ToLower(m.DebugID)} {
		if isID(id) && len(id) > 2 {
			id = id[:2] + "/" + id[2:]
			paths = append(paths, id+"/breakpad", id+".sym")
		}
	}
	return paths
}

// FileID identifies the file of m, in upper case as symbol stores have it;
// empty: unknown.
func (m *Module) FileID() string {
	if m.CodeID == "" {
		return strings.ToUpper(hex.EncodeToString(m.BuildID))
	}
	return strings.ToUpper(m.CodeID)
}

// isID tells whether s can be an id: hexadecimal, and no longer than any.
func isID(s string) bool {
	return s != "" && len(s) <= 128 && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

// names are those that symbol stores may know m by. None has a directory in
// it, whatever the dump says.
func (m *Module) names() (names []string) {
	for _, name := range []string{m.Name, m.Path} {
		for _, name := range spellings(baseName(name)) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// spellings are how stores may spell the name of a module: as it is, and as
// dump_syms does where it is no name that every system can have.
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

// plain tells whether a name can be that of a file, and only of a file in the
// directory where it is looked for: dumps are not to be trusted.
func plain(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= 255 && !strings.ContainsAny(name, "/\\\x00")
}

// symName is the name of a symbol file in NAME/ID: .sym stands instead of the
// extension, and behind any other name.
func symName(name, extension string) string {
	if n := len(name) - len(extension); n > 0 && strings.EqualFold(name[n:], extension) {
		name = name[:n]
	}
	return name + ".sym"
}

// load opens the symbol file at path, and notes where it failed.
func (s *Symbols) load(path string, m *Module) bool {
	err := s.Load(path, m)
	if err != nil {
		s.Tried = append(s.Tried, elfx.Probe{Path: path, Err: err})
	}
	return err == nil
}

// Load opens the symbol file at path, which has to be that of m.
func (s *Symbols) Load(path string, m *Module) error {
	if err := s.open(path); err != nil {
		return pathless(err)
	}
	err := s.isFor(m)
	if f, p, st := s.Index.Counts(); err == nil && f+p+st == 0 {
		err = ErrNoSymbols
	}
	if err != nil {
		s.Close()
		s.Index, s.Close = nil, nil
		return err
	}
	s.From = path
	return nil
}

// isFor compares ids, as far as both sides have them.
func (s *Symbols) isFor(m *Module) error {
	mod, ok := s.Index.Module()
	code := s.Index.CodeID()
	switch {
	case !ok, m.DebugID != "" && strings.EqualFold(mod.ID, m.DebugID):
		return nil
	case code != "" && strings.EqualFold(code, m.FileID()):
		return nil
	case m.DebugID == "" && (code == "" || m.FileID() == ""):
		return nil // nothing to compare
	}
	return ErrOtherModule
}

// open maps or unpacks the symbol file at path and indexes it.
func (s *Symbols) open(path string) error {
	file, err := mem.Open(path)
	if err != nil {
		return err
	}
	data := file.Bytes()
	how := packing(data)
	if how == "" {
		s.Index, s.Close = emit.NewIndex(data), file.Release
		return nil
	}
	defer file.Release()
	text, err := unpack(data, how)
	if err != nil {
		return err
	}
	s.Index, s.Heap, s.Close = emit.NewIndex(text), int64(len(text)), func() error { return nil }
	return nil
}

// fileIsFor reads the first line of a symbol file and tells whether it is m's.
func fileIsFor(path string, m *Module) error {
	f, err := os.Open(path)
	if err != nil {
		return pathless(err)
	}
	defer f.Close()
	var magic [4]byte
	n, _ := f.ReadAt(magic[:], 0)
	r, done, err := unpacker(f, packing(magic[:n]))
	if err != nil {
		return err
	}
	defer done()
	text := bufio.NewReader(io.LimitReader(r, 1<<16))
	start, _ := text.Peek(4096)
	kind := elfx.Kind(start)
	line, _ := text.ReadString('\n')
	fields := strings.Fields(line)
	if len(fields) < 5 || fields[0] != "MODULE" {
		if kind != "" && kind != "a text file" && !strings.HasPrefix(line, "MODULE ") {
			return fmt.Errorf("not a symbol file: it is %s", kind)
		}
		return fmt.Errorf("no MODULE record in its first line")
	}
	name := strings.TrimSpace(line[strings.Index(line, fields[3])+len(fields[3]):])
	switch {
	case m.DebugID != "" && strings.EqualFold(fields[3], m.DebugID):
		return nil
	case m.DebugID == "" && (name == m.Name || name == m.File()):
		return nil
	}
	return ErrOtherModule
}
