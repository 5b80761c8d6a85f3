package dwarfx

import (
	"debug/dwarf"
	"fmt"

	"symkit/internal/limitof"
	"symkit/internal/wire"
	"symkit/limits"
	"symkit/located"
)

// Attributes are read by two functions: by scanner.attrs, with compiled programs, into the
// first scanSlots slots; and by readAttrs, by the specifications in .debug_abbrev, into
// all slots. readAttrs is slower, and serves DIEs that are read once: the roots of units,
// and DIEs in chains of origins that are not functions.

const (
	attrSibling = uint64(dwarf.AttrSibling)
	attrType    = uint64(dwarf.AttrType)
	// DW_AT_language_name of DWARF 6, instead of DW_AT_language.
	attrLanguageName = 0x90
	attrMIPSLinkage  = 0x2007
	attrGNUAddrBase  = 0x2133
	attrGNUDwoName   = 0x2130
	attrGNUDwoID     = 0x2131
	// DW_AT_GNU_ranges_base is for the split unit alone; gcc writes it into the
	// skeleton, whose own DW_AT_ranges it must not change.
	attrGNURangesBase    = 0x2132
	attrGNUDiscriminator = 0x2136
	attrLLVMTagOffset    = 0x3e03
)

// attrSlots has the slot of each wanted attribute, plus 1.
var attrSlots = [...]slot{
	dwarf.AttrName:           slotName + 1,
	dwarf.AttrLinkageName:    slotLinkage + 1,
	attrMIPSLinkage:          slotLinkage + 1,
	dwarf.AttrLowpc:          slotLowPC + 1,
	dwarf.AttrHighpc:         slotHighPC + 1,
	dwarf.AttrRanges:         slotRanges + 1,
	dwarf.AttrSpecification:  slotSpecification + 1,
	dwarf.AttrAbstractOrigin: slotOrigin + 1,
	dwarf.AttrDeclaration:    slotDeclaration + 1,
	dwarf.AttrCallFile:       slotCallFile + 1,
	dwarf.AttrCallLine:       slotCallLine + 1,
	dwarf.AttrLanguage:       slotLanguage + 1,
	attrLanguageName:         slotLanguageName + 1,
	dwarf.AttrCompDir:        slotCompDir + 1,
	dwarf.AttrStmtList:       slotStmtList + 1,
	dwarf.AttrStrOffsetsBase: slotStrOffsetsBase + 1,
	dwarf.AttrAddrBase:       slotAddrBase + 1,
	attrGNUAddrBase:          slotAddrBase + 1,
	dwarf.AttrRnglistsBase:   slotRngListsBase + 1,
	dwarf.AttrDwoName:        slotSplit + 1,
	attrGNUDwoName:           slotSplit + 1,
	attrGNUDwoID:             slotGNUDwoID + 1,
	attrGNURangesBase:        slotGNURangesBase + 1,
	dwarf.AttrSignature:      slotSignature + 1,
	dwarf.AttrCallColumn:     slotCallColumn + 1,
	attrGNUDiscriminator:     slotDiscriminator + 1,
	dwarf.AttrDeclFile:       slotDeclFile + 1,
	dwarf.AttrDeclLine:       slotDeclLine + 1,
	dwarf.AttrType:           slotType + 1,
	dwarf.AttrLocation:       slotLocation + 1,
	dwarf.AttrFrameBase:      slotFrameBase + 1,
	dwarf.AttrLoclistsBase:   slotLocListsBase + 1,
	dwarf.AttrByteSize:       slotByteSize + 1,
	dwarf.AttrCount:          slotCount + 1,
	dwarf.AttrLowerBound:     slotLowerBound + 1,
	dwarf.AttrUpperBound:     slotUpperBound + 1,
	attrLLVMTagOffset:        slotTagOffset + 1,
}

// attrSlot returns the slot of an attribute; ok is false if the attribute is not wanted.
func attrSlot(attr uint64) (s slot, ok bool) {
	if attr >= uint64(len(attrSlots)) || attrSlots[attr] == 0 {
		return 0, false
	}
	return attrSlots[attr] - 1, true
}

// scanSlot is attrSlot for the attributes that the scan wants of a DIE of class cl.
func scanSlot(cl class, attr uint64) (slot, bool) {
	s, ok := attrSlot(attr)
	return s, ok && s < scanSlots && (cl == classFunc || cl == classInline)
}

// slots holds the values of a DIE's attributes by slot.
type slots [numSlots]value

func (s *slots) has(i slot) bool { return s[i].form != 0 }

// unitCursor returns a cursor over u, at offset off of .debug_info.
func (d *Data) unitCursor(u *Unit, off uint64) wire.Cursor {
	c := wire.NewAt(d.name, u.bytes, int(u.Off), d.BigEndian)
	c.Seek(off)
	return c
}

// readDIE reads the attributes of the DIE at c, of u, into s. A null entry has none.
func (d *Data) readDIE(u *Unit, t *abbrevTable, c *wire.Cursor, s *slots) error {
	start := c.Pos()
	code := c.ULEB()
	if code == 0 {
		*s = slots{}
		return c.Err()
	}
	a := t.lookup(code)
	if a == nil {
		c.Fail(start, fmt.Errorf("%w: %d", ErrAbbrev, code))
		return c.Err()
	}
	return d.readAttrs(u, c, a.specs, s)
}

// readAttrs reads into s the attributes that the specifications at offset specs of
// .debug_abbrev describe.
func (d *Data) readAttrs(u *Unit, c *wire.Cursor, specs uint32, s *slots) error {
	*s = slots{}
	sc := d.cursor(".debug_abbrev", d.Abbrev)
	sc.Seek(uint64(specs))
	most := d.Limits.Max(limitof.AbbrevAttributes, 0)
	for n := uint64(0); ; n++ {
		if n > most {
			failSpecs(&sc, d.Limits)
		}
		sp, more := readSpec(&sc)
		if !more {
			break
		}

		v := value{uint64(sp.implicit), sp.form}
		if sp.form != formImplicitConst {
			v = readValue(u, c, sp.form)
		}

		// Of two attributes of one slot, DW_AT_linkage_name and the older name of it,
		// the first holds.
		if i, ok := attrSlot(sp.attr); ok && !s.has(i) {
			s[i] = v
		}
	}
	if err := sc.Err(); err != nil {
		return err
	}
	return c.Err()
}

// noDIE returns the error for a reference that leads into no unit.
func (d *Data) noDIE(ref Ref) error {
	return &located.Error{Section: d.name, Offset: int(min(uint64(ref), d.size)),
		Err: fmt.Errorf("%w: %#x", ErrReference, uint64(ref))}
}

// spec is one attribute specification of an abbreviation.
type spec struct {
	attr     uint64
	form     uint16
	implicit int64 // of DW_FORM_implicit_const
}

// readSpec reads an attribute specification; ok is false at the end of the
// list or after a failure.
func readSpec(c *wire.Cursor) (s spec, ok bool) {
	start := c.Pos()
	s.attr = c.ULEB()
	form := c.ULEB()
	if s.attr == 0 && form == 0 {
		return s, false
	}

	if form > 0xffff {
		c.Fail(start, fmt.Errorf("%w %#x", ErrForm, form))
	}
	s.form = uint16(form)
	if s.form == formImplicitConst {
		s.implicit = c.SLEB()
	}
	return s, c.Err() == nil
}

// failSpecs fails c at an abbreviation that has more attributes than it may have: values without bytes take time for
// every DIE.
func failSpecs(c *wire.Cursor, l limits.Limits) {
	c.Fail(c.Pos(), fmt.Errorf("%w: %w", ErrTooMany, l.Exceeded(limitof.AbbrevAttributes, 0)))
}

// findSpecs returns the .debug_abbrev offset of the attribute specifications of
// one abbreviation, without compiling the table.
//
// Units that share a table, as hundreds of type units do, mostly have roots of the same
// code: the table is searched for that code once.
func (d *Data) findSpecs(u *Unit, code uint64) (specs uint32, err error) {
	key := rootKey{u.abbrevOff, code}
	d.mu.Lock()
	specs, known := d.roots[key]
	d.mu.Unlock()
	if known {
		return specs, nil
	}

	defer func() {
		if err == nil {
			d.mu.Lock()
			d.roots[key] = specs
			d.mu.Unlock()
		}
	}()

	// The bytes read here and those compiled have one common limit.
	c := d.cursor(".debug_abbrev", d.Abbrev)
	c.Seek(u.abbrevOff)
	defer func(from int) { d.spend(c.Pos() - from) }(c.Pos())
	if !d.spend(0) {
		d.abbrevsOver.Store(true)
		c.Fail(c.Pos(), ErrTooMany)
	}
	for {
		start := c.Pos()
		have := c.ULEB()
		if have == 0 {
			c.Fail(start, fmt.Errorf("%w: %d, of the unit at .debug_info+%#x", ErrAbbrev, code, u.Off))
			return 0, c.Err()
		}
		if n, _ := declaration(c.Rest()); n > 0 && have != code {
			c.Skip(uint64(n))
			continue
		}

		// This is the abbreviation, or one that declaration cannot skip.
		c.ULEB() // tag
		c.U8()   // children
		specs = uint32(c.Pos())
		if have == code {
			return specs, c.Err()
		}
		for ok := true; ok; {
			_, ok = readSpec(&c)
		}
	}
}

// declaration returns the length of an abbreviation's tag, flag and attributes (DWARF
// 5 §7.5.3), which data begins with; 0 if they have no end, or a number with
// padding. It also reports whether one of them can refer to another unit.
func declaration(data []byte) (size int, crossing bool) {
	at, _ := lebEnd(data, 0)
	for at++; at+1 < len(data); {
		attr, form := data[at], data[at+1]
		at += 2
		if attr < 0x80 && plainForms[form] {
			continue
		}

		// Of a form of several bytes, the first byte equals none of the forms below.
		if attr|form >= 0x80 {
			next, ok := lebEnd(data, at-2)
			if !ok || next >= len(data) {
				return 0, false
			}
			form = data[next]
			at, ok = lebEnd(data, next)
			if !ok {
				return 0, false
			}
		}

		// Two zeros end the list.
		if attr|form == 0 {
			return at, crossing
		}
		crossing = crossing || isCrossing(uint16(form))
		if form == formImplicitConst {
			at, _ = lebEnd(data, at)
		}
	}
	return 0, false
}

// lebEnd returns where the LEB128 at offset at of data ends; ok is false if that is
// outside of data, or if the last byte is padding of a positive number.
func lebEnd(data []byte, at int) (end int, ok bool) {
	from := at
	for at < len(data) && data[at] >= 0x80 {
		at++
	}
	return at + 1, at < len(data) && (at == from || data[at] != 0)
}

// plainForms are the forms of one byte that declaration need not look at.
var plainForms = func() (plain [256]bool) {
	for form := range uint16(0x80) {
		plain[form] = form != 0 && form != formImplicitConst && !isCrossing(form)
	}
	return plain
}()

// isCrossing reports whether a form can refer to another unit.
func isCrossing(form uint16) bool {
	return form == formRefAddr || form == formRefSig8 || form == formIndirect
}
