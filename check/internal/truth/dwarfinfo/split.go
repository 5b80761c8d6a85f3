package dwarfinfo

import (
	"context"
	"errors"
	"fmt"

	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/internal/bounds"
	"symkit/internal/limitof"
	"symkit/internal/wire"
	"symkit/limits"
)

// Split DWARF (DWARF 5 §7.3.2): the DIEs of a unit are in a .dwo file, or in a .dwp file that holds
// the sections of many. The program keeps a skeleton unit with the same id, the addresses and the
// lines.

// ErrNoSplit is the error for a skeleton whose split unit was not found.
var ErrNoSplit = errors.New("units whose split DWARF file (.dwo, .dwp) was not found")

// Sections of the index of a .dwp file (DWARF 5 §7.3.5.3). GNU's version 2 differs in others.
const (
	partInfo       = 1
	partAbbrev     = 3
	partStrOffsets = 6
	partRngLists   = 8 // of version 5
)

// Open returns the split unit of skeleton u, and a function that releases the memory of the unit.
// The unit's lines are those of the skeleton.
func (u *Unit) Open(ctx context.Context, others *companion.Companions) (split *Unit, release func(), err error) {
	if others == nil {
		return nil, nil, ErrNoSplit
	}
	s := &u.in.splits
	s.once.Do(func() { s.openPackage(others, u.in.limits) })
	if s.err != nil {
		return nil, nil, s.err
	}

	// A package has the units of all .dwo files or, mixed with these, of some.
	open := func(f *elfx.File, parts map[uint32]part) error {
		d := &Info{file: f, Path: f.Path(), size: f.Size(), bigEndian: f.BigEndian, skeleton: u, limits: u.in.limits}
		err := d.loadSplit(parts)
		if err == nil {
			split, err = d.withID(ctx, u.id)
		}
		return err
	}
	release = func() {
		for _, name := range splitSections {
			if sec := split.in.file.Section(name); sec != nil && split.in.file != s.pack {
				sec.Release()
			}
		}
	}
	if parts := s.parts.of(u.id); parts != nil {
		err = open(s.pack, parts)
		return split, release, err
	}
	if others.OpenSplit(u.compDir, u.dwoName, func(f *elfx.File) error { return open(f, nil) }) == nil {
		return nil, nil, ErrNoSplit
	}
	return split, release, nil
}

var splitSections = []string{".debug_info.dwo", ".debug_abbrev.dwo", ".debug_str.dwo", ".debug_str_offsets.dwo", ".debug_rnglists.dwo"}

// loadSplit reads the sections of a .dwo file, or the parts of those of a .dwp file.
func (d *Info) loadSplit(parts map[uint32]part) (err error) {
	get := func(name string, number uint32) []byte {
		data, e := d.file.SectionData(name)
		p, ok := parts[number]
		switch {
		case e != nil:
			err = e
		case parts == nil || number == 0:
			return data
		case ok && uint64(p.off)+uint64(p.size) <= uint64(len(data)):
			return data[p.off:][:p.size]
		case ok:
			err = &wire.Error{Section: name, Offset: int(p.off), Err: wire.ErrTruncated}
		}
		return nil
	}
	d.info, d.abbrev = get(splitSections[0], partInfo), get(splitSections[1], partAbbrev)
	d.str, d.offsets, d.rngLists = get(splitSections[2], 0), get(splitSections[3], partStrOffsets), get(splitSections[4], partRngLists)

	// Addresses and, before DWARF 5, range lists are in the file of the skeleton.
	main := d.skeleton.in
	d.addr, d.ranges = main.addr, main.ranges
	main.splits.mu.Lock()
	main.splits.n++
	d.number = main.splits.n
	main.splits.mu.Unlock()
	d.begin()
	return err
}

// withID finds the unit with an id.
func (d *Info) withID(ctx context.Context, id uint64) (*Unit, error) {
	err := d.List(ctx)
	for _, u := range d.units {
		if u.id == id {
			return u, nil
		}
	}
	if err == nil {
		err = fmt.Errorf("%s: no unit has the id %#x", d.Path, id)
	}
	return nil, err
}

// openPackage reads the index of the .dwp file, if there is one.
func (s *splits) openPackage(others *companion.Companions, l limits.Limits) {
	s.pack = others.OpenPackage()
	if s.pack == nil {
		return
	}
	data, err := s.pack.SectionData(".debug_cu_index")
	if err == nil {
		s.parts, err = readIndex(wire.New(".debug_cu_index", data, s.pack.BigEndian), l, uint64(s.pack.Size()))
	}
	if err != nil {
		s.err = fmt.Errorf("%s: %w", s.pack.Path(), err)
	}
}

// idMemory is what an id takes in memory.
const idMemory = 60

// of returns the parts of a unit, or nil.
func (x *packageIndex) of(id uint64) map[uint32]part {
	if x == nil {
		return nil
	}
	i, ok := x.rows[id]
	if !ok {
		return nil
	}
	row, names, offsets, sizes := map[uint32]part{}, x.sections, x.offsets, x.sizes
	offsets.Skip(4 * x.columns * uint64(i))
	sizes.Skip(4 * x.columns * uint64(i))
	for range x.columns {
		row[names.U32()] = part{offsets.U32(), sizes.U32()}
	}
	return row
}

// readIndex reads the index of a file of size bytes.
func readIndex(c wire.Cursor, l limits.Limits, size uint64) (*packageIndex, error) {
	version := c.U32()
	if c.BigEndian() && version > 2 {
		version >>= 16 // since DWARF 5 two bytes, and two of padding
	}
	version &= 0xffff
	if c.Err() == nil && (version < 2 || version > 6) {
		c.Fail(0, fmt.Errorf("version %d", version))
	}
	columns, units, slots := uint64(c.U32()), uint64(c.U32()), uint64(c.U32())
	ids, rows := c.Sub(8*slots), c.Sub(4*slots)
	x := &packageIndex{rows: map[uint64]uint32{}, columns: columns}
	x.sections, x.offsets, x.sizes = c.Sub(4*columns), c.Sub(4*columns*units), c.Sub(4*columns*units)
	if c.Err() != nil {
		return nil, c.Err()
	}
	if columns == 0 && units > 0 {
		return nil, &wire.Error{Section: c.Section(), Offset: 4, Err: fmt.Errorf("%d sections", columns)}
	}

	// Rows count from 1; 0 is a slot that is not in use.
	records := bounds.NewRecords(l, limitof.UnitRecords, size)
	for range slots {
		id, row := ids.U64(), uint64(rows.U32())
		if row == 0 || row > units {
			continue
		}
		err := records.Take(1, idMemory)
		if err != nil {
			return nil, &wire.Error{Section: c.Section(), Offset: 4, Err: err}
		}
		x.rows[id] = uint32(row - 1)
	}
	return x, nil
}
