package dwarfx

import (
	"debug/dwarf"
	"fmt"

	"symkit/internal/wire"
	"symkit/located"
)

// Attributes are read by two functions: by scanner.attrs, with compiled programs, into the
// first scanSlots slots; and by readAttrs, by the specifications in .debug_abbrev, into
// all slots. readAttrs is slower, and serves DIEs that are read once: the roots of units,
// and DIEs in chains of origins that are not functions.

// slot is the index of a wanted attribute's value.
type slot uint8

const (
	slotName slot = iota
	slotLinkage
	slotLowPC
	slotHighPC
	slotRanges
	slotSpecification
	slotOrigin
	slotDeclaration
	slotCallFile
	slotCallLine
	// The scan fills scanSlots slots; readAttrs fills the others, too.
	scanSlots
)

const (
	slotLanguage slot = iota + scanSlots
	slotLanguageName
	slotCompDir
	slotStmtList
	slotStrOffsetsBase
	slotAddrBase
	slotRngListsBase
	slotSplit
	slotGNUDwoID
	slotGNURangesBase
	slotSignature
	numSlots
)

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
	attrGNURangesBase = 0x2132
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
	for n := uint64(0); ; n++ {
		limitSpecs(&sc, n, d.Limits)
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
