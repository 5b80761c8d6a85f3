package dwarfinfo

import (
	"errors"
	"fmt"

	"symkit/check/internal/pcs"
	"symkit/internal/wire"
)

// rangesOffset returns where the list of DW_AT_ranges begins, in .debug_ranges or .debug_rnglists.
func (u *Unit) rangesOffset(v value) (uint64, bool) {
	d := u.in
	switch {
	case v.form == formSecOffset || v.isConstant():
		if d.skeleton != nil {
			return u.rangesBase + v.num, true
		}
		return v.num, true
	case v.form != formRnglistx || v.num > uint64(len(d.rngLists)):
		return 0, false
	}

	// An index into the offsets after the header, which count from there.
	size := uint64(4)
	if u.dwarf64 {
		size = 8
	}
	c := wire.New(".debug_rnglists", d.rngLists, d.bigEndian)
	c.Seek(u.rngBase + v.num*size)
	off := u.rngBase + c.Offset(u.dwarf64)
	return off, c.Err() == nil
}

// appendCode appends a range that is not empty and begins in code.
func appendCode(dst []pcs.Range, lo, hi uint64, code pcs.Set) []pcs.Range {
	if lo < hi && code.Contains(lo) {
		return append(dst, pcs.Range{Lo: lo, Hi: hi})
	}
	return dst
}

// isTombstone reports whether addr is a value, other than 0, that linkers write for discarded code:
// one of the two largest of the address size.
func isTombstone(addr uint64, size int) bool { return addr >= ^uint64(0)>>(64-8*size)-1 }

// Reasons for not reading a range list. errShared: many DIEs refer to the list, which no producer
// writes.
var (
	errShared   = errors.New("range lists are shared beyond measure")
	errNoOffset = errors.New("DW_AT_ranges is no offset")
)

// rangesV4 reads a list of .debug_ranges (DWARF 4 §2.17.3).
func (u *Unit) rangesV4(dst []pcs.Range, off uint64, code pcs.Set, budget *int) ([]pcs.Range, error) {
	d, size := u.in, int(u.addrSize)
	c := wire.New(".debug_ranges", d.ranges, d.bigEndian)
	c.Seek(off)
	base, dead := u.lowPC, false
	mask := ^uint64(0) >> (64 - 8*size)
	for {
		lo, hi := c.Uint(size), c.Uint(size)
		if c.Err() != nil || lo == 0 && hi == 0 {
			return dst, c.Err()
		}

		// Each entry read counts against the unit's limit.
		*budget--
		if *budget < 0 {
			return dst, errShared
		}

		if lo == mask {
			// GNU ld writes 1 where 0 would end the list.
			base, dead = hi, hi == 1 || isTombstone(hi, size)
		} else if !dead {
			dst = appendCode(dst, (base+lo)&mask, (base+hi)&mask, code)
		}
	}
}

// rangesV5 reads a list of .debug_rnglists (DWARF 5 §2.17.3, §7.25).
func (u *Unit) rangesV5(dst []pcs.Range, off uint64, code pcs.Set, budget *int) ([]pcs.Range, error) {
	d, size := u.in, int(u.addrSize)
	c := wire.New(".debug_rnglists", d.rngLists, d.bigEndian)
	c.Seek(off)
	base, dead := u.lowPC, false
	mask := ^uint64(0) >> (64 - 8*size)
	for {
		kind := c.U8()
		var lo, hi uint64
		switch kind {
		case 0: // end_of_list
			return dst, c.Err()
		case 1: // base_addressx
			base = u.addressx(&c)
		case 2: // startx_endx
			lo, hi = u.addressx(&c), u.addressx(&c)
		case 3: // startx_length
			lo = u.addressx(&c)
			hi = lo + c.ULEB()
		case 4: // offset_pair
			lo, hi = base+c.ULEB(), base+c.ULEB()
		case 5: // base_address
			base = c.Uint(size)
		case 6: // start_end
			lo, hi = c.Uint(size), c.Uint(size)
		case 7: // start_length
			lo = c.Uint(size)
			hi = lo + c.ULEB()
		default:
			c.Fail(c.Pos()-1, fmt.Errorf("unknown kind of range list entry %#x", kind))
		}
		if c.Err() != nil {
			return dst, c.Err()
		}
		*budget--
		if *budget < 0 {
			return dst, errShared
		}

		// A discarded base address discards the offsets from it.
		if kind == 1 || kind == 5 {
			dead = isTombstone(base, size) || base == 0 && !code.Contains(0)
		} else if kind != 4 || !dead {
			dst = appendCode(dst, lo&mask, hi&mask, code)
		}
	}
}

// addressx reads an index into .debug_addr, and returns the address there.
func (u *Unit) addressx(c *wire.Cursor) uint64 {
	at := c.Pos()
	v, ok := u.indexed(c.ULEB())
	if !ok {
		c.Fail(at, wire.ErrOffset)
	}
	return v
}
