// Package dwarfinfo reads functions, their names, lines and inlined calls from DWARF, with a reader
// that shares no code with the dumper.
//
// A scan reads only the attributes that are compared: ranges, origins and the places of calls.
// Abbreviations are compiled once into steps that skip all other attributes. A scan leaves names
// alone; the name of a DIE is read when a function or a call needs the name, and strings are
// compared by their offsets in sections. Sections are read in place. A section may change while it
// is read, since another process can write to a mapped file: every loop consumes bytes, and every
// length is checked where it is used.
package dwarfinfo

import (
	"debug/elf"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"

	"symkit/elfx"
	"symkit/internal/bounds"
	"symkit/internal/wire"
	"symkit/limits"
)

// Info is the debug information of one file.
type Info struct {
	Path string
	// Alt is dwz's supplementary file, or nil.
	Alt *Info

	file      *elfx.File
	bigEndian bool
	size      int // of the file, in bytes
	limits    limits.Limits
	number    uint64 // 0 of the main file, altNumber of dwz's, a count from 1 of split DWARF files
	info      []byte // see stream for which of these bytes have been inflated
	abbrev    []byte
	line      []byte
	ranges    []byte
	rngLists  []byte
	addr      []byte
	str       []byte
	lineStr   []byte
	offsets   []byte // .debug_str_offsets

	skeleton *Unit // of a split DWARF file
	splits   splits

	stream stream
	units  []*Unit // those that were read, in order
	groups groups

	// records counts the memory of units and abbreviations by the size of the file, heavy is held
	// by the one scan that takes much memory.
	records *bounds.Records
	heavy   sync.Mutex
	tables  map[tableKey]*table
	// tableBudget is the number of bytes of abbreviation tables that may still be compiled.
	tableBudget int
	// work is the number of bytes of strings and of attributes that may still be read for names,
	// workSize the size of the sections that decides on it.
	work     atomic.Int64
	workSize uint64
}

// isaBit returns the bits of an address of code that are the mode of the processor: bit 0 on MIPS,
// whose assemblers set the bit in line tables and in the ends of ranges.
func (d *Info) isaBit() uint64 {
	if d.file != nil && d.file.Machine == elf.EM_MIPS {
		return 1
	}
	return 0
}

// Unit is one unit of .debug_info: what its header (DWARF 5 §7.5.1) and its root DIE state.
type Unit struct {
	Off, root, end int // offsets in .debug_info; root: of the first DIE
	version        uint16
	kind           uint8 // DW_UT, 0 before DWARF 5
	addrSize       uint8
	dwarf64        bool
	in             *Info
	table          *table
	group          *LineGroup
	done           bool

	// Attributes of the root DIE.
	Root     bool   // the root DIE was read
	Split    bool   // the functions are in a .dwo file, see Open
	id       uint64 // of a skeleton and its split unit
	dwoName  string
	lang     uint64
	hasLines bool
	lineOff  uint64 // DW_AT_stmt_list
	compDir  string
	lowPC    uint64
	placed   bool // has addresses, as a skeleton has
	addrBase uint64
	strBase  uint64
	rngBase  uint64
	// rangesBase is where the range lists of a split unit before DWARF 5 begin.
	rangesBase uint64
}

// Kinds of unit (DWARF 5 §7.5.1).
const (
	utType      = 2
	utSkeleton  = 4
	utSplit     = 5
	utSplitType = 6
	utLoUser    = 0x80 // vendors' types go up to 0xff
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
const altNumber = 1<<16 - 1

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

// begin sets the limits.
func (d *Info) begin() {
	d.tables = map[tableKey]*table{}
	d.records = bounds.NewRecords(d.limits, limits.UnitRecords, uint64(d.size))
	d.tableBudget = 64*len(d.abbrev) + 1<<20
	d.workSize = uint64(d.Size() + len(d.str) + len(d.lineStr))
	d.work.Store(int64(min(d.limits.Max(limits.CheckStrings, d.workSize), math.MaxInt64)))
	d.groups.begin(len(d.line), d.limits)
}

// header reads the header of the next unit. It returns false for a unit without a DIE.
func (d *Info) header(c *wire.Cursor) (u *Unit, ok bool) {
	u = &Unit{Off: c.Pos(), in: d}
	n, dwarf64 := c.InitialLength()
	if n == 0 {
		return u, false
	}
	h := c.Sub(n)

	// The order of the fields depends on the version. DWARF 6 has the header of DWARF 5 so far.
	u.dwarf64, u.version, u.end = dwarf64, h.U16(), c.Pos()
	var abbrev uint64
	switch {
	case h.Err() != nil:
	case u.version < 2 || u.version > 6:
		h.Fail(u.Off, fmt.Errorf("version %d", u.version))
	case u.version >= 5:
		u.kind = h.U8()
		if u.kind >= utLoUser && h.Err() == nil {
			return u, false // a vendor's unit: not known to describe code
		}
		u.addrSize, abbrev = h.U8(), h.Offset(dwarf64)
		switch u.kind {
		case utSkeleton, utSplit:
			u.id = h.U64()
		case utType, utSplitType:
			h.Skip(8)
			h.Offset(dwarf64)
		}
	default:
		abbrev, u.addrSize = h.Offset(dwarf64), h.U8()
	}

	// The root DIE follows the header.
	u.root = h.Pos()
	if s := u.addrSize; h.Err() == nil && s != 8 && s != 4 && s != 2 {
		h.Fail(u.Off, fmt.Errorf("address size %d", s))
	}
	if h.Err() != nil {
		c.Fail(u.Off, h.Err())
		return u, false
	}
	u.table = &table{off: abbrev}
	return u, h.Len() > 0
}

// readRoot reads the root DIE. Damage leaves Root false; the scan of the unit finds the damage too.
func (u *Unit) readRoot() {
	// Addresses begin after the header of .debug_addr if no attribute states where, and so do
	// strings and range lists.
	u.addrBase, u.strBase, u.rngBase = u.header(8), u.header(8), u.header(12)
	if u.version < 5 {
		u.addrBase, u.strBase, u.rngBase = 0, 0, 0
	}

	if u.in.skeleton != nil {
		u.addrBase, u.lowPC = u.in.skeleton.addrBase, u.in.skeleton.lowPC
	}

	// The bases come first: other attributes depend on them.
	var e entry
	for _, bases := range []bool{true, false} {
		e = u.entryAt(u.root, func(attr uint64, v value) {
			if bases {
				u.base(attr, v)
			} else {
				u.rootAttr(attr, v)
			}
		})
		u.in.spend(e.cost)
	}
	u.Root = e.ok
	u.Split = u.dwoName != "" && u.placed || e.tag == tagSkeletonUnit
	if u.version >= 5 {
		u.Split = u.kind == utSkeleton
	}
	if u.in.skeleton != nil {
		u.inherit(u.in.skeleton)
	}
}

// header returns the size of the header of a section's contribution (DWARF 5 §7.26 to §7.28), whose
// 32-bit form has n bytes. llvm-dwarfutil (LLVM 19) writes range lists with indices of addresses,
// and no DW_AT_addr_base in the unit. binutils reads such units in this manner, too.
func (u *Unit) header(n uint64) uint64 {
	if u.dwarf64 {
		return n + 8
	}
	return n
}

// base takes an attribute that states where the unit's part of a section begins.
func (u *Unit) base(attr uint64, v value) {
	switch attr {
	case attrAddrBase, attrGNUAddrBase:
		u.addrBase, u.placed = v.num, true
	case attrStrOffsetsBase:
		u.strBase = v.num
	case attrRnglistsBase:
		u.rngBase = v.num
	}
}

// rootAttr takes any other attribute of the root DIE.
func (u *Unit) rootAttr(attr uint64, v value) {
	switch attr {
	case attrLanguage:
		u.lang = v.num
	case attrStmtList:
		u.hasLines, u.lineOff = v.isConstant() || v.form == formSecOffset, v.num
	case attrCompDir:
		dir, _, _ := u.text(v)
		u.compDir = string(dir)
	case attrLowPC:
		u.lowPC, _ = u.address(v)
		u.placed = true
	case attrRanges:
		u.placed = true
	case attrDwoName, attrGNUDwoName:
		name, _, _ := u.text(v)
		u.dwoName = string(name)
	case attrGNUDwoID:
		u.id = v.num
	case attrGNURangesBase:
		u.rangesBase = v.num
	}
}

// Exhausted returns the error for more strings than the limit, nil within the limit.
func (d *Info) Exhausted() error {
	for _, x := range []*Info{d, d.Alt} {
		if x != nil && x.work.Load() < 0 {
			return fmt.Errorf("%s: .debug_info: %w", x.Path, x.limits.Exceeded(limits.CheckStrings, x.workSize))
		}
	}
	return nil
}
