package dwarfx

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"symkit/internal/bounds"
	"symkit/internal/wire"
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
)

// Ref is the place of a DIE: its offset in .debug_info. The zero Ref means that there
// is no DIE, since a unit header lies at offset 0.
type Ref uint64

// refAlt marks a Ref into the supplementary file.
const refAlt Ref = 1 << 63

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
	// Typeless is that of the unit's Scan, set by the goroutine that scanned the unit.
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

// Open reads the unit headers and root DIEs of s. code is where machine code lies, so
// that descriptions of discarded code are recognised.
//
// Damage in a header ends the list of units; damage in a root DIE or in an
// abbreviation table loses that unit. The errors are in errs, located; the units that
// could be read are in the Data.
func Open(s Sections, code CodeMap) (d *Data, errs []error) {
	info := s.Info
	d = New(s, len(info), code)
	errs = d.ReadUnits(info, 0, true)
	err := d.Cut()
	if err != nil {
		errs = append(errs, err)
	}
	return d, errs
}

// New is Open for a .debug_info of a size whose bytes come in segments: no unit is read
// yet. It does not need s.Info.
func New(s Sections, size int, code CodeMap) *Data {
	s.Info = nil
	d := &Data{
		Sections: s, name: ".debug_info", size: uint64(size), code: code,
		tables: map[tableKey]*abbrevTable{}, sets: map[setKey]*abbrevSet{}, roots: map[rootKey]uint32{},
		parents:     map[*Unit]*parentCache{},
		abbrevBytes: 32*len(s.Abbrev) + 1<<20,
		budget:      bounds.NewShared(s.Limits, limits.UnitRecords, s.FileSize),
	}
	d.abbrevMemory.Store(int64(min(s.Limits.Max(limits.UnitRecords, s.FileSize), math.MaxInt64)))
	d.ended[secStr] = bytes.LastIndexByte(s.Str, 0) + 1
	d.ended[secLineStr] = bytes.LastIndexByte(s.LineStr, 0) + 1
	return d
}

// Pay counts memory that the functions of Units[i] take, see Scan.Pay.
func (d *Data) Pay(i int, bytes uint64) error { return d.budget.Take(i, bytes) }

// Keep is called when the functions of Units[i] were read. From then on free can be called to
// release them, at any time, because they and those of the units before take more memory than the
// file may have. Keep returns an error if this is known already.
func (d *Data) Keep(i int, free func()) error { return d.budget.Keep(i, free) }

// SelfContained reports whether the unit cannot refer to another one.
func (u *Unit) SelfContained() bool {
	table, err := u.data.abbrevs(u)
	return err == nil && !table.crossing
}

// Forget releases DIEs and abbreviations. The units with their line tables remain.
func (d *Data) Forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Abbrev, d.tables, d.sets, d.roots = nil, map[tableKey]*abbrevTable{}, map[setKey]*abbrevSet{}, map[rootKey]uint32{}
	for _, u := range d.Units {
		u.Drop()
	}
}

// Drop releases the unit's bytes: its DIEs cannot be read any more.
func (u *Unit) Drop() { u.bytes = nil }

// ReadUnits appends to Units those that are complete in data, the bytes of
// .debug_info from offset at. It continues where the last call stopped. With last, the
// rest of data is read as the end of the section: a unit that is cut off is damage.
// In the meantime the units of earlier calls can be scanned, and a Namer that is
// confined to one of them can read the names in it.
func (d *Data) ReadUnits(data []byte, at int, last bool) (errs []error) {
	c := wire.NewAt(d.name, data, at, d.BigEndian)
	c.Seek(d.read)
	for c.Len() > 0 && (last || wholeUnit(c)) {
		u, err := readHeader(&c, false)
		u.data = d
		if u.kind >= utLoUser && err == nil {
			continue // only its vendor's tools know what it describes
		}
		if err == nil {
			u.bytes = data[u.Off-uint64(at) : u.End-uint64(at)]
			if u.IsType() {
				d.types.add(u.typeSignature, Ref(u.Off+u.typeOffset))
			}
			err = d.readRoot(&u)
		}
		switch {
		case err == nil:
			d.addUnit(&u, &c)
		case d.isRepeated():
			err = fmt.Errorf("%w; %w", err, ErrRepeated)
			c.Fail(int(u.Off), err)
			fallthrough
		default:
			errs = append(errs, err)
		}
	}

	// The next call continues here.
	d.read = uint64(c.Pos())
	if c.Err() != nil {
		d.read = d.size // the start of the next unit is not known
	}
	if last && len(d.Types) > 0 {
		errs = append(errs, d.openTypes()...)
	}
	return errs
}

// UnitMemory is what a unit takes in memory without its functions and abbreviations: the Unit, and
// what the packages that use it keep for each unit.
const UnitMemory = 640

// addUnit adds u to Units. If that is more than the file may have, no unit is read any more.
func (d *Data) addUnit(u *Unit, c *wire.Cursor) {
	d.bad = 0
	err := d.budget.Take(len(d.Units), UnitMemory+uint64(len(u.texts)))
	if err != nil {
		d.next, d.full = u.Off, err
		c.Fail(int(u.Off), err)
		return
	}
	d.Units = append(d.Units, u)
}

// Cut removes the units that take more memory than the file may have: the first of them and all
// after it. It returns the error, whose place is the first of them, or nil. No unit is read or
// scanned meanwhile or afterwards.
func (d *Data) Cut() error {
	end, err := d.budget.End()
	err = cmp.Or(err, d.full)
	if err == nil {
		return nil
	}

	// The unit at which ReadUnits stopped is not in the list.
	at := d.next
	if end < len(d.Units) {
		at = d.Units[end].Off
		d.Units = d.Units[:end]
	}
	return &located.Error{Section: d.name, Offset: int(at), Err: err}
}

// maxBad is the number of units side by side that are damaged after which the rest of the section
// is: a section of zeros has a damaged unit in each four bytes.
const maxBad = 1 << 12

// isRepeated counts a damaged unit and reports whether the rest of the section is damaged.
func (d *Data) isRepeated() bool {
	d.bad++
	return d.bad >= maxBad
}

// Whole returns the end of the last unit that is complete in data, the bytes of
// .debug_info from the start of a unit on, and the size of the next unit, 0 if that is
// not known.
func Whole(data []byte, bigEndian bool) (end int, next uint64) {
	c := wire.New("", data, bigEndian)
	for c.Len() > 0 && wholeUnit(c) {
		n, _ := c.InitialLength()
		c.Skip(n)
	}

	// The length of the next unit may be there already.
	end = c.Pos()
	if c.Len() >= maxInitialLength {
		n, _ := c.InitialLength()
		next = max(n, n+maxInitialLength) // without an overflow
	}
	return end, next
}

// wholeUnit reports whether all bytes of the unit at c are there.
func wholeUnit(c wire.Cursor) bool {
	n, _ := c.InitialLength()
	return n <= uint64(c.Len()) && !errors.Is(c.Err(), located.ErrTruncated)
}

// maxInitialLength is the size of the longer form of an initial length.
const maxInitialLength = 12

// readHeader reads a unit header of .debug_info (DWARF 5 §7.5.1.1) or, with types, of
// .debug_types (DWARF 4 §7.5.1.2), and skips the unit.
// An error that leaves c usable loses this unit alone.
func readHeader(c *wire.Cursor, types bool) (Unit, error) {
	u, body := startHeader(c)
	if u.Version == 5 && !types {
		u.kind = body.U8()
		u.AddrSize = body.U8()
		u.abbrevOff = body.Offset(u.Dwarf64)
	} else {
		u.kind = utCompile
		if types {
			u.kind = utType
		}
		u.abbrevOff = body.Offset(u.Dwarf64)
		u.AddrSize = body.U8()
	}

	// The next fields depend on the type of the unit. A vendor's unit may have any.
	if u.kind >= utLoUser && body.Err() == nil {
		return u, nil
	}
	switch u.kind {
	case utCompile, utPartial:
	case utSkeleton, utSplitCompile:
		u.dwoID = body.U64()
	case utType, utSplitType:
		u.typeSignature, u.typeOffset = body.U64(), body.Offset(u.Dwarf64)
	default:
		body.Fail(int(u.Off), fmt.Errorf("%w %#x", ErrUnitType, u.kind))
	}
	return u, u.endHeader(&body)
}

// draftVersion is the draft of DWARF 6, which clang 23 writes with -gdwarf-6: so far
// DWARF 5 with other version numbers, in units and line tables, and new attributes.
// A form that DWARF 5 does not have loses its unit.
const draftVersion = 6

// startHeader reads the first fields, common to all unit headers, and skips the unit.
func startHeader(c *wire.Cursor) (u Unit, body wire.Cursor) {
	u.Off = uint64(c.Pos())
	n, dwarf64 := c.InitialLength()
	body = c.Sub(n)
	u.End, u.Dwarf64 = uint64(body.End()), dwarf64

	u.Version = body.U16()
	if body.Err() == nil && (u.Version < 2 || u.Version > draftVersion) {
		body.Fail(int(u.Off), fmt.Errorf("%w %d", ErrVersion, u.Version))
	}
	if u.Version == draftVersion {
		u.Version, u.Draft = 5, true
	}
	return u, body
}

// endHeader checks the header; body is after its last field.
func (u *Unit) endHeader(body *wire.Cursor) error {
	if s := u.AddrSize; body.Err() == nil && s != 8 && s != 4 && s != 2 && s != 1 {
		body.Fail(int(u.Off), fmt.Errorf("%w %d", ErrAddrSize, s))
	}
	u.first = uint64(body.Pos())
	return body.Err()
}

// readRoot reads the attributes of the unit's root DIE. It does not compile the
// abbreviations: the scan does, in parallel.
func (d *Data) readRoot(u *Unit) error {
	c := d.unitCursor(u, u.first)
	code := c.ULEB()
	if code == 0 || c.Err() != nil {
		return c.Err()
	}
	specs, err := d.findSpecs(u, code)
	if err != nil {
		return err
	}
	var root slots
	if err := d.readAttrs(u, &c, specs, &root); err != nil {
		return err
	}

	// DWARF 6 has DW_AT_language_name instead of DW_AT_language.
	u.Language = Language(root[slotLanguage].v)
	if !root.has(slotLanguage) {
		u.Language = languageOf(root[slotLanguageName].v)
	}

	u.LineOff, u.HasLines = root[slotStmtList].v, root.has(slotStmtList)
	u.strOffsetsBase = u.defaultBase(&root, slotStrOffsetsBase, 8)
	u.addrBase = u.defaultBase(&root, slotAddrBase, 8)
	u.rngListsBase = u.defaultBase(&root, slotRngListsBase, 12)
	u.splitRangesBase = root[slotGNURangesBase].v
	if root.has(slotGNUDwoID) {
		u.dwoID = root[slotGNUDwoID].v
	}

	// A string and an address can be indexes, which need the bases.
	u.Name = u.keep(d.str(u, root[slotName]))
	u.CompDir = u.keep(d.str(u, root[slotCompDir]))
	if u.isSkeleton(&root) {
		u.Split = u.keep(d.str(u, root[slotSplit]))
	}
	if low := root[slotLowPC]; low.form != 0 {
		u.LowPC, _ = d.address(u, low)
	}
	return nil
}

// isSkeleton reports whether the functions of a unit are in a .dwo file. A unit for a
// module of clang (-gmodules, Swift), which describes types alone, names a .pcm file in the
// same attribute: the type of the unit distinguishes the two or, before DWARF 5, the
// addresses that a skeleton has.
func (u *Unit) isSkeleton(root *slots) bool {
	if u.Version >= 5 {
		return u.kind == utSkeleton
	}
	return root.has(slotLowPC) || root.has(slotRanges) || root.has(slotAddrBase)
}

// defaultBase returns the value of a DW_AT_*_base; without the attribute, the first
// entry after the header of the section's first contribution (header bytes in
// the 32-bit format), which split units mean (DWARF 5 §7.26 to §7.28). Before
// DWARF 5 the sections have no headers.
func (u *Unit) defaultBase(root *slots, s slot, header uint64) uint64 {
	switch {
	case root.has(s):
		return root[s].v
	case u.Version < 5:
		return 0
	case u.Dwarf64:
		return header + 8
	}
	return header
}

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
