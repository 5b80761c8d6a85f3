package dwarfinfo

import (
	"debug/dwarf"
	"errors"
	"fmt"

	"symkit/check/internal/pcs"
	"symkit/internal/wire"
)

// unitBases is what the root DIE of a unit gives for reading the range lists of the unit.
type unitBases struct {
	lowPC    uint64
	addrBase uint64
	addrSize int
	version  uint16
}

// entryRanges appends the ranges of a DIE that hold code, as the DIE lists them, to dst. The value
// that sets an address decides whether the address is a discarded one: offsets from it may lie in
// other functions' code. debug/dwarf's Ranges returns only the sums.
func (d *Info) entryRanges(dst []pcs.Range, e *dwarf.Entry, u *unitBases, code pcs.Set, budget *int) ([]pcs.Range, error) {
	if f := e.AttrField(dwarf.AttrRanges); f != nil {
		var off uint64
		switch v := f.Val.(type) {
		case int64:
			off = uint64(v)
		case uint64: // DW_FORM_rnglistx, resolved
			off = v
		default:
			return dst, errNoOffset
		}

		if u.version < 5 {
			return d.rangesV4(dst, off, u, code, budget)
		}
		return d.rangesV5(dst, off, u, code, budget)
	}

	// Without a list: one range, whose end is an address or a size.
	low, ok := e.Val(dwarf.AttrLowpc).(uint64)
	if !ok {
		return dst, nil
	}
	var high uint64
	switch v := e.Val(dwarf.AttrHighpc).(type) {
	case uint64:
		high = v
	case int64:
		high = low + uint64(v)
	default:
		return dst, nil
	}
	return appendCode(dst, low, high, code), nil
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
func (d *Info) rangesV4(dst []pcs.Range, off uint64, u *unitBases, code pcs.Set, budget *int) ([]pcs.Range, error) {
	c := wire.New(".debug_ranges", d.ranges, d.bigEndian)
	c.Seek(off)
	base, dead := u.lowPC, false
	mask := ^uint64(0) >> (64 - 8*u.addrSize)
	for {
		lo, hi := c.Uint(u.addrSize), c.Uint(u.addrSize)
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
			base, dead = hi, hi == 1 || isTombstone(hi, u.addrSize)
		} else if !dead {
			dst = appendCode(dst, (base+lo)&mask, (base+hi)&mask, code)
		}
	}
}

// rangesV5 reads a list of .debug_rnglists (DWARF 5 §2.17.3, §7.25).
func (d *Info) rangesV5(dst []pcs.Range, off uint64, u *unitBases, code pcs.Set, budget *int) ([]pcs.Range, error) {
	c := wire.New(".debug_rnglists", d.rngLists, d.bigEndian)
	c.Seek(off)
	base, dead := u.lowPC, false
	mask := ^uint64(0) >> (64 - 8*u.addrSize)
	for {
		kind := c.U8()
		var lo, hi uint64
		switch kind {
		case 0: // end_of_list
			return dst, c.Err()
		case 1: // base_addressx
			base = d.addressx(&c, u)
		case 2: // startx_endx
			lo, hi = d.addressx(&c, u), d.addressx(&c, u)
		case 3: // startx_length
			lo = d.addressx(&c, u)
			hi = lo + c.ULEB()
		case 4: // offset_pair
			lo, hi = base+c.ULEB(), base+c.ULEB()
		case 5: // base_address
			base = c.Uint(u.addrSize)
		case 6: // start_end
			lo, hi = c.Uint(u.addrSize), c.Uint(u.addrSize)
		case 7: // start_length
			lo = c.Uint(u.addrSize)
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
			dead = isTombstone(base, u.addrSize) || base == 0 && !code.Contains(0)
		} else if kind != 4 || !dead {
			dst = appendCode(dst, lo&mask, hi&mask, code)
		}
	}
}

// addressx reads an index into .debug_addr, and returns the address there.
func (d *Info) addressx(c *wire.Cursor, u *unitBases) uint64 {
	at, i := c.Pos(), c.ULEB()
	a := wire.New(".debug_addr", d.addr, d.bigEndian)
	if i > uint64(len(d.addr)) {
		c.Fail(at, wire.ErrOffset)
		return 0
	}
	a.Seek(u.addrBase + i*uint64(u.addrSize))
	v := a.Uint(u.addrSize)
	if a.Err() != nil {
		c.Fail(at, wire.ErrOffset)
	}
	return v
}
