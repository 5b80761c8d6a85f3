package upkeep

import (
	"bufio"
	"context"
	"io"
	"path"
	"strings"
	"time"

	"symkit/emit"
	"symkit/internal/packing"
	"symkit/internal/storefiles"
)

// Module is a module of a store: the files below NAME/ID or, in layouts that have ids alone, those of a build id.
type Module struct {
	Name  string    `json:"name,omitempty"` // of the path, or of the symbol file; empty if nothing says it
	ID    string    `json:"id"`             // of the path
	Path  string    `json:"path"`           // what the paths of the files have in common
	Bytes int64     `json:"bytes"`          // of all files
	Date  time.Time `json:"date"`           // when the last file was stored
	Files []File    `json:"files,omitempty"`

	sure   bool // no other program has such files
	beside bool // files of several modules are in one directory
}

// File is a file of a module.
type File struct {
	Path  string    `json:"path"`
	Kind  string    `json:"kind"` // symbols, gsym, executable, debuginfo or other
	Bytes int64     `json:"bytes"`
	Date  time.Time `json:"date"`

	stored storefiles.File
}

// of reports whether a file belongs to the module.
func (m *Module) of(p *storefiles.Place) bool { return p.Module != "" && m.Path == p.Module }

// newModule returns a module without files.
func newModule(p *storefiles.Place) Module {
	m := Module{Name: p.Name, ID: p.ID, Path: p.Module}
	if m.Name != "" {
		m.ID = path.Base(p.Module) // as readers look for it
	}
	return m
}

// add adds a file.
func (m *Module) add(p *storefiles.Place, f storefiles.File) {
	m.sure = m.sure || p.Sure
	m.beside = path.Dir(f.Key) != m.Path
	m.Bytes += f.Size
	if f.Modified.After(m.Date) {
		m.Date = f.Modified.UTC()
	}
	m.Files = append(m.Files, File{f.Key, p.Kind.String(), f.Size, f.Modified.UTC(), f})
}

// symbols returns the place of the symbol file among the files, -1 without one.
func (m *Module) symbols() int {
	for i := range m.Files {
		if m.Files[i].Kind == storefiles.Symbols.String() {
			return i
		}
	}
	return -1
}

// maxHead bounds what is read of a symbol file for its MODULE record, in bytes.
const maxHead = 16 << 10

// readName reads the name of a module from its symbol file. A file that cannot be read has none.
func (m *Module) readName(ctx context.Context, s *storefiles.Store) {
	at := m.symbols()
	if at < 0 {
		return
	}
	r, _, err := s.Get(ctx, m.Files[at].Path)
	if err != nil {
		return
	}
	defer r.Close()
	start := bufio.NewReader(r)
	magic, _ := start.Peek(packing.MagicSize) // a short file is not packed
	text, done, err := packing.NewReader(start, packing.Of(magic))
	if err != nil {
		return
	}
	defer done()
	head, _ := io.ReadAll(io.LimitReader(text, maxHead)) // the first line may be there
	line, _, whole := strings.Cut(string(head), "\n")
	if !whole {
		return
	}
	for rec, err := range emit.NewReader([]byte(line + "\n")).Records() {
		r, ok := rec.(*emit.Module)
		if err == nil && ok {
			m.Name = r.Name
		}
	}
}
