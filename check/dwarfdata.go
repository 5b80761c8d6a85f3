package check

import (
	"bytes"
	"debug/dwarf"
	"fmt"

	"symkit/elfx"
	"symkit/internal/limits"
	"symkit/internal/wire"
)

// dwarfData is the debug information of an image, behind limits: debug/dwarf
// allocates what a count says, and reads abbreviations of all units up front.
type dwarfData struct {
	*dwarf.Data
	units     []unitHeader
	bigEndian bool
	addrSize  int
	line      []byte
	ranges    []byte
	rngLists  []byte
	addr      []byte
	str       []byte
	// alt is dwz's supplementary file, or nil.
	alt *dwarfData
}

// unitHeader is the header of one unit of .debug_info (DWARF 5 §7.5.1).
type unitHeader struct {
	off, root, end dwarf.Offset // root: offset of the first DIE
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

// openDWARF reads the sections. It returns nil without an error for an image
// without debug information; the error says why it cannot be verified.
func openDWARF(f *elfx.File) (d *dwarfData, err error) {
	defer func() {
		if r := recover(); r != nil {
			d, err = nil, recovered("debug/dwarf", r)
		}
	}()
	get := func(name string) []byte {
		data, e := copyOf(f, name)
		if e != nil && err == nil {
			err = e
		}
		return data
	}
	info, abbrev := get(".debug_info"), get(".debug_abbrev")
	d = &dwarfData{
		bigEndian: f.BigEndian, addrSize: f.AddrSize(),
		line: get(".debug_line"), ranges: get(".debug_ranges"), rngLists: get(".debug_rnglists"), addr: get(".debug_addr"),
	}
	d.str = get(".debug_str")
	lineStr, strOffsets := get(".debug_line_str"), get(".debug_str_offsets")
	if err != nil {
		return nil, fmt.Errorf("debug information: %w", err)
	}
	if len(info) == 0 {
		return nil, nil
	}
	if err := d.headers(info); err != nil {
		return nil, err
	}
	if err := d.limitAbbrevs(abbrev); err != nil {
		return nil, err
	}
	d.Data, err = dwarf.New(abbrev, nil, nil, info, d.line, nil, d.ranges, d.str)
	if err != nil {
		return nil, fmt.Errorf("debug/dwarf: %w", err)
	}
	for _, more := range []struct {
		name string
		data []byte
	}{{".debug_line_str", lineStr}, {".debug_str_offsets", d.withoutHeaders(strOffsets)}, {".debug_addr", d.addr}, {".debug_rnglists", d.rngLists}} {
		if more.data == nil {
			continue
		}
		if err := d.AddSection(more.name, more.data); err != nil {
			return nil, fmt.Errorf("debug/dwarf: %w", err)
		}
	}
	// A unit's bases are found, and kept in it, when a reader first comes
	// there. Done here, the readers of several goroutines only read.
	r := d.Reader()
	for i := range d.units {
		r.Seek(d.units[i].root)
	}
	return d, nil
}

// copyOf is a section that stays what it is: debug/dwarf may read for ever in one
// that somebody writes to meanwhile. It is nil where there is none.
func copyOf(f *elfx.File, name string) ([]byte, error) {
	s := f.Section(name)
	if s == nil || !s.Present() {
		return nil, nil
	}
	return s.Copy()
}

// withoutHeaders copies .debug_str_offsets with zeros for the headers of its
// contributions (DWARF 5 §7.26). To find the base of a unit's strings debug/dwarf
// reads the unit's root DIE, and with it strings as if the base were 0: a
// header's length would be an offset into .debug_str, and mostly behind its end.
func (d *dwarfData) withoutHeaders(data []byte) []byte {
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

// recovered turns a panic of a library into an error. A fault in the mapped
// file passes: elfx.Guard has to see it.
func recovered(library string, r any) error {
	if _, ok := r.(interface{ Addr() uintptr }); ok {
		panic(r)
	}
	return fmt.Errorf("%s: %v", library, r)
}

// headers reads the headers of all units.
func (d *dwarfData) headers(info []byte) error {
	c := wire.New(".debug_info", info, d.bigEndian)
	for c.Len() > 0 && len(d.units) < limits.CheckUnits.Int() { // debug/dwarf needs 100 bytes and more for each
		u := unitHeader{off: dwarf.Offset(c.Pos())}
		n, dwarf64 := c.InitialLength()
		if n == 0 {
			continue
		}
		h := c.Sub(n)
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
		u.root = dwarf.Offset(h.Pos())
		if s := u.addrSize; h.Err() == nil && s != 8 && s != 4 && s != 2 {
			h.Fail(int(u.off), fmt.Errorf("address size %d", s))
		}
		if err := h.Err(); err != nil {
			return err
		}
		if h.Len() > 0 {
			d.units = append(d.units, u)
		}
	}
	return c.Err()
}

// limitAbbrevs refuses abbreviation tables that units share in part: each of
// them is kept for itself, so that a small file could need much memory.
func (d *dwarfData) limitAbbrevs(abbrev []byte) error {
	budget := 64*len(abbrev) + 1<<20
	seen := map[uint64]bool{}
	for i := range d.units {
		u := &d.units[i]
		if seen[u.abbrev] {
			continue
		}
		seen[u.abbrev] = true
		c := wire.New(".debug_abbrev", abbrev, d.bigEndian)
		c.Seek(u.abbrev)
		for c.Len() > 0 && c.ULEB() != 0 && budget > 0 {
			c.SkipLEB() // tag
			c.U8()      // children
			for c.Len() > 0 {
				at, attr, form := c.Pos(), c.ULEB(), c.ULEB()
				if form == formImplicitConst {
					c.SkipLEB()
				}
				budget -= c.Pos() - at
				if attr == 0 && form == 0 {
					break
				}
			}
			budget -= 3
		}
		if c.Err() != nil {
			return c.Err()
		}
		if budget <= 0 {
			return fmt.Errorf(".debug_abbrev: units share parts of abbreviation tables: not read")
		}
	}
	return nil
}

const formImplicitConst = 0x21

// lineHeader is what debug/dwarf does not tell of a line table's header.
type lineHeader struct {
	version uint16
	// dirs are the directory numbers of the files of a version 5 table: 0 is
	// the directory of the compilation itself, the others may be relative to it.
	dirs []uint64
}

// lineHeader reads the header of the line table at off, and sees to it that no
// count exceeds the bytes there are.
func (d *dwarfData) lineHeader(off uint64) (t lineHeader, err error) {
	c := wire.New(".debug_line", d.line, d.bigEndian)
	c.Seek(off)
	n, dwarf64 := c.InitialLength()
	h := c.Sub(n)
	if t.version = h.U16(); t.version < 5 {
		return t, h.Err()
	}
	h.Skip(2)
	h.Offset(dwarf64)
	h.Skip(5)
	h.Skip(uint64(max(h.U8(), 1) - 1))
	readLineEntries(&h, dwarf64, nil) // directories
	readLineEntries(&h, dwarf64, func(dir uint64) { t.dirs = append(t.dirs, dir) })
	return t, h.Err()
}

// lnctDirectory is DW_LNCT_directory_index (DWARF 5 §6.2.4.1).
const lnctDirectory = 2

// readLineEntries reads one of the two tables of entries. entry, if not nil,
// gets the directory number of each.
func readLineEntries(h *wire.Cursor, dwarf64 bool, entry func(dir uint64)) {
	forms := make([][2]uint64, h.U8())
	for i := range forms {
		forms[i] = [2]uint64{h.ULEB(), h.ULEB()}
	}
	count := h.ULEB()
	if count > uint64(h.Len()) || len(forms) == 0 && count > 0 {
		h.Fail(h.Pos(), fmt.Errorf("%d entries in %d bytes", count, h.Len()))
	}
	for ; count > 0 && h.Err() == nil; count-- {
		dir := uint64(0)
		for _, f := range forms {
			v := skipLineForm(h, f[1], dwarf64)
			if f[0] == lnctDirectory {
				dir = v
			}
		}
		if entry != nil {
			entry(dir)
		}
	}
}

// skipLineForm passes over a value in a line table's header (DWARF 5 §6.2.4.1),
// and returns it if its form is one that a directory number can have.
func skipLineForm(c *wire.Cursor, form uint64, dwarf64 bool) (v uint64) {
	switch form {
	case 0x08: // string
		c.CString()
	case 0x0e, 0x1f: // strp, line_strp
		c.Offset(dwarf64)
	case 0x0b: // data1
		return uint64(c.U8())
	case 0x25: // strx1
		c.Skip(1)
	case 0x05: // data2
		return uint64(c.U16())
	case 0x26: // strx2
		c.Skip(2)
	case 0x06, 0x28: // data4, strx4
		c.Skip(4)
	case 0x07: // data8
		c.Skip(8)
	case 0x1e: // data16
		c.Skip(16)
	case 0x0f: // udata
		return c.ULEB()
	case 0x1a: // strx
		c.SkipLEB()
	case 0x09: // block
		c.Skip(c.ULEB())
	default:
		c.Fail(c.Pos(), fmt.Errorf("unknown form %#x", form))
	}
	return 0
}
