package dwarfx

import (
	"fmt"

	"symkit/located"
)

// Ranges come as pairs of attributes, as lists of .debug_ranges (DWARF 2 to 4), or as
// lists of .debug_rnglists (DWARF 5). All readers drop ranges of discarded code, which
// begin where no code lies, and all count the entries they read against a budget, so that
// many DIEs that refer to one long list have a bounded cost.

// appendRange appends [lo, hi) unless it is empty, runs backwards or starts
// where no code lies: then it describes discarded code.
func (d *Data) appendRange(dst []Range, lo, hi uint64) []Range {
	if d.ISABit {
		lo, hi = lo&^1, hi&^1
	}
	if lo < hi && d.code.Contains(lo) {
		return append(grown(dst), Range{Lo: lo, Hi: hi})
	}
	return dst
}

// appendRanges appends the ranges that a DW_AT_ranges value of u gives. It
// takes the entries it reads from *budget and fails when that is used up.
func (d *Data) appendRanges(dst []Range, u *Unit, v value, budget *int) ([]Range, error) {
	switch {
	case u.Version < 5:
		return d.appendRangesV4(dst, u, v.v+u.rangesBase, budget)
	case v.form == formRnglistx:
		off, ok := d.indexed(d.RngLists, u.rngListsBase, v.v, u.offsetSize())
		if !ok {
			return dst, &located.Error{Section: ".debug_rnglists", Offset: int(min(u.rngListsBase, uint64(len(d.RngLists)))),
				Err: fmt.Errorf("range list %d: %w", v.v, located.ErrOffset)}
		}
		return d.appendRngList(dst, u, u.rngListsBase+off, budget)
	}
	return d.appendRngList(dst, u, v.v, budget)
}

// appendRangesV4 reads a list of .debug_ranges (DWARF 4 §2.17.3).
func (d *Data) appendRangesV4(dst []Range, u *Unit, off uint64, budget *int) ([]Range, error) {
	c := d.cursor(".debug_ranges", d.Ranges)
	c.Seek(off)
	size, base, dead := int(u.AddrSize), u.LowPC, tombstone(u.LowPC, u.AddrSize)
	top := ^uint64(0) >> (64 - 8*u.AddrSize)

	for ; ; *budget-- {
		if *budget <= 0 {
			c.Fail(c.Pos(), ErrTooMany)
		}
		lo, hi := c.Uint(size), c.Uint(size)
		switch {
		case lo == 0 && hi == 0 || c.Err() != nil:
			return dst, c.Err()
		case lo == top:
			// GNU ld writes 1 for the base of a discarded section, since 0 would
			// end the list.
			base, dead = hi, hi == 1 || tombstone(hi, u.AddrSize)
		case !dead:
			dst = d.appendRange(dst, (base+lo)&top, (base+hi)&top)
		}
	}
}

// RootEntries returns how many entries the range lists of all roots may have together.
// An entry takes at least three bytes.
func (s *Sections) RootEntries() int { return (len(s.Ranges)+len(s.RngLists))/3 + 1<<16 }

// Kinds of range list entries (DWARF 5 §7.25).
const (
	rleEnd          = 0
	rleBaseAddressx = 1
	rleStartxEndx   = 2
	rleStartxLength = 3
	rleOffsetPair   = 4
	rleBaseAddress  = 5
	rleStartEnd     = 6
	rleStartLength  = 7
)

// deadBase reports whether entries relative to a base describe discarded code: in a
// large discarded section, base + offset may lie in other code.
func (d *Data) deadBase(base uint64, addrSize uint8) bool {
	return tombstone(base, addrSize) || base == 0 && !d.code.Contains(0)
}

// appendRngList reads a list of .debug_rnglists (DWARF 5 §2.17.3).
func (d *Data) appendRngList(dst []Range, u *Unit, off uint64, budget *int) ([]Range, error) {
	c := d.cursor(".debug_rnglists", d.RngLists)
	c.Seek(off)
	size, base, dead := int(u.AddrSize), u.LowPC, tombstone(u.LowPC, u.AddrSize)
	top := ^uint64(0) >> (64 - 8*u.AddrSize)

	// Entries with an index have their address in .debug_addr.
	addrx := func() uint64 {
		at, i := c.Pos(), c.ULEB()
		a, ok := d.indexed(d.Addr, u.addrBase, i, uint64(size))
		if !ok {
			c.Fail(at, fmt.Errorf(".debug_addr entry %d: %w", i, located.ErrOffset))
		}
		return a
	}

	for ; ; *budget-- {
		at := c.Pos()
		if *budget <= 0 {
			c.Fail(at, ErrTooMany)
		}

		var lo, hi uint64
		switch kind := c.U8(); kind {
		case rleEnd: // or a failure
			return dst, c.Err()
		case rleBaseAddressx, rleBaseAddress:
			if kind == rleBaseAddressx {
				base = addrx()
			} else {
				base = c.Uint(size)
			}
			dead = d.deadBase(base, u.AddrSize)
			continue
		case rleStartxEndx:
			lo, hi = addrx(), addrx()
		case rleStartxLength:
			lo = addrx()
			hi = lo + c.ULEB()
		case rleOffsetPair:
			lo, hi = base+c.ULEB(), base+c.ULEB()
			if dead {
				continue
			}
		case rleStartEnd:
			lo, hi = c.Uint(size), c.Uint(size)
		case rleStartLength:
			lo = c.Uint(size)
			hi = lo + c.ULEB()
		default:
			c.Fail(at, fmt.Errorf("%w %d", ErrRangeKind, kind))
		}
		if c.Err() != nil {
			return dst, c.Err()
		}
		dst = d.appendRange(dst, lo&top, hi&top)
	}
}

// RootRanges appends to dst the ranges of code that the root DIE of u gives. If the root gives
// none, as in units of some assemblers and of dwz, dst is returned as it is. The entries of range
// lists are taken from *entries: the lists of a file can be one list, of all its bytes, of all units.
func (u *Unit) RootRanges(dst []Range, entries *int) ([]Range, error) {
	d := u.data
	c := d.unitCursor(u, u.first)
	code := c.ULEB()
	if code == 0 || c.Err() != nil {
		return dst, c.Err()
	}
	specs, err := d.findSpecs(u, code)
	if err != nil {
		return dst, err
	}
	var root slots
	err = d.readAttrs(u, &c, specs, &root)
	if err != nil {
		return dst, err
	}

	// Without a list the root has one range, or a base address alone.
	if root.has(slotRanges) {
		return d.appendRanges(dst, u, root[slotRanges], entries)
	}
	lo, ok := d.address(u, root[slotLowPC])
	hi, isAddress := d.address(u, root[slotHighPC])
	switch {
	case !root.has(slotLowPC) || !root.has(slotHighPC) || !ok:
		return dst, nil
	case !isAddress && root[slotHighPC].isConstant():
		hi = lo + root[slotHighPC].v
	case !isAddress:
		return dst, nil
	}
	return d.appendRange(dst, lo, hi), nil
}
