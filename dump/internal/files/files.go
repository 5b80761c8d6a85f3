// Package files numbers the names of source files.
//
// It takes the directories and names of line tables and gives each distinct path, as it
// is written, a number and at the end a place in the order of FILE records. The numbers
// depend on the order in which goroutines request them; the order of FILE records does
// not.
package files

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"symkit/dump/internal/losses"
	"symkit/dump/pathmap"
	"symkit/emit"
	"symkit/internal/dwarfx"
	"symkit/internal/limitof"
	"symkit/limits"
)

// Unknown is the name of a file that a line table does not have.
const Unknown = "<unknown>"

// Table numbers the names of source files, in the order in which they come;
// Ordered puts them into name order. It is safe for concurrent use.
type Table struct {
	mu      sync.Mutex
	paths   pathmap.Map
	given   map[string]uint32 // number by the name in debug information
	written map[string]uint32 // number by the name that is written
	names   []string          // the names that are written, by number
	errs    map[string]error  // by name: why the name could not be mapped
	size    uint64            // of the ELF file
	limits  limits.Limits
	left    uint64 // bytes that names may still take
	full    bool   // a name did not fit
	turn    *turn  // nil if line tables are read concurrently
}

// New returns an empty table for a file of size bytes. With inTurn, one goroutine alone numbers names.
// Otherwise names may take half of the limit, since more of them can come here than fit in turn.
func New(paths pathmap.Map, size uint64, l limits.Limits, inTurn bool) *Table {
	t := &Table{
		paths: paths, size: size, limits: l, left: l.Max(limitof.Files, size),
		given: map[string]uint32{}, written: map[string]uint32{}, errs: map[string]error{},
	}
	if inTurn {
		t.turn = new(turn)
	} else {
		t.left /= 2
	}
	return t
}

// Number returns the number of a name. If names are too many or too long for the limit,
// End returns an error and the numbers mean nothing.
func (t *Table) Number(name []byte) uint32 {
	t.mu.Lock()
	number, known := t.given[string(name)]
	t.mu.Unlock()
	if known { // as nearly all are
		return number
	}

	// A rule with a digest reads the source file, so the table is not locked meanwhile.
	given := string(name)
	mapped, err := t.paths.Apply(given)
	written := emit.Name(mapped)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.errs[mapped] = err
		t.turn.mapped(mapped)
	}
	return t.add(given, written)
}

// nameMemory is what a name takes in memory besides its bytes: in two maps and two lists.
const nameMemory = 160

// add numbers a name. Names of debug information that are written alike share a number.
// The caller holds the lock.
func (t *Table) add(given, written string) uint32 {
	// Another goroutine may have added the name since Number looked it up.
	number, known := t.given[given]
	if known {
		return number
	}
	cost := uint64(len(given)) + nameMemory
	t.full = t.full || cost > t.left
	if t.full {
		return 0
	}

	t.left -= cost
	number, known = t.written[written]
	if !known {
		number = uint32(len(t.names))
		t.names = append(t.names, written)
		t.written[written] = number
	}
	t.given[given] = number
	t.turn.add(given)
	return number
}

// Ordered are names in order.
type Ordered struct {
	Names []string
	Place []uint32 // by number: index of Names
}

// Ordered returns the names in order, and warnings about those that could not be
// mapped.
func (t *Table) Ordered() (Ordered, losses.List) {
	order := make([]uint32, len(t.names))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(t.names[a], t.names[b]) })

	o := Ordered{make([]string, len(order)), make([]uint32, len(order))}
	for place, number := range order {
		o.Names[place], o.Place[number] = t.names[number], uint32(place)
	}

	// A map has no order, and warnings must have one.
	var lost losses.List
	for _, name := range slices.Sorted(maps.Keys(t.errs)) {
		lost.Warnings = append(lost.Warnings, fmt.Sprintf("%s: %v", name, t.errs[name]))
	}
	return o, lost
}

// OfUnit gives the files of line tables their numbers, for one goroutine.
type OfUnit struct {
	table   *Table
	lines   *dwarfx.LineTable
	base    []byte   // directory that relative names belong to
	numbers []uint32 // by file of the line table: the number + 1, or 0 before the first use
	known   []uint32 // indices of numbers that are not 0
	path    []byte   // scratch
}

// NewOfUnit returns an OfUnit for the numbers of t.
func NewOfUnit(t *Table) *OfUnit { return &OfUnit{table: t} }

// Open starts with the files of a line table that was read.
func (f *OfUnit) Open(lines *dwarfx.LineTable) {
	f.lines = lines
	f.forget()
}

// SetDir sets the directory that the unit of the next files was compiled in. Units
// of one line table may have different ones.
func (f *OfUnit) SetDir(compDir []byte) {
	base := f.lines.BaseDir(compDir)
	if !bytes.Equal(base, f.base) {
		f.forget()
	}
	f.base = base
}

// forget forgets the numbers of all files.
func (f *OfUnit) forget() {
	for _, n := range f.known {
		f.numbers[n] = 0
	}
	f.known = f.known[:0]
}

// Number returns the number of file n of the line table.
func (f *OfUnit) Number(n uint32) uint32 {
	if uint64(n) < uint64(len(f.numbers)) && f.numbers[n] != 0 {
		return f.numbers[n] - 1
	}
	dir, name, ok := f.lines.File(n)
	if !ok || len(name) == 0 {
		return f.Unknown()
	}

	// The name is looked up in the scratch buffer, and copied only if it is new.
	f.path = AppendPath(f.path[:0], f.base, dir, name)
	number := f.table.Number(f.path)
	for uint64(len(f.numbers)) <= uint64(n) {
		f.numbers = append(f.numbers, 0)
	}
	f.numbers[n] = number + 1
	f.known = append(f.known, n)
	return number
}

// Unknown returns the number of the file name Unknown.
func (f *OfUnit) Unknown() uint32 { return f.table.Number([]byte(Unknown)) }
