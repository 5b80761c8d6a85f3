package dwarfx

import (
	"cmp"
	"errors"
	"fmt"
	"sync"

	"symkit/internal/bounds"
	"symkit/internal/limitof"
	"symkit/internal/wire"
	"symkit/limits"
	"symkit/located"
)

// Split DWARF (DWARF 5 §7.3.2) moves the DIEs of a unit to a .dwo file, or to a .dwp file,
// which is a package of many. The program keeps a skeleton unit with the addresses and the
// line table. The id that both have pairs them; a split unit is then readable like any
// other, as a Data of its own with some sections of the skeleton's file.

// ErrSplitID: a split DWARF file holds no unit with the skeleton's id.
var ErrSplitID = errors.New("split unit has another id")

// OpenSplit finds the split unit of skeleton u in the sections s of a .dwo file,
// or of u's part of a .dwp file, and makes it readable: its addresses, and
// before DWARF 5 its range lists, are in the skeleton's file (DWARF 5 §7.3.2).
// Its line table is the skeleton's.
func (d *Data) OpenSplit(u *Unit, s Sections) (*Unit, []error) {
	s.Addr, s.AddrSize, s.ISABit, s.Limits = d.Addr, d.AddrSize, d.ISABit, d.Limits
	if u.Version < 5 {
		s.Ranges = d.Ranges
	}
	split, errs := Open(s, d.code)
	split.SetAlt(d.alt)
	for i := range split.Units {
		x := split.Units[i]
		if x.IsType() || x.dwoID != u.dwoID {
			continue
		}
		x.addrBase, x.LowPC, x.rangesBase = u.addrBase, u.LowPC, u.splitRangesBase
		if u.Version < 5 && x.Language == 0 {
			x.Language = u.Language
		}
		return x, errs
	}
	return nil, append(errs, &located.Error{Section: ".debug_info.dwo", Offset: 0,
		Err: fmt.Errorf("%w than %#x", ErrSplitID, u.dwoID)})
}

// Package is a .dwp file: the sections of many .dwo files, and two indexes of the parts
// of the sections that belong to a unit (DWARF 5 §7.3.5; GNU's version 2 before it).
// It is safe for concurrent use.
type Package struct {
	sections Sections
	units    packageIndex // by dwo id
	types    packageIndex // by signature

	mu   sync.Mutex
	data map[uint64]*Data // type units that were opened
}

// packageIndex has the parts of the sections that belong to a unit, by its id.
type packageIndex map[uint64][dwpColumns]extent

// extent is a part of a section.
type extent struct{ off, size uint32 }

// The columns of an index that are used here.
const (
	dwpInfo = iota
	dwpTypes
	dwpAbbrev
	dwpStrOffsets
	dwpRngLists
	dwpLocations
	dwpColumns
)

// dwpColumn maps a section number of an index (DWARF 5 §7.3.5.3; GNU's differ
// where DWARF 4 had other sections) to a column.
func dwpColumn(version, section uint32) (column int, ok bool) {
	switch {
	case section == 1:
		return dwpInfo, true
	case section == 2 && version == 2:
		return dwpTypes, true
	case section == 3:
		return dwpAbbrev, true
	case section == 5:
		return dwpLocations, true
	case section == 6:
		return dwpStrOffsets, true
	case section == 8 && version == 5:
		return dwpRngLists, true
	}
	return 0, false
}

// OpenPackage reads the indexes of a .dwp file, .debug_cu_index and
// .debug_tu_index, which may be empty; s are its sections.
func OpenPackage(s Sections, units, types []byte) (p *Package, err error) {
	p = &Package{sections: s, data: map[uint64]*Data{}}
	p.units, err = readIndex(wire.New(".debug_cu_index", units, s.BigEndian), s.Limits, s.FileSize)
	if err == nil && len(types) > 0 {
		p.types, err = readIndex(wire.New(".debug_tu_index", types, s.BigEndian), s.Limits, s.FileSize)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// indexMemory is what a row of an index takes in memory.
const indexMemory = 200

// readIndex reads an index of a file of size bytes.
func readIndex(c wire.Cursor, l limits.Limits, size uint64) (packageIndex, error) {
	version := c.U32()
	if version != 2 { // since DWARF 5: two bytes, and two of padding
		c.Seek(0)
		version = uint32(c.U16())
		c.U16()
	}
	if version == draftVersion {
		version = 5
	}
	if c.Err() == nil && version != 2 && version != 5 {
		c.Fail(0, fmt.Errorf("%w %d", ErrVersion, version))
	}

	at := c.Pos()
	columns, units, slots := uint64(c.U32()), uint64(c.U32()), uint64(c.U32())
	if units > 0 && columns == 0 {
		c.Fail(at, fmt.Errorf("%w: %d units without a section", ErrTooMany, units))
	}
	ids, rows := c.Sub(slots*8), c.Sub(slots*4)
	numbers := c.Sub(columns * 4)
	offsets, sizes := c.Sub(units*columns*4), c.Sub(units*columns*4)
	if c.Err() != nil {
		return nil, c.Err()
	}

	// A row takes more memory than it has bytes in the file.
	records := bounds.NewRecords(l, limitof.UnitRecords, size)
	err := records.Take(int(units), indexMemory)
	if err != nil {
		c.Fail(at, err)
		return nil, c.Err()
	}

	// The hash table of ids refers to rows, which count from 1. There is one id for each row: more were
	// not counted.
	extents := readExtents(&numbers, &offsets, &sizes, version, units, columns)
	index := make(packageIndex, min(units, slots))
	for range slots {
		id, row := ids.U64(), uint64(rows.U32())
		if row > 0 && row <= units && uint64(len(index)) < units {
			index[id] = extents[row-1]
		}
	}
	return index, nil
}

// readExtents reads the tables of offsets and sizes, a row for each unit.
func readExtents(numbers, offsets, sizes *wire.Cursor, version uint32, units, columns uint64) [][dwpColumns]extent {
	place := make([]int, columns)
	for i := range place {
		place[i] = -1
		if column, ok := dwpColumn(version, numbers.U32()); ok {
			place[i] = column
		}
	}

	// Columns of other sections are read and ignored.
	extents := make([][dwpColumns]extent, units)
	for i := range extents {
		for _, column := range place {
			e := extent{offsets.U32(), sizes.U32()}
			if column >= 0 {
				extents[i][column] = e
			}
		}
	}
	return extents
}

// OpenSplit is Data.OpenSplit for a unit in the package; found is false where
// the package has no unit for the skeleton.
func (p *Package) OpenSplit(u *Unit) (split *Unit, found bool, errs []error) {
	row, found := p.units[u.dwoID]
	if !found {
		return nil, false, nil
	}
	split, errs = u.data.OpenSplit(u, p.part(row))
	if split != nil {
		split.data.types.pkg = p
	}
	return split, true, errs
}

// part returns the sections of one unit.
func (p *Package) part(row [dwpColumns]extent) Sections {
	s := p.sections
	s.Info = row[dwpInfo].of(s.Info)
	s.Types = row[dwpTypes].of(s.Types)
	s.Abbrev = row[dwpAbbrev].of(s.Abbrev)
	s.StrOffsets = row[dwpStrOffsets].of(s.StrOffsets)
	s.RngLists = row[dwpRngLists].of(s.RngLists)
	if s.Locations != nil {
		s.Locations = func() (Locations, error) {
			l, err := p.sections.Locations()
			return Locations{row[dwpLocations].of(l.Loc), row[dwpLocations].of(l.LocLists)}, err
		}
	}
	return s
}

// maxOpenTypes bounds the type units that are kept open: each takes some 2 KB.
const maxOpenTypes = 4096

// typeUnit is Data.typeUnit for a type unit of the package. A type that damage keeps
// from being read counts as missing.
func (p *Package) typeUnit(signature uint64) (*Data, Ref) {
	row, ok := p.types[signature]
	if !ok {
		return nil, 0
	}

	// Open the unit once; if it is damaged, d still has the parts that could be read.
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.data[signature]
	if d == nil {
		if len(p.data) >= maxOpenTypes {
			clear(p.data)
		}
		d, _ = Open(p.part(row), nil)
		p.data[signature] = d
	}
	if ref, ok := d.types.refs[signature]; ok {
		return cmp.Or(d.types.data, d), ref
	}
	return nil, 0
}

// of returns the part of a section that e is, cut off at the section's end.
func (e extent) of(data []byte) []byte {
	from := min(uint64(e.off), uint64(len(data)))
	return data[from:min(from+uint64(e.size), uint64(len(data)))]
}
