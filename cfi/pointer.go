package cfi

import "symkit/internal/wire"

// The parts of a DW_EH_PE pointer encoding (LSB 5.0 core §10.5): four bits of
// format, three bits of base, one bit of indirection.
const (
	peAbsptr = 0x00
	peULEB   = 0x01
	peUdata2 = 0x02
	peUdata4 = 0x03
	peUdata8 = 0x04
	peSigned = 0x08 // a signed address
	peSLEB   = 0x09
	peSdata2 = 0x0a
	peSdata4 = 0x0b
	peSdata8 = 0x0c

	pePCRel    = 0x10
	peTextRel  = 0x20
	peDataRel  = 0x30
	peFuncRel  = 0x40
	peAligned  = 0x50
	peIndirect = 0x80
	peOmit     = 0xff

	peFormat = 0x0f
	peBase   = 0x70
)

// validEncoding reports whether enc has a known format and base.
func validEncoding(enc uint8) bool {
	switch f := enc & peFormat; {
	case enc == peOmit:
		return true
	case enc&peBase == peAligned:
		return f == peAbsptr
	case enc&peBase > peAligned:
		return false
	default:
		return f <= peUdata8 || f >= peSigned && f <= peSdata8
	}
}

// number reads the format part of enc. A number in a signed format is sign-extended
// unless unsigned is true, which is for sizes: GCC encodes them in the signed format of
// the address.
func number(c *wire.Cursor, enc uint8, addrSize int, unsigned bool) uint64 {
	size := addrSize
	switch enc & peFormat {
	case peULEB:
		return c.ULEB()
	case peSLEB:
		return uint64(c.SLEB())
	case peUdata2, peSdata2:
		size = 2
	case peUdata4, peSdata4:
		size = 4
	case peUdata8, peSdata8:
		size = 8
	}

	// A number of fewer than 8 bytes is sign-extended to 64 bits.
	v := c.Uint(size)
	if enc&peSigned != 0 && !unsigned {
		shift := 64 - 8*size
		v = uint64(int64(v<<shift) >> shift)
	}
	return v
}

// encoded reads a pointer whose encoding is valid. raw is the number in the section; addr
// is raw plus the base of the encoding, before any indirection. function is the base of
// function-relative pointers.
func (s *Section) encoded(c *wire.Cursor, enc uint8, addrSize int, function uint64) (raw, addr uint64) {
	// An aligned pointer is preceded by padding up to its virtual address.
	at := c.Pos()
	if enc&peBase == peAligned {
		n := uint64(addrSize)
		c.Skip(-(s.Addr + uint64(at)) & (n - 1))
	}

	// The base of a pc-relative pointer is the address of the pointer's field.
	raw = number(c, enc, addrSize, false)
	addr = raw
	switch enc & peBase {
	case pePCRel:
		addr += s.Addr + uint64(at)
	case peTextRel:
		addr += s.TextBase
	case peDataRel:
		addr += s.DataBase
	case peFuncRel:
		addr += function
	}
	return raw, mask(addr, addrSize)
}

// address reads a pointer whose target is needed, and follows an indirect pointer.
func (s *Section) address(c *wire.Cursor, enc uint8, addrSize int, function uint64) (raw, addr uint64) {
	at := c.Pos()
	raw, addr = s.encoded(c, enc, addrSize, function)

	// An indirect pointer needs the contents of loaded memory, here those of the file.
	if c.Err() != nil || enc&peIndirect == 0 {
		return raw, addr
	}
	if s.Deref != nil {
		if v, ok := s.Deref(addr); ok {
			return raw, mask(v, addrSize)
		}
	}

	c.Fail(at, errIndirect)
	return 0, 0
}

// pointer reads a pointer that is only stored. As in unwinders, 0 is null with any base.
func (s *Section) pointer(c *wire.Cursor, enc uint8, addrSize int, function uint64) Pointer {
	if enc == peOmit {
		return Pointer{}
	}

	raw, addr := s.encoded(c, enc, addrSize, function)
	if c.Err() != nil || raw == 0 {
		return Pointer{}
	}
	return Pointer{Addr: addr, Indirect: enc&peIndirect != 0, Valid: true}
}

// readReg reads a register number: one byte, or a ULEB128.
func readReg(c *wire.Cursor, oneByte bool) Reg {
	if oneByte {
		return Reg(c.U8())
	}

	at := c.Pos()
	v := c.ULEB()
	if v > 0xffffffff {
		c.Fail(at, errRegister)
		return 0
	}
	return Reg(v)
}
