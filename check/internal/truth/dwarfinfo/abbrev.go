package dwarfinfo

import (
	"cmp"
	"errors"
	"fmt"

	"symkit/internal/limitof"
	"symkit/internal/wire"
)

// table is one table of .debug_abbrev, compiled for the units with one size of addresses and of
// offsets.
type table struct {
	off     uint64 // in .debug_abbrev
	dense   []abbrev
	sparse  map[uint64]int32 // index in dense of codes that are not their index plus 1
	steps   []step
	numbers []uint64 // of DW_FORM_implicit_const
}

// tableKey has all that a compiled table depends on.
type tableKey struct {
	off      uint64
	version  uint16
	addrSize uint8
	dwarf64  bool
}

// abbrev is one abbreviation. Steps read the attributes that a scan needs of a DIE, and skip
// the others.
type abbrev struct {
	tag      uint16
	kind     kind
	children bool
	fixed    int32  // number of bytes if steps skip all of them and know how many; otherwise -1
	from, to uint32 // of table.steps
	decl     uint32 // offset of the attributes in .debug_abbrev
}

// step reads or skips attributes.
type step struct {
	form uint16 // formSkip: skips n bytes
	slot slot
	n    uint32 // bytes to skip, or an index in table.numbers
}

// slot is where a scan keeps an attribute.
type slot uint8

const (
	slotNone slot = iota
	slotSibling
	slotLow
	slotHigh
	slotRanges
	slotOrigin
	slotCallFile
	slotCallLine
	slots
)

// kind decides how a scan treats a DIE.
type kind uint8

const (
	kindOther kind = iota // and with the DIEs in it
	kindScope             // a namespace or type
	kindFunction
	kindCall
	kindBlock
	kindUnit
)

// Tags of DIEs (DWARF 5 §7.5.3).
const tagSkeletonUnit = 0x4a

// kindOf returns the kind of a tag.
func kindOf(tag uint64) kind {
	switch tag {
	case 0x11, 0x3c, tagSkeletonUnit: // compile_unit, partial_unit
		return kindUnit
	case 0x39, 0x1e, 0x02, 0x13, 0x17, 0x38, 0x04: // namespace, module, class, structure, union, interface, enumeration type
		return kindScope
	case 0x2e:
		return kindFunction
	case 0x1d:
		return kindCall
	case 0x0b, 0x32, 0x25, 0x22: // lexical, try and catch block, with statement
		return kindBlock
	}
	return kindOther
}

// slotOf returns where a scan keeps an attribute of a DIE of some kind.
func slotOf(k kind, attr uint64, children bool) slot {
	switch code := k == kindFunction || k == kindCall; {
	case attr == attrSibling && k == kindOther && children:
		return slotSibling
	case attr == attrLowPC && code:
		return slotLow
	case attr == attrHighPC && code:
		return slotHigh
	case attr == attrRanges && code:
		return slotRanges
	case k != kindCall:
	case attr == attrAbstractOrigin:
		return slotOrigin
	case attr == attrCallFile:
		return slotCallFile
	case attr == attrCallLine:
		return slotCallLine
	}
	return slotNone
}

var errSharedAbbrevs = errors.New(".debug_abbrev: units share parts of abbreviation tables: not read")

// tableOf returns the compiled table of a unit, of which only the offset is known.
func (d *Info) tableOf(u *Unit) (*table, error) {
	key := tableKey{u.table.off, u.version, u.addrSize, u.dwarf64}
	if t, ok := d.tables[key]; ok {
		return t, nil
	}

	// Tables that do not overlap have at most as many bytes as the section.
	t := &table{off: key.off}
	c := wire.New(".debug_abbrev", d.abbrev, d.bigEndian)
	c.Seek(key.off)
	at := c.Pos()
	var err error
	for steps, mapped := 0, 0; err == nil && t.declaration(&c, u); steps, mapped = len(t.steps), len(t.sparse) {
		err = d.take(1, abbrevBytes+stepBytes*(len(t.steps)-steps)+sparseBytes*(len(t.sparse)-mapped))
	}
	d.tableBudget -= c.Pos() - at
	if c.Err() != nil || err != nil {
		return nil, cmp.Or(c.Err(), err)
	}
	if d.tableBudget < 0 {
		return nil, errSharedAbbrevs
	}
	d.tables[key] = t
	return t, nil
}

// declaration compiles the next abbreviation (DWARF 5 §7.5.3). It returns false at the end of the
// table.
func (t *table) declaration(c *wire.Cursor, u *Unit) bool {
	start := c.Pos()
	code := c.ULEB()
	if code == 0 {
		return false
	}
	tag := c.ULEB()
	a := abbrev{tag: uint16(min(tag, 0xffff)), kind: kindOf(tag), children: c.U8() != 0, from: uint32(len(t.steps)), decl: uint32(c.Pos())}

	// Of several attributes with one name the first counts.
	var taken [slots]bool
	most := u.in.limits.Int(limitof.AbbrevAttributes)
	for n := 0; ; n++ {
		attr, form := c.ULEB(), c.ULEB()
		s := step{form: uint16(min(form, formSkip-1))}
		if form == formImplicitConst {
			s.n = uint32(len(t.numbers))
			t.numbers = append(t.numbers, uint64(c.SLEB()))
		}
		if attr == 0 && form == 0 || c.Err() != nil {
			break
		}
		if n == most {
			c.Fail(start, u.in.limits.Exceeded(limitof.AbbrevAttributes, 0))
			break
		}

		s.slot = slotOf(a.kind, attr, a.children)
		if s.slot != slotNone && !taken[s.slot] {
			taken[s.slot] = true
			t.steps = append(t.steps, s)
		} else {
			t.skip(s, u, a.from)
		}
	}

	a.to = uint32(len(t.steps))
	a.fixed = t.fixedSize(&a)
	t.add(code, a)
	return c.Err() == nil
}

// skip appends a step for an attribute that a scan does not need, or adds its size to the step
// before. from is the first step of the abbreviation.
func (t *table) skip(s step, u *Unit, from uint32) {
	n, known := u.formSize(s.form)
	last := len(t.steps) - 1
	switch {
	case !known:
		s.slot = slotNone
		t.steps = append(t.steps, s)
	case n == 0:
	case last >= int(from) && t.steps[last].form == formSkip:
		t.steps[last].n += uint32(n)
	default:
		t.steps = append(t.steps, step{form: formSkip, n: uint32(n)})
	}
}

// fixedSize returns abbrev.fixed.
func (t *table) fixedSize(a *abbrev) int32 {
	switch steps := t.steps[a.from:a.to]; {
	case len(steps) == 0:
		return 0
	case len(steps) == 1 && steps[0].form == formSkip:
		return int32(steps[0].n)
	}
	return -1
}

// add adds an abbreviation. Producers number abbreviations from 1; of two with one code the last
// counts.
func (t *table) add(code uint64, a abbrev) {
	if old := t.find(code); old != nil {
		*old = a
		return
	}
	if code != uint64(len(t.dense))+1 || t.sparse != nil {
		if t.sparse == nil {
			t.sparse = map[uint64]int32{}
			for i := range t.dense {
				t.sparse[uint64(i)+1] = int32(i)
			}
		}
		t.sparse[code] = int32(len(t.dense))
	}
	t.dense = append(t.dense, a)
}

// find returns the abbreviation with a code, nil if there is none.
func (t *table) find(code uint64) *abbrev {
	if t.sparse != nil {
		i, ok := t.sparse[code]
		if !ok {
			return nil
		}
		return &t.dense[i]
	}
	if code-1 < uint64(len(t.dense)) {
		return &t.dense[code-1]
	}
	return nil
}

// errAbbrev is the error for a DIE whose code the unit's table does not have.
func errAbbrev(code uint64) error { return fmt.Errorf("unknown abbreviation %d", code) }

// entry is a DIE that was read with all attributes.
type entry struct {
	tag  uint16
	ok   bool // there is such a DIE
	cost int  // of reading it, for Info.spend
}

// entryAt reads the DIE at an offset, and calls f with each attribute. Of several attributes with
// one name the first counts.
func (u *Unit) entryAt(off int, f func(attr uint64, v value)) (e entry) {
	d := u.in
	if off < u.root || off >= u.end || u.end > len(d.info) {
		return e
	}
	c := wire.New(".debug_info", d.info[:u.end], d.bigEndian)
	c.Seek(uint64(off))
	a := u.table.find(c.ULEB())
	if a == nil || c.Err() != nil {
		return e
	}

	// The attributes are those of the abbreviation.
	e.tag = a.tag
	decl := wire.New(".debug_abbrev", d.abbrev, d.bigEndian)
	decl.Seek(uint64(a.decl))
	var seen [4]uint64 // a set of attributes below 256
	for {
		attr, form := decl.ULEB(), decl.ULEB()
		implicit := uint64(0)
		if form == formImplicitConst {
			implicit = uint64(decl.SLEB())
		}
		if attr == 0 && form == 0 || decl.Err() != nil || c.Err() != nil {
			break
		}
		v := u.read(&c, uint16(min(form, formSkip-1)), implicit)
		if c.Err() != nil {
			break
		}
		if attr < 256 {
			if seen[attr/64]&(1<<(attr%64)) != 0 {
				continue
			}
			seen[attr/64] |= 1 << (attr % 64)
		}
		f(attr, v)
	}
	e.cost = (decl.Pos() - int(a.decl)) / 8
	e.ok = c.Err() == nil && decl.Err() == nil
	return e
}
