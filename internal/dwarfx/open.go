package dwarfx

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"

	"symkit/internal/bounds"
	"symkit/internal/limitof"
	"symkit/internal/wire"
	"symkit/located"
)

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
		budget:      bounds.NewShared(s.Limits, limitof.UnitRecords, s.FileSize),
	}
	d.abbrevMemory.Store(int64(min(s.Limits.Max(limitof.UnitRecords, s.FileSize), math.MaxInt64)))
	d.ended[secStr] = bytes.LastIndexByte(s.Str, 0) + 1
	d.ended[secLineStr] = bytes.LastIndexByte(s.LineStr, 0) + 1
	return d
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
			continue // only its vendor's tools know what it describes, or nothing
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
	if u.kind == utPadding {
		return u, nil
	}
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

// startHeader reads the first fields, common to all unit headers, and skips the unit.
func startHeader(c *wire.Cursor) (u Unit, body wire.Cursor) {
	u.Off = uint64(c.Pos())
	n, dwarf64 := c.InitialLength()
	body = c.Sub(n)
	u.End, u.Dwarf64 = uint64(body.End()), dwarf64

	u.Version = body.U16()
	switch {
	case body.Err() != nil:
	case u.Version == 0 && isZero(body):
		u.kind = utPadding
	case u.Version < 2 || u.Version > draftVersion:
		body.Fail(int(u.Off), fmt.Errorf("%w %d", ErrVersion, u.Version))
	}
	if u.Version == draftVersion {
		u.Version, u.Draft = 5, true
	}
	return u, body
}

// isZero reports whether all bytes of c are zeros.
func isZero(c wire.Cursor) bool { return len(bytes.TrimLeft(c.Bytes(uint64(c.Len())), "\x00")) == 0 }

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

// SelfContained reports whether the unit cannot refer to another one.
func (u *Unit) SelfContained() bool {
	table, err := u.data.abbrevs(u)
	return err == nil && !table.crossing
}

// openTypes reads the unit headers of .debug_types (DWARF 4 §7.5.1.2).
func (d *Data) openTypes() (errs []error) {
	s, info := d.Sections, d.Types
	s.Types = nil
	types := New(s, len(info), d.code)
	types.name, types.alt = ".debug_types", d.alt
	d.types.data = types

	c := types.cursor(".debug_types", info)
	for c.Len() > 0 {
		u, err := readHeader(&c, true)
		u.data = types
		if err == nil {
			u.bytes = info[u.Off:u.End]
			err = types.readRoot(&u)
		}

		// The header leads to the DIE of the type.
		switch {
		case err == nil:
			types.addUnit(&u, &c)
			d.types.add(u.typeSignature, Ref(u.Off+u.typeOffset))
		case types.isRepeated():
			err = fmt.Errorf("%w; %w", err, ErrRepeated)
			c.Fail(int(u.Off), err)
			fallthrough
		default:
			errs = append(errs, err)
		}
	}
	if err := types.Cut(); err != nil {
		errs = append(errs, err)
	}
	return errs
}
