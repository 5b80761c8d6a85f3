// Package dwarfinfo reads functions, their names, lines and inlined calls from DWARF, with a reader
// that shares no code with the dumper.
//
// A scan reads only the attributes that are compared: ranges, origins and the places of calls.
// Abbreviations are compiled once into steps that skip all other attributes. A scan leaves names
// alone; the name of a DIE is read when a function or a call needs the name, and strings are
// compared by their offsets in sections. Sections are read in place. A section may change while it
// is read, since another process can write to a mapped file: every loop consumes bytes, and every
// length is checked where it is used.
package dwarfinfo

import (
	"debug/elf"
	"fmt"
	"sync"
	"sync/atomic"

	"symkit/elfx"
	"symkit/internal/bounds"
	"symkit/internal/limitof"
	"symkit/internal/mem"
	"symkit/internal/wire"
	"symkit/limits"
)

// Info is the debug information of one file.
type Info struct {
	Path string
	// Alt is dwz's supplementary file, or nil.
	Alt *Info

	file      *elfx.File
	bigEndian bool
	size      int // of the file, in bytes
	limits    limits.Limits
	number    uint64 // 0 of the main file, altNumber of dwz's, a count from 1 of split DWARF files
	info      []byte // see stream for which of these bytes have been inflated
	abbrev    []byte
	line      []byte
	ranges    []byte
	rngLists  []byte
	addr      []byte
	str       []byte
	lineStr   []byte
	offsets   []byte // .debug_str_offsets

	skeleton *Unit // of a split DWARF file
	splits   splits

	stream stream
	units  []*Unit // those that were read, in order
	groups groups

	// records counts the memory of units and abbreviations by the size of the file, heavy is held
	// by the one scan that takes much memory.
	records *bounds.Records
	heavy   sync.Mutex
	tables  map[tableKey]*table
	// tableBudget is the number of bytes of abbreviation tables that may still be compiled.
	tableBudget int
	// work is the number of bytes of strings and of attributes that may still be read for names,
	// workSize the size of the sections that decides on it.
	work     atomic.Int64
	workSize uint64
}

// isaBit returns the bits of an address of code that are the mode of the processor: bit 0 on MIPS,
// whose assemblers set the bit in line tables and in the ends of ranges.
func (d *Info) isaBit() uint64 {
	if d.file != nil && d.file.Machine == elf.EM_MIPS {
		return 1
	}
	return 0
}

// Unit is one unit of .debug_info: what its header (DWARF 5 §7.5.1) and its root DIE state.
type Unit struct {
	Off, root, end int // offsets in .debug_info; root: of the first DIE
	version        uint16
	kind           uint8 // DW_UT, 0 before DWARF 5
	addrSize       uint8
	dwarf64        bool
	in             *Info
	table          *table
	group          *LineGroup
	done           bool

	// Attributes of the root DIE.
	Root     bool   // the root DIE was read
	Split    bool   // the functions are in a .dwo file: see Unit.Open
	id       uint64 // of a skeleton and its split unit
	dwoName  string
	lang     uint64
	hasLines bool
	lineOff  uint64 // DW_AT_stmt_list
	compDir  string
	lowPC    uint64
	placed   bool // has addresses, as a skeleton has
	addrBase uint64
	strBase  uint64
	rngBase  uint64
	// rangesBase is where the range lists of a split unit before DWARF 5 begin.
	rangesBase uint64
}

// stream is .debug_info while it is inflated and read at the same time. One goroutine inflates the
// section and sends complete units to others. If no unit can refer to another one, the memory of
// finished units is returned to the system. The first goroutine waits for the others, so that only a
// small part of the section is in memory.
type stream struct {
	alone  bool        // no unit refers to another one
	size   int         // of the section that Units inflates; 0 if all bytes are there from the start
	buffer *mem.Buffer // that the section is inflated into, while Units runs

	mu      sync.Mutex
	have    int // bytes that are inflated
	next    int // offset of the next unit
	first   int // index of the first unit that is not done
	dropped int // offset of the first byte whose memory was not released
	empty   int // units of length 0
}

// splits finds the split units of a file.
type splits struct {
	once  sync.Once
	pack  *elfx.File    // the .dwp file, or nil
	parts *packageIndex // of pack, or nil
	err   error         // why the index of the .dwp file cannot be read

	mu sync.Mutex
	n  uint64 // files so far
}

// part is the part of a section of a .dwp file that belongs to a unit.
type part struct{ off, size uint32 }

// packageIndex is an index of units: a hash table from ids to rows, and a table of the parts of
// sections for each row (DWARF 5 §7.3.5.3).
type packageIndex struct {
	rows                     map[uint64]uint32 // by id, from 0
	sections, offsets, sizes wire.Cursor       // the columns, and the tables
	columns                  uint64
}

// Kinds of unit (DWARF 5 §7.5.1).
const (
	utType      = 2
	utSkeleton  = 4
	utSplit     = 5
	utSplitType = 6
	utLoUser    = 0x80 // vendors' types go up to 0xff
)

// Exhausted returns the error for more strings than the limit, nil within the limit.
func (d *Info) Exhausted() error {
	for _, x := range []*Info{d, d.Alt} {
		if x != nil && x.work.Load() < 0 {
			return fmt.Errorf("%s: .debug_info: %w", x.Path, x.limits.Exceeded(limitof.CheckStrings, x.workSize))
		}
	}
	return nil
}

// Size returns the number of bytes of .debug_info.
func (d *Info) Size() int { return max(len(d.info), d.stream.size) }

// What records take in memory, in bytes, with what slices and the collector need to grow:
// a unit with its line group, an abbreviation, its entry in a map if codes are not consecutive, a
// step of one.
const unitBytes, abbrevBytes, sparseBytes, stepBytes = 700, 60, 140, 24

// take counts the memory of n records of units and abbreviations.
func (d *Info) take(n, bytes int) error {
	err := d.records.Take(n, bytes)
	if err != nil {
		return fmt.Errorf(".debug_info: %w", err)
	}
	return nil
}

// spend subtracts n from the remaining work. Workers share the number, so that a DIE is counted with
// its strings at once.
func (d *Info) spend(n int) { d.work.Add(int64(-n)) }
