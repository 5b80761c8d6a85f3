package dwarfx

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"

	"symkit/internal/wire"
)

// Sentinels of this package.
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
	ErrTooMany    = errors.New("more than a file of this size can need")
)

// Unit types (DWARF 5 §7.5.1).
const (
	utCompile      = 1
	utType         = 2
	utPartial      = 3
	utSkeleton     = 4
	utSplitCompile = 5
	utSplitType    = 6
)

// Ref is the place of a DIE: its offset in .debug_info. The zero Ref means
// that there is none, since a unit header lies there.
type Ref uint64

// refAlt marks a Ref into the supplementary file.
const refAlt Ref = 1 << 63

// Unit is one unit of .debug_info: its header, and what its root DIE tells.
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
	texts []byte // the strings that the root DIE has itself

	Language Language // DW_AT_language
	Name     Str      // DW_AT_name
	CompDir  Str      // DW_AT_comp_dir
	// Split is DW_AT_dwo_name: the functions are described in that file.
	Split Str
	// LineOff is the .debug_line offset of the unit's line table, valid with HasLines.
	LineOff  uint64
	HasLines bool
	LowPC    uint64 // base of the unit's range lists

	strOffsetsBase uint64
	addrBase       uint64
	rngListsBase   uint64
	rangesBase     uint64 // added to .debug_ranges offsets

	dwoID           uint64 // of a skeleton and its split unit
	splitRangesBase uint64 // rangesBase of a skeleton's split unit
}

// Data is what the unit belongs to.
func (u *Unit) Data() *Data { return u.data }

// Located is an error with the section of u, and where u begins there, as its place.
func (u *Unit) Located(err error) error {
	return &wire.Error{Section: u.data.name, Offset: int(u.Off), Err: err}
}

// IsType tells a type unit, in which no code is described.
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
	name     string // of the section that units are in: .debug_info or .debug_types
	size     uint64 // of that section
	// Units are those of .debug_info, in section order.
	Units []*Unit
	alt   *Data // the supplementary file (dwz, DWARF 5 §7.3.6), or nil
	code  CodeMap
	text  Range // the largest of code
	types typeUnits
	read  uint64             // offset of the first unit not read yet
	ended [secAltStr + 1]int // how much of a section of strings they take, all with an end

	mu     sync.Mutex
	tables map[tableKey]*abbrevTable
	around map[*Unit]*around // see ParentsOf
	sets   map[setKey]*abbrevSet
	roots  map[rootKey]uint32 // see findSpecs
	// abbrevBytes is what may still be read of .debug_abbrev: hostile units
	// each start inside of one long table.
	abbrevBytes int
}

// Open reads the unit headers and root DIEs of s. code tells where machine
// code lies, so that what describes discarded code is recognised.
//
// Damage in a header ends the list of units there; damage in a root DIE or in
// an abbreviation table costs that unit. Both are in errs, located; what could
// be read is in the Data.
func Open(s Sections, code CodeMap) (d *Data, errs []error) {
	info := s.Info
	d = New(s, len(info), code)
	return d, d.ReadUnits(info, 0, true)
}

// New is Open for a .debug_info of a size whose bytes come piece by piece: no unit
// is read yet. It does not need s.Info.
func New(s Sections, size int, code CodeMap) *Data {
	s.Info = nil
	d := &Data{
		Sections: s, name: ".debug_info", size: uint64(size), code: code, text: code.largest(),
		tables: map[tableKey]*abbrevTable{}, sets: map[setKey]*abbrevSet{}, roots: map[rootKey]uint32{},
		abbrevBytes: 16*len(s.Abbrev) + 1<<20,
	}
	d.ended[secStr] = bytes.LastIndexByte(s.Str, 0) + 1
	d.ended[secLineStr] = bytes.LastIndexByte(s.LineStr, 0) + 1
	return d
}

// SelfContained tells whether the unit cannot refer to another one.
func (u *Unit) SelfContained() bool {
	table, err := u.data.abbrevs(u)
	return err == nil && !table.crossing
}

// Forget drops what describes functions: their DIEs and abbreviations. What
// remains are the units with their line tables.
func (d *Data) Forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Abbrev, d.tables, d.sets, d.roots = nil, map[tableKey]*abbrevTable{}, map[setKey]*abbrevSet{}, map[rootKey]uint32{}
	for _, u := range d.Units {
		u.Drop()
	}
}

// Drop lets go of the unit's bytes: nothing in it can be read any more.
func (u *Unit) Drop() { u.bytes = nil }

// Dropped tells whether the unit's bytes are gone.
func (u *Unit) Dropped() bool { return u.bytes == nil }

// Restore gives the units whose bytes are gone those in info, all of .debug_info.
func (d *Data) Restore(info []byte) {
	for _, u := range d.Units {
		if u.Dropped() && u.End <= uint64(len(info)) {
			u.bytes = info[u.Off:u.End]
		}
	}
}

// ReadUnits appends to Units those that are complete in data, the bytes of
// .debug_info from offset at. It goes on where it stopped the last time; what is
// left then it reads as the last: what is cut short there is damage. Meanwhile units
// that are there already can be scanned, and a Namer that is confined to one can
// read the names in it.
func (d *Data) ReadUnits(data []byte, at int, last bool) (errs []error) {
	c := wire.NewAt(d.name, data, at, d.BigEndian)
	c.Seek(d.read)
	for c.Len() > 0 && (last || wholeUnit(c)) {
		u, err := readHeader(&c)
		if u.data = d; err == nil {
			u.bytes = data[u.Off-uint64(at) : u.End-uint64(at)]
			if u.IsType() {
				d.types.add(u.typeSignature, Ref(u.Off+u.typeOffset))
			}
			err = d.readRoot(&u)
		}
		if err != nil {
			errs = append(errs, err)
		} else {
			d.Units = append(d.Units, &u)
		}
	}
	if d.read = uint64(c.Pos()); c.Err() != nil {
		d.read = d.size // where the next unit begins is not known
	}
	if last && len(d.Types) > 0 {
		errs = append(errs, d.openTypes()...)
	}
	return errs
}

// Whole returns the end of the last unit that is complete in data, bytes of
// .debug_info from the start of a unit on, and how long the next one is, 0 where
// that is not known.
func Whole(data []byte, bigEndian bool) (end int, next uint64) {
	c := wire.New("", data, bigEndian)
	for c.Len() > 0 && wholeUnit(c) {
		n, _ := c.InitialLength()
		c.Skip(n)
	}
	end = c.Pos()
	if c.Len() >= maxInitialLength {
		n, _ := c.InitialLength()
		next = max(n, n+maxInitialLength) // and not past the largest number
	}
	return end, next
}

// wholeUnit tells whether all of the unit at c is there.
func wholeUnit(c wire.Cursor) bool {
	n, _ := c.InitialLength()
	return n <= uint64(c.Len()) && !errors.Is(c.Err(), wire.ErrTruncated)
}

// maxInitialLength is the size of the longer form of an initial length.
const maxInitialLength = 12

// readHeader reads a unit header of .debug_info (DWARF 5 §7.5.1.1) and passes
// over the unit. An error that leaves c usable has cost this unit alone.
func readHeader(c *wire.Cursor) (Unit, error) {
	u, body := startHeader(c)
	if u.Version == 5 {
		u.kind = body.U8()
		u.AddrSize = body.U8()
		u.abbrevOff = body.Offset(u.Dwarf64)
	} else {
		u.kind = utCompile
		u.abbrevOff = body.Offset(u.Dwarf64)
		u.AddrSize = body.U8()
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

// readTypeHeader reads a unit header of .debug_types (DWARF 4 §7.5.1.2).
func readTypeHeader(c *wire.Cursor) (Unit, error) {
	u, body := startHeader(c)
	u.kind = utType
	u.abbrevOff = body.Offset(u.Dwarf64)
	u.AddrSize = body.U8()
	u.typeSignature, u.typeOffset = body.U64(), body.Offset(u.Dwarf64)
	return u, u.endHeader(&body)
}

// draftVersion is the DWARF version in the making, which clang 23 writes with
// -gdwarf-6: so far DWARF 5 with other version numbers, in units and line tables,
// and new attributes. A form that DWARF 5 does not have loses its unit.
const draftVersion = 6

// startHeader reads what all unit headers begin with, and passes over the unit.
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

// endHeader checks the header that body has been read of.
func (u *Unit) endHeader(body *wire.Cursor) error {
	if s := u.AddrSize; body.Err() == nil && s != 8 && s != 4 && s != 2 && s != 1 {
		body.Fail(int(u.Off), fmt.Errorf("%w %d", ErrAddrSize, s))
	}
	u.first = uint64(body.Pos())
	return body.Err()
}

// readRoot reads what the unit's root DIE tells about the whole unit. It does
// not compile the abbreviations: that is the scan's, in parallel.
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
	var die DIE
	if err := d.readAttrs(u, &c, specs, &die); err != nil {
		return err
	}
	u.Language = Language(die.vals[slotLanguage].v)
	if !die.has(slotLanguage) {
		u.Language = languageOf(die.vals[slotLanguageName].v)
	}
	u.LineOff, u.HasLines = die.vals[slotStmtList].v, die.has(slotStmtList)
	u.strOffsetsBase = u.defaultBase(&die, slotStrOffsetsBase, 8)
	u.addrBase = u.defaultBase(&die, slotAddrBase, 8)
	u.rngListsBase = u.defaultBase(&die, slotRngListsBase, 12)
	u.splitRangesBase = die.vals[slotGNURangesBase].v
	if die.has(slotGNUDwoID) {
		u.dwoID = die.vals[slotGNUDwoID].v
	}
	u.Name = u.keep(d.str(u, die.vals[slotName]))
	u.CompDir = u.keep(d.str(u, die.vals[slotCompDir]))
	u.Split = u.keep(d.str(u, die.vals[slotSplit]))
	if low := die.vals[slotLowPC]; low.form != 0 {
		u.LowPC, _ = d.address(u, low)
	}
	return nil
}

// defaultBase is the value of a DW_AT_*_base; without the attribute, the first
// entry behind the header of the section's first contribution (header bytes in
// the 32-bit format), as split units mean it (DWARF 5 §7.26 to §7.28). Before
// DWARF 5 the sections have no headers.
func (u *Unit) defaultBase(die *DIE, s slot, header uint64) uint64 {
	switch {
	case die.has(s):
		return die.vals[s].v
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
