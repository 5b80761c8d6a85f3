package dwarfx

import (
	"bytes"
	"debug/dwarf"
	"fmt"
	"hash/maphash"

	"symkit/internal/limitof"
	"symkit/internal/wire"
	"symkit/limits"
	"symkit/located"
)

// Compilers write an abbreviation table for each unit, but nine of ten abbreviations of a
// table also occur in the table of an earlier unit. So units of one kind (setKey) share an
// abbrevSet: an abbreviation is looked up by its bytes without the code, and compiled only
// if it is new. A set only grows, and elements never change: a table
// keeps a copy of the slices and reads them without a lock while others append.

// read reads an abbreviation of u whose code is at offset at; c is after the code. It
// returns the index of the abbreviation.
func (x *abbrevSet) read(d *Data, u *Unit, c *wire.Cursor, at int) (uint32, error) {
	start := c.Pos()
	n, _ := declaration(c.Rest())
	text := d.Abbrev[start:][:n]
	hash := uint32(maphash.Bytes(x.seed, text))
	known := x.slot(hash, func(at uint32) bool { return n > 0 && bytes.HasPrefix(d.Abbrev[at:], text) })
	if known.index != 0 {
		c.Skip(uint64(n))
		return known.index - 1, nil
	}

	// The abbreviation is new.
	tag := c.ULEB()
	if tag > 0xffff {
		c.Fail(at, fmt.Errorf("tag %#x", tag))
	}
	a := abbrev{
		tag: uint16(tag), children: c.U8() != 0,
		class: classOf(dwarf.Tag(tag), x.family),
		specs: uint32(c.Pos()), ops: uint32(len(x.ops)), consts: uint32(len(x.consts)),
	}

	if err := x.compile(u, c, d.Limits, &a); err != nil {
		return 0, err
	}
	if !d.remember(abbrevMemory + specMemory*int(a.nops)) {
		return 0, &located.Error{Section: ".debug_abbrev", Offset: at, Err: d.Limits.Exceeded(limitof.UnitRecords, d.FileSize)}
	}
	x.addSkips(d, u, &a)
	x.abbrevs = append(x.abbrevs, a)
	i := uint32(len(x.abbrevs))

	// Bytes with padded numbers are not known by their length, and stay unknown.
	if start+n == c.Pos() {
		*known = knownAbbrev{hash, uint32(start), i}
		if int(i) > len(x.known)/2 {
			x.grow()
		}
	}
	return i - 1, nil
}

// slot returns the slot of the abbreviation that has a hash and whose bytes, at an
// offset, same accepts; or a free slot for it.
func (x *abbrevSet) slot(hash uint32, same func(at uint32) bool) *knownAbbrev {
	for i := hash; ; i++ {
		k := &x.known[i&uint32(len(x.known)-1)]
		if k.index == 0 || k.hash == hash && same(k.text) {
			return k
		}
	}
}

// grow doubles the slots.
func (x *abbrevSet) grow() { x.rehash(2 * len(x.known)) }

// rehash gives x another number of slots, for its abbreviations.
func (x *abbrevSet) rehash(slots int) {
	old := x.known
	x.known = make([]knownAbbrev, slots)
	clear(x.known) // pages that are read before they are written cost the system twice
	for _, k := range old {
		if k.index != 0 && int(k.index) <= len(x.abbrevs) {
			*x.slot(k.hash, func(uint32) bool { return false }) = k
		}
	}
}

// cut removes the abbreviations that x has beyond those of before, which no table uses.
func (x *abbrevSet) cut(before compiled) {
	more := len(x.abbrevs) > len(before.abbrevs)
	x.compiled = before
	if more {
		x.rehash(len(x.known))
	}
}

// SelfContained reports whether no unit can refer to another one: no abbreviation of
// abbrev, a whole .debug_abbrev, has a form for that. It returns false if abbrev is
// damaged.
func SelfContained(abbrev []byte) bool {
	for at := 0; at < len(abbrev); {
		if abbrev[at] == 0 { // the end of a table
			at++
			continue
		}
		at, _ = lebEnd(abbrev, at)
		n, crossing := declaration(abbrev[min(at, len(abbrev)):])
		if n == 0 || crossing {
			return false
		}
		at += n
	}
	return true
}

// compile reads the attribute specifications of a and appends its program.
func (x *compiled) compile(u *Unit, c *wire.Cursor, l limits.Limits, a *abbrev) error {
	seen := uint64(0) // slots: an attribute occurs once (DWARF 5 §2.2)
	most := l.Max(limitof.AbbrevAttributes, 0)
	for n := uint64(0); ; n++ {
		at := c.Pos()
		if n > most {
			failSpecs(c, l)
		}
		s, ok := readSpec(c)
		if !ok {
			a.nops = uint32(len(x.ops)) - a.ops
			return c.Err()
		}

		size, known := formSize(u, s.form)
		if !known {
			return &located.Error{Section: ".debug_abbrev", Offset: at, Err: fmt.Errorf("%w %#x", ErrForm, s.form)}
		}
		a.crossing = a.crossing || isCrossing(s.form)
		a.typed = a.typed || s.attr == attrType
		slot, wanted := scanSlot(a.class, s.attr)
		wanted = wanted && seen&(1<<slot) == 0
		if wanted {
			seen |= 1 << slot
		}

		// An attribute of size 0 that is not wanted needs no op.
		switch {
		case s.attr == attrSibling && a.children && !a.hasSibling && isUnitRef(s.form):
			a.hasSibling = true
			x.ops = append(x.ops, op{sized(opSibling, size), 0, s.form})
		case wanted && s.form == formImplicitConst:
			x.ops = append(x.ops, op{opConst, slot, uint16(len(x.consts) - int(a.consts))})
			x.consts = append(x.consts, s.implicit)
		case wanted && s.form != formImplicitConst:
			x.ops = append(x.ops, op{sized(opValue, size), slot, s.form})
		case size < 0:
			x.ops = append(x.ops, op{opSkipForm, 0, s.form})
		case size > 0:
			x.skip(a, size)
		}
	}
}

// sized returns the kind of op for a value of a size: the given one or a faster one.
func sized(kind opKind, size int) opKind {
	switch {
	case kind == opSibling && size == 4:
		return opSibling4
	case kind == opValue && size == 4:
		return opValue4
	case kind == opValue && size == 8:
		return opValue8
	}
	return kind
}

// skip appends size bytes to skip to the program of a.
func (x *compiled) skip(a *abbrev, size int) {
	last := len(x.ops) - 1
	if last >= int(a.ops) && x.ops[last].kind == opSkip && int(x.ops[last].n)+size < 1<<16 {
		x.ops[last].n += uint16(size)
		return
	}
	x.ops = append(x.ops, op{opSkip, 0, uint16(size)})
}
