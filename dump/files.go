package dump

import (
	"slices"
	"sync"

	"symkit/dump/dwarfx"
	"symkit/emit"
	"symkit/internal/limits"
)

// fileTable numbers the names of source files. Numbers are given as names come
// and put in name order at the end.
type fileTable struct {
	mu     sync.RWMutex
	paths  PathMap
	mapped map[string]uint32 // by the name that debug information has
	ids    map[string]uint32 // by the name that is written
	names  []string
	errs   map[string]error // of names that could not be mapped
	left   uint64           // bytes that names may still take
	full   bool             // a name did not fit
}

// newFileTable is for names of a file of a size in bytes.
func newFileTable(paths PathMap, size uint64) fileTable {
	return fileTable{
		paths: paths, left: limits.Files.Max(size),
		ids: map[string]uint32{}, mapped: map[string]uint32{}, errs: map[string]error{},
	}
}

// id returns the number of a name. It is safe for concurrent use. When the names
// are too many or too long, they are full and the number means nothing.
func (t *fileTable) id(name []byte) uint32 {
	t.mu.RLock()
	id, known := t.mapped[string(name)]
	t.mu.RUnlock()
	if known { // as nearly all are
		return id
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.add(name)
}

// add returns the number of a name, which it may not have yet. mu is held.
func (t *fileTable) add(name []byte) uint32 {
	if id, ok := t.mapped[string(name)]; ok {
		return id
	}
	if t.full = t.full || uint64(len(name)) > t.left; t.full {
		return 0
	}
	t.left -= uint64(len(name))
	given := string(name)
	s, err := t.paths.apply(given)
	if err != nil {
		t.errs[s] = err
	}
	s = emit.Name(s)
	id, known := t.ids[s]
	if !known {
		id = uint32(len(t.names))
		t.ids[s] = id
		t.names = append(t.names, s)
	}
	t.mapped[given] = id
	return id
}

// sorted returns the names in order, and for each number given by id its place
// there.
func (t *fileTable) sorted() (names []string, place []uint32) {
	names = slices.Clone(t.names)
	slices.Sort(names)
	place = make([]uint32, len(names))
	for i, name := range names {
		place[t.ids[name]] = uint32(i)
	}
	return names, place
}

// unknownFile is the name of a file that the line table does not have.
const unknownFile = "<unknown>"

// unitFiles turns the file numbers of one line table into fileTable's.
type unitFiles struct {
	d     *dumper
	table *dwarfx.LineTable
	base  []byte
	ids   []uint32 // 0: not asked for yet, else the number + 1
	path  []byte
}

// reset starts with the table of another unit, already read.
func (f *unitFiles) reset(u *unit) {
	f.base = f.table.BaseDir(u.compDir)
	clear(f.ids)
}

func (f *unitFiles) id(n uint32) uint32 {
	if uint64(n) < uint64(len(f.ids)) && f.ids[n] != 0 {
		return f.ids[n] - 1
	}
	dir, name, ok := f.table.File(n)
	if !ok || len(name) == 0 {
		return f.d.files.id([]byte(unknownFile))
	}
	f.path = appendPath(f.path[:0], f.base, dir, name)
	id := f.d.files.id(f.path)
	for uint64(len(f.ids)) <= uint64(n) {
		f.ids = append(f.ids, 0)
	}
	f.ids[n] = id + 1
	return id
}
