package dwarfx

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"symkit/internal/bounds"
	"symkit/limits"
	"symkit/located"
)

// Open, or ReadUnits for a .debug_info that is inflated segment by segment, reads unit
// headers and root DIEs in one pass and compiles nothing. Everything else is done unit by
// unit, by any number of goroutines: a Unit is never written to after it was read, except
// by Drop, and data that units share is in Data under its mutex.

// Causes of the located errors of this package, besides those of package located.
var (
	ErrVersion    = errors.New("unknown DWARF version")
	ErrUnitType   = errors.New("unknown unit type")
	ErrAddrSize   = errors.New("impossible address size")
	ErrAbbrev     = errors.New("abbreviation code not in the table")
	ErrForm       = errors.New("unknown attribute form")
	ErrReference  = errors.New("reference to no DIE")
	ErrRangeKind  = errors.New("unknown range list entry")
	ErrLocKind    = errors.New("unknown location list entry")
	ErrLineHeader = errors.New("damaged line table header")
	ErrLineOp     = errors.New("impossible line program")
	ErrPC         = errors.New("function or inlined call whose address cannot be computed")
	ErrTooMany    = errors.New("more than a file of this size can need")
	ErrRepeated   = errors.New("damage in every unit from here on")
)

// Unit types (DWARF 5 §7.5.1).
const (
	utCompile      = 1
	utType         = 2
	utPartial      = 3
	utSkeleton     = 4
	utSplitCompile = 5
	utSplitType    = 6
	utLoUser       = 0x80 // the first of vendors' types, which go up to 0xff
	// utPadding stands for a unit of version 0 and zeros alone, with which Zig's linker (0.17)
	// fills the gaps between units.
	utPadding = 0xff
)

// Ref is the place of a DIE: its offset in .debug_info. The zero Ref means that there
// is no DIE, since a unit header lies at offset 0.
type Ref uint64

// refAlt marks a Ref into the supplementary file.
const refAlt Ref = 1 << 63

// draftVersion is the draft of DWARF 6, which clang 23 writes with -gdwarf-6: so far
// DWARF 5 with other version numbers, in units and line tables, and new attributes.
// A form that DWARF 5 does not have loses its unit.
const draftVersion = 6

// Unit is one unit of .debug_info: its header, and attributes of its root DIE.
type Unit struct {
	Off, End  uint64 // .debug_info offsets of the header and of the unit's end
	first     uint64 // of the root DIE
	abbrevOff uint64
	Version   uint16
	Draft     bool // DWARF 6, read as Version 5
	AddrSize  uint8
	Dwarf64   bool
	kind      uint8

	typeSignature, typeOffset uint64 // of a type unit

	data  *Data
	bytes []byte // from Off to End, until Drop
	texts []byte // copies of the strings that are in the root DIE itself

	Language Language // DW_AT_language
	Name     Str      // DW_AT_name
	CompDir  Str      // DW_AT_comp_dir
	// Split is DW_AT_dwo_name of a skeleton: the functions are described in that file.
	Split Str
	// LineOff is the .debug_line offset of the unit's line table, valid with HasLines.
	LineOff  uint64
	HasLines bool
	LowPC    uint64 // base of the unit's range lists
	// Typeless is that of the unit's Scan, set by the goroutine that scanned the unit, or its first part.
	Typeless bool

	strOffsetsBase uint64
	addrBase       uint64
	rngListsBase   uint64
	rangesBase     uint64 // added to .debug_ranges offsets

	dwoID           uint64 // of a skeleton and its split unit
	splitRangesBase uint64 // rangesBase of a skeleton's split unit
}

// DwoID returns the id that a skeleton and its split unit share.
func (u *Unit) DwoID() uint64 { return u.dwoID }

// Data returns the Data of the unit.
func (u *Unit) Data() *Data { return u.data }

// Located returns an error whose place is the header of u.
func (u *Unit) Located(err error) error {
	return &located.Error{Section: u.data.name, Offset: int(u.Off), Err: err}
}

// IsType reports whether u is a type unit, which describes no code.
func (u *Unit) IsType() bool { return u.kind == utType || u.kind == utSplitType }

func (u *Unit) offsetSize() uint64 {
	if u.Dwarf64 {
		return 8
	}
	return 4
}

// Sections holds the inflated bytes of the DWARF sections. A section that a file
// lacks is nil.
type Sections struct {
	Info                   []byte // for Open
	Abbrev                 []byte
	Str, LineStr           []byte
	StrOffsets, Addr       []byte
	Line, Ranges, RngLists []byte
	Types                  []byte // .debug_types of DWARF 4
	BigEndian              bool
	// AddrSize is the file's address size in bytes: the size of addresses in line
	// programs before DWARF 5, whose headers have none.
	AddrSize int
	// ISABit states that bit 0 of an address of code is the mode of the processor, and no part of
	// the address: on MIPS, where assemblers set the bit in line tables and in the ends of
	// ranges of MIPS16 and microMIPS code.
	ISABit bool
	// Locations returns the location lists, which only LocalReader needs, when they are first needed. May be nil.
	Locations func() (Locations, error)
	// Limits bound the cost of reading: abbreviation-attributes, die-depth,
	// range-entries and, by FileSize, unit-records and line-records.
	Limits limits.Limits
	// FileSize is the size in bytes of the file that has the sections, which can be
	// compressed there.
	FileSize uint64
}

// Locations has the sections of location lists: .debug_loc, and since DWARF 5 .debug_loclists.
type Locations struct{ Loc, LocLists []byte }

// Section is one of the sections that offsets point into.
type Section uint8

// The sections that have strings.
const (
	secNone Section = iota
	secInfo
	secUnit // Unit.texts: copies from .debug_info
	secStr
	secLineStr
	secAltStr // .debug_str of the supplementary file
)

// Str is the place of a string: a section and the offset in the section. The zero Str
// means that there is no string.
type Str uint64

// Data is the DWARF of one file. It is safe for concurrent use.
type Data struct {
	Sections        // without Info
	name     string // of the section of the units: .debug_info or .debug_types
	size     uint64 // of that section
	// Units are those of .debug_info, in section order.
	Units []*Unit
	alt   *Data // the supplementary file (dwz, DWARF 5 §7.3.6), or nil
	code  CodeMap
	types typeUnits
	read  uint64             // offset of the first unit not read yet
	next  uint64             // offset of the unit at which ReadUnits stopped, if full is not nil
	full  error              // why: units take more memory than the file may have
	bad   int                // units since the last one that could be read
	ended [secAltStr + 1]int // size of a section's strings, all of which have an end

	mu      sync.Mutex
	tables  map[tableKey]*abbrevTable
	parents map[*Unit]*parentCache // see ParentsOf
	sets    map[setKey]*abbrevSet
	roots   map[rootKey]uint32 // see findSpecs
	// abbrevBytes is how much may still be read of .debug_abbrev: each unit of a
	// hostile file starts inside of one long table.
	abbrevBytes int
	// abbrevMemory is how many bytes of memory compiled abbreviations may still take.
	abbrevMemory atomic.Int64
	abbrevsOver  atomic.Bool // some had no memory left, or could not be read any more

	budget *bounds.Shared // what the units take; an item is an index of Units
}

// typeUnits finds type units by their signature (DWARF 5 §3.1.4): units that hold the
// DIEs of a type to which other units refer. DWARF 4 has them in .debug_types, which is
// then a Data of its own; DWARF 5 has them in .debug_info.
type typeUnits struct {
	data *Data // of .debug_types; nil if the type units are in .debug_info
	refs map[uint64]Ref
	pkg  *Package // the .dwp file of a split unit, which has more type units
}

// parentCache is the cache of ParentsOf for a unit.
type parentCache struct {
	calls int
	index parentIndex
}

// parentIndex has the DIEs of a unit that have children, in the order in which they
// begin.
type parentIndex []parentEntry

type parentEntry struct {
	begin, end Ref
	outer      int32 // index of the entry that encloses this one; -1 for the root
}

// Pay counts memory that the functions of Units[i] take, see Scan.Pay.
func (d *Data) Pay(i int, bytes uint64) error { return d.budget.Take(i, bytes) }

// Keep is called when the functions of Units[i] were read. From then on free can be called to
// release them, at any time, because they and those of the units before take more memory than the
// file may have. Keep returns an error if this is known already.
func (d *Data) Keep(i int, free func()) error { return d.budget.Keep(i, free) }

// unitAt returns the unit whose bytes hold offset off of .debug_info, or nil.
func (d *Data) unitAt(off Ref) *Unit {
	i, ok := slices.BinarySearchFunc(d.Units, uint64(off), func(u *Unit, off uint64) int {
		switch {
		case off < u.first:
			return 1
		case off >= u.End:
			return -1
		}
		return 0
	})
	if !ok {
		return nil
	}
	return d.Units[i]
}

// spend subtracts n bytes from the budget of bytes to read of .debug_abbrev. It reports
// whether something is left.
func (d *Data) spend(n int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.abbrevBytes -= n
	return d.abbrevBytes > 0
}

// remember subtracts n bytes from the memory that abbreviations may take. It reports whether they
// are left.
func (d *Data) remember(n int) bool { return d.abbrevMemory.Add(int64(-n)) >= 0 }

// SetAlt makes the supplementary file readable from d. It must be called before
// anything is scanned.
func (d *Data) SetAlt(alt *Data) {
	d.alt = alt
	if d.types.data != nil {
		d.types.data.alt = alt
	}
}
