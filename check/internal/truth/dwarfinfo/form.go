package dwarfinfo

import (
	"fmt"

	"symkit/internal/wire"
)

// Attributes (DWARF 5 §7.5.4) that are read, and those of GNU and MIPS.
const (
	attrSibling        = 0x01
	attrName           = 0x03
	attrStmtList       = 0x10
	attrLowPC          = 0x11
	attrHighPC         = 0x12
	attrLanguage       = 0x13
	attrCompDir        = 0x1b
	attrAbstractOrigin = 0x31
	attrSpecification  = 0x47
	attrRanges         = 0x55
	attrCallFile       = 0x58
	attrCallLine       = 0x59
	attrSignature      = 0x69
	attrLinkageName    = 0x6e
	attrStrOffsetsBase = 0x72
	attrAddrBase       = 0x73
	attrRnglistsBase   = 0x74
	attrDwoName        = 0x76
	attrMIPSLinkage    = 0x2007 // DW_AT_linkage_name of older compilers
	attrGNUDwoName     = 0x2130 // of split DWARF 4
	attrGNUDwoID       = 0x2131
	attrGNURangesBase  = 0x2132
	attrGNUAddrBase    = 0x2133
)

// Forms (DWARF 5 §7.5.6), and GNU's.
const (
	formAddr          = 0x01
	formBlock2        = 0x03
	formBlock4        = 0x04
	formData2         = 0x05
	formData4         = 0x06
	formData8         = 0x07
	formString        = 0x08
	formBlock         = 0x09
	formBlock1        = 0x0a
	formData1         = 0x0b
	formFlag          = 0x0c
	formSdata         = 0x0d
	formStrp          = 0x0e
	formUdata         = 0x0f
	formRefAddr       = 0x10
	formRef1          = 0x11
	formRef2          = 0x12
	formRef4          = 0x13
	formRef8          = 0x14
	formRefUdata      = 0x15
	formIndirect      = 0x16
	formSecOffset     = 0x17
	formExprloc       = 0x18
	formFlagPresent   = 0x19
	formStrx          = 0x1a
	formAddrx         = 0x1b
	formRefSup4       = 0x1c
	formStrpSup       = 0x1d
	formData16        = 0x1e
	formLineStrp      = 0x1f
	formRefSig8       = 0x20
	formImplicitConst = 0x21
	formLoclistx      = 0x22
	formRnglistx      = 0x23
	formRefSup8       = 0x24
	formStrx1         = 0x25
	formStrx3         = 0x27
	formStrx4         = 0x28
	formAddrx1        = 0x29
	formAddrx3        = 0x2b
	formAddrx4        = 0x2c
	formGNUAddrIndex  = 0x1f01
	formGNUStrIndex   = 0x1f02
	formGNURefAlt     = 0x1f20
	formGNUStrpAlt    = 0x1f21
	// An index of .debug_addr and a number of 4 bytes to add (LLVM).
	formAddrxOffset = 0x2001
)

// formSkip is a form of table.steps that stands for attributes of a known size.
const formSkip = 0xffff

// formSize returns the number of bytes of a value, and false if the value itself decides.
func (u *Unit) formSize(form uint16) (n int, known bool) {
	offset := 4
	if u.dwarf64 {
		offset = 8
	}
	switch form {
	case formFlagPresent, formImplicitConst:
		return 0, true
	case formData1, formFlag, formRef1, formStrx1, formAddrx1:
		return 1, true
	case formData2, formRef2, formStrx1 + 1, formAddrx1 + 1:
		return 2, true
	case formStrx3, formAddrx3:
		return 3, true
	case formData4, formRef4, formRefSup4, formStrx4, formAddrx4:
		return 4, true
	case formData8, formRef8, formRefSig8, formRefSup8:
		return 8, true
	case formData16:
		return 16, true
	case formAddr:
		return int(u.addrSize), true
	case formStrp, formLineStrp, formSecOffset, formStrpSup, formGNURefAlt, formGNUStrpAlt:
		return offset, true
	case formRefAddr:
		if u.version < 3 {
			return int(u.addrSize), true
		}
		return offset, true
	}
	return 0, false
}

// value is the value of an attribute.
type value struct {
	form uint16
	num  uint64 // number, offset, index or address; a signed number is extended
	add  uint32 // of formAddrxOffset
	at   int    // offset in .debug_info, of a string or a block in place
}

// Ref names a DIE by its offset in .debug_info, of the file itself or of its supplementary file
// (dwz's .gnu_debugaltlink; DWARF 5 §7.3.6). The zero value names no DIE.
type Ref struct {
	Off int
	alt bool
}

// key returns a number that is different for each Ref.
func (at Ref) key() uint64 {
	k := uint64(at.Off) << 1
	if at.alt {
		k |= 1
	}
	return k
}

// isConstant reports whether the value is of class constant or, before DWARF 4, an offset.
func (v value) isConstant() bool {
	switch v.form {
	case formData1, formData2, formData4, formData8, formSdata, formUdata, formImplicitConst:
		return true
	}
	return false
}

// read reads a value that is not known to be of a fixed size. implicit is the number of
// DW_FORM_implicit_const.
func (u *Unit) read(c *wire.Cursor, form uint16, implicit uint64) (v value) {
	// Indirect forms come before the value itself; an implicit number cannot follow.
	for form == formIndirect && c.Err() == nil {
		at := c.Pos()
		real := c.ULEB()
		if real == formImplicitConst || real >= formSkip {
			c.Fail(at, fmt.Errorf("indirect form %#x", real))
		}
		form = uint16(real)
	}

	v = value{form: form, at: c.Pos()}
	if n, known := u.formSize(form); known {
		switch n {
		case 0:
			v.num = implicit
		case 3:
			v.num = uint64(c.U24())
		case 16:
			c.Skip(16)
		default:
			v.num = c.Uint(n)
		}
		return v
	}
	switch form {
	case formString:
		c.CString()
	case formUdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx, formGNUAddrIndex, formGNUStrIndex:
		v.num = c.ULEB()
	case formSdata:
		v.num = uint64(c.SLEB())
	case formBlock, formExprloc:
		c.Skip(c.ULEB())
	case formAddrxOffset:
		v.num = c.ULEB()
		v.add = c.U32()
	case formBlock1:
		c.Skip(uint64(c.U8()))
	case formBlock2:
		c.Skip(uint64(c.U16()))
	case formBlock4:
		c.Skip(uint64(c.U32()))
	default:
		c.Fail(c.Pos(), fmt.Errorf("unknown form %#x", form))
	}
	return v
}

// address returns the address that a value of class address states. It returns false for other
// classes, and for an index outside of .debug_addr.
func (u *Unit) address(v value) (uint64, bool) {
	switch form := v.form; {
	case form == formAddr:
		return v.num, true
	case form == formAddrx || form == formGNUAddrIndex || form >= formAddrx1 && form <= formAddrx4:
		return u.indexed(v.num)
	case form == formAddrxOffset:
		base, ok := u.indexed(v.num)
		return base + uint64(v.add), ok
	case form == formExprloc:
		return u.sum(v.at)
	}
	return 0, false
}

// sum returns the value of an expression that adds addresses and constants: DW_AT_low_pc of
// clang's -minimize-addr-in-v5=Expressions. It returns false for any other operation.
func (u *Unit) sum(at int) (uint64, bool) {
	d := u.in
	c := wire.New(".debug_info", d.info[:u.end], d.bigEndian)
	c.Seek(uint64(at))
	c = c.Sub(c.ULEB())
	var terms []uint64
	for c.Len() > 0 && len(terms) < 8 {
		op, v, ok := c.U8(), uint64(0), true
		switch last := len(terms) - 1; {
		case op == 0x22 && last > 0: // DW_OP_plus
			v = terms[last] + terms[last-1]
			terms = terms[:last-1]
		case op == 0x1c && last > 0: // DW_OP_minus
			v = terms[last-1] - terms[last]
			terms = terms[:last-1]
		case op == 0x23 && last >= 0: // DW_OP_plus_uconst
			v = terms[last] + c.ULEB()
			terms = terms[:last]
		case op == 0x03: // DW_OP_addr
			v = c.Uint(int(u.addrSize))
		case op == 0xa1 || op == 0xfb: // DW_OP_addrx, DW_OP_GNU_addr_index
			v, ok = u.indexed(c.ULEB())
		default:
			v, ok = constant(&c, op)
		}
		if !ok {
			return 0, false
		}
		terms = append(terms, v)
	}
	if len(terms) != 1 || c.Err() != nil || c.Len() > 0 {
		return 0, false
	}
	return terms[0], true
}

// constant returns the operand of DW_OP_lit0 to lit31 and DW_OP_const1u to consts, false for
// other operations.
func constant(c *wire.Cursor, op uint8) (uint64, bool) {
	switch op {
	case 0x08:
		return uint64(c.U8()), true
	case 0x09:
		return uint64(int8(c.U8())), true
	case 0x0a:
		return uint64(c.U16()), true
	case 0x0b:
		return uint64(int16(c.U16())), true
	case 0x0c:
		return uint64(c.U32()), true
	case 0x0d:
		return uint64(int32(c.U32())), true
	case 0x0e, 0x0f:
		return c.U64(), true
	case 0x10:
		return c.ULEB(), true
	case 0x11:
		return uint64(c.SLEB()), true
	}
	return uint64(op - 0x30), op >= 0x30 && op <= 0x4f
}

// indexed returns an address of .debug_addr, false if the index is outside of the section.
func (u *Unit) indexed(i uint64) (uint64, bool) {
	d := u.in
	if i > uint64(len(d.addr)) {
		return 0, false
	}
	c := wire.New(".debug_addr", d.addr, d.bigEndian)
	c.Seek(u.addrBase + i*uint64(u.addrSize))
	v := c.Uint(int(u.addrSize))
	return v, c.Err() == nil
}

// stringID identifies a string by its place: the file, the section, and the offset. 0 is no
// string.
type stringID uint64

// id returns the id of a string.
func (d *Info) id(section stringID, off uint64) stringID {
	const number, place = 40, 36 // bits; packages have had 100,000 files in them
	return stringID(d.number)<<number | section<<place | stringID(off&(1<<place-1))
}

// Sections of strings in a stringID.
const (
	inInfo = 1 + iota
	inStr
	inLineStr
)

// text returns the string of an attribute, which aliases a section, and its id. It returns false if
// the string is in a supplementary file that was not found.
func (u *Unit) text(v value) (text []byte, id stringID, found bool) {
	d := u.in
	switch form := v.form; {
	case form == formString:
		return cstring(d.info, uint64(v.at)), d.id(inInfo, uint64(v.at)), true
	case form == formStrp:
		return cstring(d.str, v.num), d.id(inStr, v.num), true
	case form == formLineStrp:
		return cstring(d.lineStr, v.num), d.id(inLineStr, v.num), true
	case form == formStrx || form == formGNUStrIndex || form >= formStrx1 && form <= formStrx4:
		off, ok := u.stringOffset(v.num)
		if !ok {
			return nil, 0, true
		}
		return cstring(d.str, off), d.id(inStr, off), true
	case form == formStrpSup || form == formGNUStrpAlt:
		if d.Alt == nil || v.num >= uint64(len(d.Alt.str)) {
			return nil, 0, false
		}
		return cstring(d.Alt.str, v.num), d.Alt.id(inStr, v.num), true
	}
	return nil, 0, true
}

// reference returns the DIE that an attribute refers to. References to type units
// (DW_FORM_ref_sig8) name no function.
func (u *Unit) reference(v value) Ref {
	off := int(min(v.num, 1<<62))
	switch v.form {
	case formRef1, formRef2, formRef4, formRef8, formRefUdata:
		return Ref{Off: u.Off + off}
	case formRefAddr:
		return Ref{Off: off}
	case formGNURefAlt, formRefSup4, formRefSup8:
		return Ref{off, true}
	}
	return Ref{}
}

// stringOffset returns entry i of .debug_str_offsets (DWARF 5 §7.26).
func (u *Unit) stringOffset(i uint64) (uint64, bool) {
	d, size := u.in, uint64(4)
	if u.dwarf64 {
		size = 8
	}
	if i > uint64(len(d.offsets)) {
		return 0, false
	}
	c := wire.New(".debug_str_offsets", d.offsets, d.bigEndian)
	c.Seek(u.strBase + i*size)
	v := c.Offset(u.dwarf64)
	return v, c.Err() == nil
}

// cstring returns the string at an offset, nil if there is none.
func cstring(section []byte, off uint64) []byte {
	c := wire.New("", section, false)
	c.Seek(off)
	return c.CString()
}
