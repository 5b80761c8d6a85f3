package dwarfx

import (
	"debug/dwarf"
	"fmt"

	"symkit/internal/wire"
)

// slot is where a wanted attribute's value lands.
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
	// scanSlots slots are filled by the scan; the others by readDIE alone.
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

// attrSlot maps an attribute to its slot.
func attrSlot(attr uint64) (slot, bool) {
	switch attr {
	case uint64(dwarf.AttrName):
		return slotName, true
	case uint64(dwarf.AttrLinkageName), attrMIPSLinkage:
		return slotLinkage, true
	case uint64(dwarf.AttrLowpc):
		return slotLowPC, true
	case uint64(dwarf.AttrHighpc):
		return slotHighPC, true
	case uint64(dwarf.AttrRanges):
		return slotRanges, true
	case uint64(dwarf.AttrSpecification):
		return slotSpecification, true
	case uint64(dwarf.AttrAbstractOrigin):
		return slotOrigin, true
	case uint64(dwarf.AttrDeclaration):
		return slotDeclaration, true
	case uint64(dwarf.AttrCallFile):
		return slotCallFile, true
	case uint64(dwarf.AttrCallLine):
		return slotCallLine, true
	case uint64(dwarf.AttrLanguage):
		return slotLanguage, true
	case attrLanguageName:
		return slotLanguageName, true
	case uint64(dwarf.AttrCompDir):
		return slotCompDir, true
	case uint64(dwarf.AttrStmtList):
		return slotStmtList, true
	case uint64(dwarf.AttrStrOffsetsBase):
		return slotStrOffsetsBase, true
	case uint64(dwarf.AttrAddrBase), attrGNUAddrBase:
		return slotAddrBase, true
	case uint64(dwarf.AttrRnglistsBase):
		return slotRngListsBase, true
	case uint64(dwarf.AttrDwoName), attrGNUDwoName:
		return slotSplit, true
	case attrGNUDwoID:
		return slotGNUDwoID, true
	case attrGNURangesBase:
		return slotGNURangesBase, true
	case uint64(dwarf.AttrSignature):
		return slotSignature, true
	}
	return 0, false
}

// scanSlot is attrSlot for the attributes that the scan wants of a DIE of a class.
func scanSlot(cl class, attr uint64) (slot, bool) {
	s, ok := attrSlot(attr)
	return s, ok && s < scanSlots && (cl == classFunc || cl == classInline)
}

// DIE is one DIE with the attributes this package knows.
type DIE struct {
	Tag      dwarf.Tag
	Children bool
	sibling  Ref
	vals     [numSlots]value
}

func (e *DIE) has(s slot) bool { return e.vals[s].form != 0 }

// unitCursor returns a cursor over u, at offset off of .debug_info.
func (d *Data) unitCursor(u *Unit, off uint64) wire.Cursor {
	c := wire.NewAt(d.name, u.bytes, int(u.Off), d.BigEndian)
	c.Seek(off)
	return c
}

// readDIE reads the DIE at ref, which lies in u. A null entry has Tag 0.
func (d *Data) readDIE(u *Unit, t *abbrevTable, c *wire.Cursor, e *DIE) error {
	start := c.Pos()
	code := c.ULEB()
	if code == 0 {
		*e = DIE{}
		return c.Err()
	}
	a := t.lookup(code)
	if a == nil {
		c.Fail(start, fmt.Errorf("%w: %d", ErrAbbrev, code))
		return c.Err()
	}
	err := d.readAttrs(u, c, a.specs, e)
	e.Tag, e.Children = dwarf.Tag(a.tag), a.children
	return err
}

// readAttrs reads the attributes that the specifications at offset specs of
// .debug_abbrev describe. It serves what is read once: roots, origins of
// names. The scan has its own, faster way.
func (d *Data) readAttrs(u *Unit, c *wire.Cursor, specs uint32, e *DIE) error {
	*e = DIE{}
	sc := d.cursor(".debug_abbrev", d.Abbrev)
	sc.Seek(uint64(specs))
	for n := uint64(0); ; n++ {
		limitSpecs(&sc, n)
		s, more := readSpec(&sc)
		if !more {
			break
		}
		v := value{uint64(s.implicit), s.form}
		if s.form != formImplicitConst {
			v = readValue(u, c, s.form)
		}
		if s.attr == attrSibling {
			e.sibling = u.ref(v)
		}
		if slot, ok := attrSlot(s.attr); ok && !e.has(slot) {
			e.vals[slot] = v
		}
	}
	if err := sc.Err(); err != nil {
		return err
	}
	return c.Err()
}

// DIEAt reads the DIE at ref. An error is located at ref.
func (d *Data) DIEAt(ref Ref, e *DIE) (*Unit, error) {
	u := d.unitAt(ref)
	if u == nil {
		return nil, d.noDIE(ref)
	}
	t, err := d.abbrevs(u)
	if err != nil {
		return nil, err
	}
	c := d.unitCursor(u, uint64(ref))
	return u, d.readDIE(u, t, &c, e)
}

// noDIE is the error for a reference that leads into no unit.
func (d *Data) noDIE(ref Ref) error {
	return &wire.Error{Section: d.name, Offset: int(min(uint64(ref), d.size)),
		Err: fmt.Errorf("%w: %#x", ErrReference, uint64(ref))}
}
