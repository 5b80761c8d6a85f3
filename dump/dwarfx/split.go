package dwarfx

import (
	"errors"
	"fmt"

	"symkit/internal/wire"
)

// ErrSplitID: a split DWARF file holds no unit with the skeleton's id.
var ErrSplitID = errors.New("split unit has another id")

// SplitID identifies the split unit that belongs to a skeleton.
func (u *Unit) SplitID() uint64 { return u.dwoID }

// OpenSplit finds the split unit of skeleton u in the sections s of a .dwo file,
// or of u's part of a .dwp file, and makes it readable: its addresses, and
// before DWARF 5 its range lists, are in the skeleton's file (DWARF 5 §7.3.2).
// Its line table is the skeleton's.
func (d *Data) OpenSplit(u *Unit, s Sections) (*Unit, []error) {
	s.Addr, s.AddrSize = d.Addr, d.AddrSize
	if u.Version < 5 {
		s.Ranges = d.Ranges
	}
	split, errs := Open(s, d.code)
	split.Alt = d.Alt
	for i := range split.Units {
		x := &split.Units[i]
		if x.IsType() || x.dwoID != u.dwoID {
			continue
		}
		x.addrBase, x.LowPC, x.rangesBase = u.addrBase, u.LowPC, u.splitRangesBase
		if u.Version < 5 && x.Language == 0 {
			x.Language = u.Language
		}
		return x, errs
	}
	return nil, append(errs, &wire.Error{Section: ".debug_info.dwo", Offset: 0,
		Err: fmt.Errorf("%w than %#x", ErrSplitID, u.dwoID)})
}

// Package is the index of a .dwp file: where in its sections the units of the
// many .dwo files are (DWARF 5 §7.3.5; GNU's version 2 before it).
type Package struct {
	sections Sections
	rows     map[uint64][dwpColumns]extent // by id
}

// extent is a part of a section.
type extent struct{ off, size uint32 }

// The columns of an index that matter here.
const (
	dwpInfo = iota
	dwpAbbrev
	dwpStrOffsets
	dwpRngLists
	dwpColumns
)

// dwpColumn maps a section number of an index (DWARF 5 §7.3.5.3; GNU's differ
// where DWARF 4 had other sections) to a column.
func dwpColumn(version, section uint32) (column int, ok bool) {
	switch {
	case section == 1:
		return dwpInfo, true
	case section == 3:
		return dwpAbbrev, true
	case section == 6:
		return dwpStrOffsets, true
	case section == 8 && version == 5:
		return dwpRngLists, true
	}
	return 0, false
}

// OpenPackage reads the index of a .dwp file, .debug_cu_index, whose sections
// are s.
func OpenPackage(s Sections, index []byte) (*Package, error) {
	c := wire.New(".debug_cu_index", index, s.BigEndian)
	version := c.U32()
	if version != 2 { // since DWARF 5: two bytes, and two of padding
		c.Seek(0)
		version = uint32(c.U16())
		c.U16()
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
	extents := readExtents(&numbers, &offsets, &sizes, version, units, columns)
	p := &Package{sections: s, rows: make(map[uint64][dwpColumns]extent, min(units, slots))}
	for range slots {
		id, row := ids.U64(), uint64(rows.U32())
		if row > 0 && row <= units {
			p.rows[id] = extents[row-1]
		}
	}
	return p, nil
}

// readExtents reads the tables of offsets and sizes, a row for each unit.
func readExtents(numbers, offsets, sizes *wire.Cursor, version uint32, units, columns uint64) [][dwpColumns]extent {
	place := make([]int, columns)
	for i := range place {
		column, ok := dwpColumn(version, numbers.U32())
		if place[i] = column; !ok {
			place[i] = -1
		}
	}
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

// Unit returns the sections of the unit with the id; ok is false where the
// package has none.
func (p *Package) Unit(id uint64) (s Sections, ok bool) {
	row, ok := p.rows[id]
	if !ok {
		return s, false
	}
	s = p.sections
	s.Info = row[dwpInfo].of(s.Info)
	s.Abbrev = row[dwpAbbrev].of(s.Abbrev)
	s.StrOffsets = row[dwpStrOffsets].of(s.StrOffsets)
	s.RngLists = row[dwpRngLists].of(s.RngLists)
	return s, true
}

// of cuts the extent out of a section; what lies outside of it is missing.
func (e extent) of(data []byte) []byte {
	from := min(uint64(e.off), uint64(len(data)))
	return data[from:min(from+uint64(e.size), uint64(len(data)))]
}
