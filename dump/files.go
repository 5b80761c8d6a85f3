package dump

import (
	"bytes"
	"cmp"
	"slices"
	"sync"

	"symkit/dump/dwarfx"
	"symkit/emit"
	"symkit/internal/limits"
)

// fileTable numbers the names of source files. Numbers are given as names come
// and put in name order at the end.
type fileTable struct {
	mu     sync.Mutex // held shortly: for that one, who waits tries again before it sleeps
	paths  PathMap
	mapped map[string]uint32 // by the name that debug information has
	others map[string]uint32 // by the name that is written, where debug information had another first
	names  []string
	errs   map[string]error // of names that could not be mapped
	left   uint64           // bytes that names may still take
	full   bool             // a name did not fit
}

// bytesPerFile: mostly a file has at least so many bytes for each name of a source file. While
// the table grows others wait for it.
const bytesPerFile = 1 << 15

// newFileTable is for names of a file of a size in bytes.
func newFileTable(paths PathMap, size uint64) fileTable {
	return fileTable{
		paths: paths, left: limits.Files.Max(size),
		others: map[string]uint32{}, mapped: make(map[string]uint32, size/bytesPerFile), errs: map[string]error{},
	}
}

// id returns the number of a name. It is safe for concurrent use. When the names
// are too many or too long, they are full and the number means nothing.
func (t *fileTable) id(name []byte) uint32 {
	t.mu.Lock()
	id, known := t.mapped[string(name)]
	t.mu.Unlock()
	if known { // as nearly all are
		return id
	}
	given := string(name)
	written, err := t.paths.apply(given)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.errs[written] = err
	}
	return t.add(given, emit.Name(written))
}

// add returns the number of a name, which it may not have yet, by what debug information
// has and what is written. mu is held.
func (t *fileTable) add(given, written string) uint32 {
	if id, ok := t.mapped[given]; ok {
		return id
	}
	if t.full = t.full || uint64(len(given)) > t.left; t.full {
		return 0
	}
	t.left -= uint64(len(given))
	id, known := t.others[written]
	if !known && written != given {
		id, known = t.mapped[written]
		known = known && t.names[id] == written
	}
	if !known {
		id = uint32(len(t.names))
		t.names = append(t.names, written)
		if written != given {
			t.others[written] = id
		}
	}
	t.mapped[given] = id
	return id
}

// sorted returns the names in order, and for each number given by id its place
// there.
func (t *fileTable) sorted() (names []string, place []uint32) {
	order := make([]uint32, len(t.names))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(t.names[a], t.names[b]) })
	names, place = make([]string, len(order)), make([]uint32, len(order))
	for i, id := range order {
		names[i], place[id] = t.names[id], uint32(i)
	}
	return names, place
}

// unknownFile is the name of a file that the line table does not have.
const unknownFile = "<unknown>"

// unitFiles turns the file numbers of one line table into fileTable's.
type unitFiles struct {
	d     *dumper
	table *dwarfx.LineTable
	base  []byte   // the directory that names are relative to
	ids   []uint32 // 0: not asked for yet, else the number + 1
	known []uint32 // the indices of ids that are not 0
	path  []byte
}

// forget starts with another table, already read.
func (f *unitFiles) forget() {
	for _, n := range f.known {
		f.ids[n] = 0
	}
	f.known = f.known[:0]
}

// reset starts with another unit of the same table, whose compilation directory is given. Where
// units differ in their directories, files get their numbers anew.
func (f *unitFiles) reset(compDir []byte) {
	base := f.table.BaseDir(compDir)
	if !bytes.Equal(base, f.base) {
		f.forget()
	}
	f.base = base
}

func (f *unitFiles) id(n uint32) uint32 {
	if uint64(n) < uint64(len(f.ids)) && f.ids[n] != 0 {
		return f.ids[n] - 1
	}
	if _, name, ok := f.table.File(n); !ok || len(name) == 0 {
		return f.d.files.id([]byte(unknownFile))
	}
	id := f.d.files.id(f.name(n))
	for uint64(len(f.ids)) <= uint64(n) {
		f.ids = append(f.ids, 0)
	}
	f.ids[n] = id + 1
	f.known = append(f.known, n)
	return id
}

// name returns the name of file n, which is overwritten by the next.
func (f *unitFiles) name(n uint32) []byte {
	dir, name, ok := f.table.File(n)
	if !ok || len(name) == 0 {
		return []byte(unknownFile)
	}
	f.path = appendPath(f.path[:0], f.base, dir, name)
	return f.path
}
