package dwarfinfo

import (
	"debug/elf"
	"fmt"
	"math"
	"strings"

	"symkit/elfx"
	"symkit/internal/bounds"
	"symkit/internal/limitof"
	"symkit/internal/wire"
	"symkit/limits"
)

// Open finds the sections of a file. Open returns nil for a file without debug information.
// The limits l bound the cost of reading.
func Open(f *elfx.File, l limits.Limits) *Info {
	s := f.Section(".debug_info")
	if s == nil || !s.Present() {
		return nil
	}
	return &Info{file: f, bigEndian: f.BigEndian, Path: f.Path(), size: f.Size(), limits: l}
}

// altNumber is the number of a supplementary file: its strings are not those of the main file
// at the same offsets.
const altNumber = 1<<24 - 1

// OpenAlt is Open for dwz's supplementary file.
func OpenAlt(f *elfx.File, l limits.Limits) *Info {
	d := Open(f, l)
	if d != nil {
		d.number = altNumber
	}
	return d
}

// Load reads the sections, .debug_info only if Units cannot inflate it or whole is set. The
// error states why the debug information cannot be verified.
func (d *Info) Load(whole bool) (err error) {
	get := func(name string) []byte {
		s := d.file.Section(name)
		if s == nil || !s.Present() {
			return nil
		}
		data, e := s.Data()
		if e != nil && err == nil {
			err = fmt.Errorf("debug information: %w", e)
		}
		return data
	}
	d.abbrev, d.line, d.ranges, d.rngLists = get(".debug_abbrev"), get(".debug_line"), get(".debug_ranges"), get(".debug_rnglists")
	d.addr, d.str, d.lineStr, d.offsets = get(".debug_addr"), get(".debug_str"), get(".debug_line_str"), get(".debug_str_offsets")

	// Memory can be released before the end only if no unit can refer to another one.
	s := d.file.Section(".debug_info")
	size, e := s.UncompressedSize()
	d.stream.alone = !whole && selfContained(d.abbrev)
	switch {
	case err != nil:
	case e == nil && !whole && d.stream.alone && s.Streams():
		d.stream.size = int(size)
	default:
		d.info = get(".debug_info")
	}
	d.begin()
	return err
}

// selfContained reports whether no unit with abbreviations of this section can refer to another
// one (DW_FORM_ref_addr).
func selfContained(abbrev []byte) bool {
	c := wire.New(".debug_abbrev", abbrev, false)
	for c.Len() > 0 {
		if c.ULEB() == 0 {
			continue
		}
		c.SkipLEB() // tag
		c.U8()      // children
		for c.Len() > 0 {
			attr, form := c.ULEB(), c.ULEB()
			switch {
			case form == formRefAddr || form == formIndirect:
				return false
			case form == formImplicitConst:
				c.SkipLEB()
			}
			if attr == 0 && form == 0 {
				break
			}
		}
	}
	return c.Err() == nil
}

// begin sets the limits.
func (d *Info) begin() {
	d.tables = map[tableKey]*table{}
	d.records = bounds.NewRecords(d.limits, limitof.UnitRecords, uint64(d.size))
	d.tableBudget = 64*len(d.abbrev) + 1<<20
	d.workSize = uint64(d.Size() + len(d.str) + len(d.lineStr))
	d.work.Store(int64(min(d.limits.Max(limitof.CheckStrings, d.workSize), math.MaxInt64)))
	d.groups.begin(len(d.line), d.limits)
}

// Release forgets all units, and gives the pages of sections back to the system, after the last
// name and line table was read. Names stay valid. Sections that are inflated or relocated stay in
// memory, since others may be reading the same file.
func (d *Info) Release() {
	for _, name := range []string{
		".debug_info", ".debug_abbrev", ".debug_line", ".debug_ranges", ".debug_rnglists",
		".debug_addr", ".debug_str", ".debug_line_str", ".debug_str_offsets",
	} {
		s := d.file.Section(name)
		if s != nil && d.file.Type != elf.ET_REL && s.Flags&elf.SHF_COMPRESSED == 0 && strings.HasPrefix(s.Name, ".debug_") {
			s.Discard(0, s.Size)
		}
	}
	d.abbrev, d.line, d.ranges, d.rngLists = nil, nil, nil, nil
	d.addr, d.str, d.lineStr, d.offsets = nil, nil, nil, nil

	d.units, d.tables, d.groups = nil, nil, groups{}
	if d.Alt != nil {
		d.Alt.Release()
	}
}
