package dwarfx

import (
	"fmt"

	"symkit/internal/wire"
)

// Attribute forms (DWARF 5 §7.5.6) and GNU's.
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
	formStrx2         = 0x26
	formStrx3         = 0x27
	formStrx4         = 0x28
	formAddrx1        = 0x29
	formAddrx2        = 0x2a
	formAddrx3        = 0x2b
	formAddrx4        = 0x2c
	formGNUAddrIndex  = 0x1f01
	formGNUStrIndex   = 0x1f02
	formGNURefAlt     = 0x1f20
	formGNUStrpAlt    = 0x1f21
	// LLVM's form of -minimize-addr-in-v5=Form: an index of .debug_addr, and four bytes that
	// are added to the address there.
	formLLVMAddrxOffset = 0x2001
)

// formSize returns the size in bytes of values of the form in unit u, -1 if it differs
// from value to value. known is false for a form of no DWARF version.
func formSize(u *Unit, form uint16) (size int, known bool) {
	switch form {
	case formFlagPresent, formImplicitConst:
		return 0, true
	case formData1, formFlag, formRef1, formStrx1, formAddrx1:
		return 1, true
	case formData2, formRef2, formStrx2, formAddrx2:
		return 2, true
	case formStrx3, formAddrx3:
		return 3, true
	case formData4, formRef4, formStrx4, formAddrx4, formRefSup4:
		return 4, true
	case formData8, formRef8, formRefSig8, formRefSup8:
		return 8, true
	case formData16:
		return 16, true
	case formAddr:
		return int(u.AddrSize), true
	case formRefAddr:
		if u.Version == 2 { // DWARF 2 §7.5.4: the size of an address
			return int(u.AddrSize), true
		}
		return int(u.offsetSize()), true
	case formStrp, formLineStrp, formSecOffset, formStrpSup, formGNURefAlt, formGNUStrpAlt:
		return int(u.offsetSize()), true
	case formBlock, formBlock1, formBlock2, formBlock4, formExprloc, formString, formIndirect,
		formSdata, formUdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx,
		formGNUAddrIndex, formGNUStrIndex, formLLVMAddrxOffset:
		return -1, true
	}
	return 0, false
}

// isUnitRef reports whether a form refers to a DIE of the same unit.
func isUnitRef(form uint16) bool { return form >= formRef1 && form <= formRefUdata }

// value is one attribute value: form has the class of v. For a string in place, an
// expression and a block, v is the offset in the cursor's section; for an index with an
// offset, the index in the high half. Form 0 means that the attribute is absent.
type value struct {
	v    uint64
	form uint16
}

// isConstant reports whether v is a number (DWARF 5 §7.5.5, class constant).
func (v value) isConstant() bool {
	switch v.form {
	case formData1, formData2, formData4, formData8, formSdata, formUdata, formImplicitConst:
		return true
	}
	return false
}

// readValue reads one value.
func readValue(u *Unit, c *wire.Cursor, form uint16) value {
	for form == formIndirect {
		f := c.ULEB()
		if f > 0xffff || f == formImplicitConst {
			c.Fail(c.Pos(), fmt.Errorf("%w %#x after DW_FORM_indirect", ErrForm, f))
			return value{}
		}
		form = uint16(f)
	}

	// formSize has the forms of fixed size; all others are here.
	v := value{form: form}
	switch form {
	case formFlagPresent:
		v.v = 1
	case formSdata:
		v.v = uint64(c.SLEB())
	case formUdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx, formGNUAddrIndex, formGNUStrIndex:
		v.v = c.ULEB()
	case formString:
		v.v = uint64(c.Pos())
		c.CString()
	case formExprloc, formBlock, formBlock1, formBlock2, formBlock4:
		v.v = uint64(c.Pos())
		c.Skip(blockLen(c, form))
	case formLLVMAddrxOffset:
		v.v = c.ULEB() << 32
		v.v |= uint64(c.U32())
	case formData16:
		c.Skip(16)
	default:
		size, known := formSize(u, form)
		if !known {
			c.Fail(c.Pos(), fmt.Errorf("%w %#x", ErrForm, form))
			return value{}
		}
		v.v = c.Uint(size)
	}
	return v
}

// blockLen reads the length before a block or an expression.
func blockLen(c *wire.Cursor, form uint16) uint64 {
	switch form {
	case formBlock1:
		return uint64(c.U8())
	case formBlock2:
		return uint64(c.U16())
	case formBlock4:
		return uint64(c.U32())
	}
	return c.ULEB()
}

// skipForm skips a value of a form of variable size.
func skipForm(u *Unit, c *wire.Cursor, form uint16) {
	switch form {
	case formSdata, formUdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx, formGNUAddrIndex, formGNUStrIndex:
		c.SkipLEB()
	case formBlock, formExprloc, formBlock1, formBlock2, formBlock4:
		c.Skip(blockLen(c, form))
	default:
		readValue(u, c, form)
	}
}

// ref returns the DIE that a value refers to, or 0.
func (u *Unit) ref(v value) Ref {
	switch {
	case isUnitRef(v.form) && v.v < u.End-u.Off:
		return Ref(u.Off + v.v)
	case v.form == formRefAddr:
		return Ref(v.v)
	case v.form == formGNURefAlt || v.form == formRefSup4 || v.form == formRefSup8:
		return Ref(v.v) | refAlt
	}
	return 0
}

// str returns the place of a string value, or 0 if the value is not a string or its
// index is out of range.
func (d *Data) str(u *Unit, v value) Str {
	switch v.form {
	case formString:
		return makeStr(secInfo, v.v)
	case formStrp:
		return makeStr(secStr, v.v)
	case formLineStrp:
		return makeStr(secLineStr, v.v)
	case formGNUStrpAlt, formStrpSup:
		return makeStr(secAltStr, v.v)
	case formStrx, formStrx1, formStrx2, formStrx3, formStrx4, formGNUStrIndex:
		if off, ok := d.indexed(d.StrOffsets, u.strOffsetsBase, v.v, u.offsetSize()); ok {
			return makeStr(secStr, off)
		}
	}
	return 0
}

// indexed reads entry i of the table at offset base of data, whose entries have size
// bytes.
func (d *Data) indexed(data []byte, base, i, size uint64) (uint64, bool) {
	n := uint64(len(data))
	if base > n || i >= (n-base)/size {
		return 0, false
	}
	c := wire.New("", data[base+i*size:], d.BigEndian)
	return c.Uint(int(size)), true
}
