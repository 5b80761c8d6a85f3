// Package dwarfinfo reads functions, their names, lines and inlined calls from DWARF, by
// debug/dwarf, within limits that debug/dwarf does not have.
package dwarfinfo

import (
	"bytes"
	"debug/dwarf"
	"fmt"
	"sync/atomic"

	"symkit/check/internal/truth"
	"symkit/elfx"
	"symkit/internal/wire"
	"symkit/limits"
)

// Info is the debug information of an image. Open checks it against limits before debug/dwarf reads
// it: debug/dwarf allocates as much as a count demands, and reads the abbreviations of all units in
// advance.
type Info struct {
	*dwarf.Data
	Units     []Unit
	Groups    []LineGroup // of units, without type units
	bigEndian bool
	addrSize  int
	Path      string
	size      int // of the file, in bytes
	limits    limits.Limits
	line      []byte
	ranges    []byte
	rngLists  []byte
	addr      []byte
	str       []byte
	lineStr   []byte
	// strings is the number of bytes of strings that may still be read, stringSize the size of the
	// sections that decides on it. manyStrings is the largest number of strings of an abbreviation.
	strings     atomic.Int64
	stringSize  uint64
	manyStrings uint64
	// Alt is dwz's supplementary file, or nil.
	Alt *Info
}

// Unit is the header of one unit of .debug_info (DWARF 5 §7.5.1).
type Unit struct {
	Off, root, end dwarf.Offset // root: offset of the first DIE
	version        uint16
	kind           uint8 // DW_UT, 0 before DWARF 5
	addrSize       uint8
	dwarf64        bool
	abbrev         uint64
}

// Kinds of unit (DWARF 5 §7.5.1).
const (
	utType      = 2
	utSkeleton  = 4
	utSplitType = 6
)

// Open reads the sections. It returns nil without an error for an image without debug information.
// An error states why the debug information cannot be verified. What is read is within the limits l.
func Open(f *elfx.File, l limits.Limits) (d *Info, err error) {
	defer func() {
		if r := recover(); r != nil {
			d, err = nil, truth.Recovered("debug/dwarf", r)
		}
	}()
	get := func(name string) []byte {
		data, e := copyOf(f, name)
		if e != nil && err == nil {
			err = e
		}
		return data
	}

	// The sections are copied, and given to debug/dwarf at the end.
	info, abbrev := asVersion5(get(".debug_info"), f.BigEndian), get(".debug_abbrev")
	d = &Info{
		bigEndian: f.BigEndian, addrSize: f.AddrSize(), Path: f.Path(), size: f.Size(), limits: l,
		line: asVersion5(get(".debug_line"), f.BigEndian), ranges: get(".debug_ranges"), rngLists: get(".debug_rnglists"), addr: get(".debug_addr"),
	}

	d.str = get(".debug_str")
	d.lineStr = get(".debug_line_str")
	strOffsets := get(".debug_str_offsets")
	if err != nil {
		return nil, fmt.Errorf("debug information: %w", err)
	}
	if len(info) == 0 {
		return nil, nil
	}

	// Limits first.
	if err := d.headers(info); err != nil {
		return nil, err
	}
	if err := d.limitAbbrevs(abbrev); err != nil {
		return nil, err
	}
	if err := d.limitStrings(info); err != nil {
		return nil, err
	}

	d.Data, err = dwarf.New(abbrev, nil, nil, info, d.line, nil, d.ranges, d.str)
	if err != nil {
		return nil, fmt.Errorf("debug/dwarf: %w", err)
	}

	// Sections that DWARF 5 added.
	for _, more := range []struct {
		name string
		data []byte
	}{{".debug_line_str", d.lineStr}, {".debug_str_offsets", d.withoutHeaders(strOffsets)}, {".debug_addr", d.addr}, {".debug_rnglists", d.rngLists}} {
		if more.data == nil {
			continue
		}
		if err := d.AddSection(more.name, more.data); err != nil {
			return nil, fmt.Errorf("debug/dwarf: %w", err)
		}
	}

	d.groupLines()
	return d, nil
}

// asVersion5 changes the version of units and line tables of DWARF 6 to 5, and returns data. DWARF
// 6 differs from DWARF 5 only in new attributes so far, but debug/dwarf rejects version 6.
func asVersion5(data []byte, bigEndian bool) []byte {
	c := wire.New("", data, bigEndian)
	for c.Len() > 0 {
		n, _ := c.InitialLength()
		at := c.Pos()
		h := c.Sub(n)
		if version := h.U16(); version == 6 && h.Err() == nil {
			data[at], data[at+1] = 5, 5
			if bigEndian {
				data[at] = 0
			} else {
				data[at+1] = 0
			}
		}
	}
	return data
}

// copyOf returns a copy of a section: debug/dwarf may not end on a section that another process
// writes to meanwhile. It returns nil if there is no such section.
func copyOf(f *elfx.File, name string) ([]byte, error) {
	s := f.Section(name)
	if s == nil || !s.Present() {
		return nil, nil
	}
	return s.Copy()
}

// withoutHeaders copies .debug_str_offsets with zeros for the headers of its contributions (DWARF 5
// §7.26). To find the base of a unit's strings debug/dwarf reads the unit's root DIE, and with it
// strings as if the base were 0: a header's length would be an offset into .debug_str, and mostly
// after the section's end.
func (d *Info) withoutHeaders(data []byte) []byte {
	c := wire.New(".debug_str_offsets", data, d.bigEndian)
	out := bytes.Clone(data)
	for c.Len() > 0 {
		at := c.Pos()
		n, _ := c.InitialLength()
		h := c.Sub(n)
		h.Skip(4) // version, padding
		if h.Err() == nil {
			clear(out[at:h.Pos()])
		}
	}
	return out
}

// headers reads the headers of all units.
func (d *Info) headers(info []byte) error {
	c := wire.New(".debug_info", info, d.bigEndian)
	for c.Len() > 0 && len(d.Units) < d.limits.Int(limits.CheckUnits) { // debug/dwarf needs 100 bytes and more for each
		u := Unit{Off: dwarf.Offset(c.Pos())}
		n, dwarf64 := c.InitialLength()
		if n == 0 {
			continue
		}
		h := c.Sub(n)

		// The order of the fields depends on the version.
		u.dwarf64, u.version, u.end = dwarf64, h.U16(), dwarf.Offset(c.Pos())
		if u.version >= 5 {
			u.kind, u.addrSize, u.abbrev = h.U8(), h.U8(), h.Offset(dwarf64)
			switch u.kind {
			case utSkeleton, utSkeleton + 1:
				h.Skip(8)
			case utType, utSplitType:
				h.Skip(8)
				h.Offset(dwarf64)
			}
		} else {
			u.abbrev, u.addrSize = h.Offset(dwarf64), h.U8()
		}

		// The root DIE follows the header.
		u.root = dwarf.Offset(h.Pos())
		if s := u.addrSize; h.Err() == nil && s != 8 && s != 4 && s != 2 {
			h.Fail(int(u.Off), fmt.Errorf("address size %d", s))
		}
		if err := h.Err(); err != nil {
			return err
		}

		if h.Len() > 0 {
			d.Units = append(d.Units, u)
		}
	}
	return c.Err()
}
