package sources

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/emit"
	"symkit/internal/mem"
	"symkit/internal/packing"
	"symkit/limits"
	"symkit/walk"
)

// The reasons for which a symbol file is rejected.
var (
	ErrOtherModule = errors.New("is of another module")
	ErrOtherBuild  = errors.New("is of another build of the module")
	ErrNoSymbols   = errors.New("has no symbols")
)

// Store finds symbol files.
type Store struct {
	// Dirs are symbol stores. A store has a symbol file as NAME/ID/NAME.sym, where the file's
	// name lacks the .pdb of the directory's; or, by the id alone, as ID/breakpad (Sentry's
	// symbolicator) or ID.sym, with a slash after the id's second digit. The name of a file
	// that is packed with gzip or zstd may end in .gz or .zst.
	Dirs []string
	// Files are symbol files, for the module whose id their MODULE record has,
	// or, when the module's is unknown, its name.
	Files []string
	// Limits bound the size of an unpacked file: unpacked-symbols.
	Limits limits.Limits

	mu    sync.Mutex
	heads map[string]head // by path: a dump can have tens of thousands of modules
}

// maxTried bounds the Files of which a module notes why they are not its.
const maxTried = 64

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
			return nil, &fs.PathError{Op: "open", Path: path, Err: elfx.ErrNotRegular}
		default:
			s.Files = append(s.Files, path)
		}
	}
	return s, nil
}

// Symbols implements walk.Supplier.
func (s *Store) Symbols(_ context.Context, m *walk.Module) *walk.Symbols {
	out := &walk.Symbols{}
	for _, path := range s.Files {
		// The first line names the module, so the file need not be indexed.
		h := s.head(path)
		if !h.isFor(m) {
			if len(out.Tried) < maxTried {
				out.Tried = append(out.Tried, companion.Probe{Path: path, Err: h.not(m)})
			}
		} else if s.load(out, path, m) {
			return out
		}
	}

	for path := range s.paths(m) {
		if s.load(out, path, m) {
			return out
		}
	}
	return out
}

// paths yields the paths that the symbols of m may have in the directories.
func (s *Store) paths(m *walk.Module) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, dir := range s.Dirs {
			for _, place := range slices.Concat(Paths(m), idPaths(m)) {
				path := filepath.Join(dir, filepath.FromSlash(place))
				if !yield(path) || !yield(path+".gz") || !yield(path+".zst") {
					return
				}
			}
		}
	}
}

// Prefetch implements walk.Prefetcher; there is nothing to get.
func (s *Store) Prefetch(_ context.Context, m *walk.Module) bool {
	if slices.ContainsFunc(s.Files, func(path string) bool { h := s.head(path); return h.isFor(m) }) {
		return true
	}
	for path := range s.paths(m) {
		if _, err := os.Stat(path); err == nil {
			return true
		}
	}
	return false
}

// load opens the symbol file at path, and notes where it failed.
func (s *Store) load(out *walk.Symbols, path string, m *walk.Module) bool {
	err := Load(out, path, m, s.Limits)
	if err != nil {
		out.Tried = append(out.Tried, companion.Probe{Path: path, Err: err})
	}
	return err == nil
}

// Load opens the symbol file at path into s. The file has to be that of m, or the error
// is ErrOtherModule, and have records, or the error is ErrNoSymbols. A packed file is
// unpacked into memory within the limit unpacked-symbols of l. Errors do not repeat the path.
func Load(s *walk.Symbols, path string, m *walk.Module, l limits.Limits) error {
	if err := open(s, path, l); err != nil {
		return pathless(err)
	}
	return accept(s, path, m)
}

// accept keeps open symbols if they are m's, and closes them otherwise.
func accept(s *walk.Symbols, path string, m *walk.Module) error {
	// The ids are compared, and a file without any record is useless.
	err := isFor(s, m)
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
func isFor(s *walk.Symbols, m *walk.Module) error {
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
	return other(mod.ID, mod.Name, m)
}

// other returns why a symbol file, of which the MODULE record has an id and a name, is not
// m's: it is of another module, or, if the names are equal, of another build of m.
func other(id, name string, m *walk.Module) error {
	if name != m.Name && name != m.File() || m.DebugID == "" {
		return ErrOtherModule
	}
	return fmt.Errorf("%w: its MODULE record has %s, not %s", ErrOtherBuild, id, m.DebugID)
}

// open maps or unpacks the symbol file at path and indexes it.
func open(s *walk.Symbols, path string, l limits.Limits) error {
	file, err := mem.Open(path)
	if err != nil {
		return err
	}

	// A plain file is used in place, a packed one is unpacked into memory.
	data := file.Bytes()
	how := packing.Of(data)
	if how == packing.None {
		s.Index, s.Close = emit.NewIndex(data), file.Release
		return nil
	}
	defer file.Release()
	u, err := unpack(data, how, l)
	if err != nil {
		return err
	}
	s.Index, err = u.index()
	if err != nil {
		u.close()
		return err
	}
	s.Heap, s.Close = int64(len(u.text)), func() error { u.close(); return nil }
	return nil
}

// head is the MODULE record in the first line of a symbol file.
type head struct {
	id, name string
	err      error // why there is none
}

// head reads the first line of a file once.
func (s *Store) head(path string) head {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, known := s.heads[path]
	if !known {
		if s.heads == nil {
			s.heads = map[string]head{}
		}
		h = readHead(path)
		s.heads[path] = h
	}
	return h
}

// isFor reports whether the file is m's.
func (h *head) isFor(m *walk.Module) bool {
	switch {
	case h.err != nil:
		return false
	case m.DebugID != "":
		return strings.EqualFold(h.id, m.DebugID)
	}
	return h.name == m.Name || h.name == m.File()
}

// not returns why the file is not m's.
func (h *head) not(m *walk.Module) error {
	if h.err != nil {
		return h.err
	}
	return other(h.id, h.name, m)
}

// FileIsFor reads the first line of a symbol file and returns why the file is not m's.
func FileIsFor(path string, m *walk.Module) error {
	h := readHead(path)
	if h.isFor(m) {
		return nil
	}
	return h.not(m)
}

// FileIsOfOthers reports whether a symbol file is of none of the modules, nor of other builds of them.
func FileIsOfOthers(path string, modules []*walk.Module) bool {
	h := readHead(path)
	return !slices.ContainsFunc(modules, func(m *walk.Module) bool { return h.isFor(m) || h.not(m) != ErrOtherModule })
}

// readHead reads the first line of a symbol file.
func readHead(path string) (h head) {
	f, err := os.Open(path)
	if err != nil {
		return head{err: pathless(err)}
	}
	defer f.Close()
	var magic [packing.MagicSize]byte
	n, _ := f.ReadAt(magic[:], 0)
	r, done, err := packing.NewReader(f, packing.Of(magic[:n]))
	if err != nil {
		return head{err: err}
	}
	defer done()
	text := bufio.NewReader(io.LimitReader(r, 1<<16))
	// The message names the format of a file that is no symbol file.
	start, _ := text.Peek(4096)
	kind := elfx.KindOf(start)
	line, _ := text.ReadString('\n')
	fields := strings.Fields(line)
	if len(fields) < 5 || fields[0] != "MODULE" {
		if kind.Name != "" && kind.Name != "a text file" && !strings.HasPrefix(line, "MODULE ") {
			return head{err: fmt.Errorf("not a symbol file: it is %v", kind)}
		}
		return head{err: errors.New("no MODULE record in its first line")}
	}

	// The name is the rest of the line and may have spaces.
	return head{id: fields[3], name: strings.TrimSpace(line[strings.Index(line, fields[3])+len(fields[3]):])}
}
