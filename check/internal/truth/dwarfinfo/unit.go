package dwarfinfo

import (
	"bytes"
	"fmt"

	"symkit/internal/wire"
)

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
	case u.version == 0 && len(bytes.TrimLeft(h.Bytes(uint64(h.Len())), "\x00")) == 0:
		return u, false // Zig's linker fills gaps with such units
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

// inherit copies the skeleton's values into a split unit, before the split unit's own attributes
// are read.
func (u *Unit) inherit(skeleton *Unit) {
	u.addrBase, u.lowPC, u.group = skeleton.addrBase, skeleton.lowPC, skeleton.group
	u.rangesBase, u.Split = skeleton.rangesBase, false
	if u.version < 5 && u.lang == 0 {
		u.lang = skeleton.lang
	}
}
