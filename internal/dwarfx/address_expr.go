package dwarfx

import (
	"math"

	"symkit/internal/wire"
)

// Operations of an expression that computes an address (DWARF 5 §7.7.1) and GNU's.
const (
	opAddr         = 0x03
	opConst1u      = 0x08
	opConsts       = 0x11
	opMinus        = 0x1c
	opPlus         = 0x22
	opPlusUconst   = 0x23
	opLit0         = 0x30
	opLit31        = 0x4f
	opAddrx        = 0xa1
	opGNUAddrIndex = 0xfb
)

// address returns the address that v is, or that v is the index of in .debug_addr.
func (d *Data) address(u *Unit, v value) (addr uint64, ok bool) {
	switch v.form {
	case formAddr:
		return v.v, true
	case formAddrx, formAddrx1, formAddrx2, formAddrx3, formAddrx4, formGNUAddrIndex:
		return d.indexed(d.Addr, u.addrBase, v.v, uint64(u.AddrSize))
	case formLLVMAddrxOffset:
		addr, ok = d.indexed(d.Addr, u.addrBase, v.v>>32, uint64(u.AddrSize))
		return addr + v.v&math.MaxUint32, ok
	case formExprloc:
		return d.addressExpr(u, v.v)
	}
	return 0, false
}

// addressExpr evaluates a DW_FORM_exprloc at offset at of .debug_info whose value is an
// address: sums of addresses and constants, as clang's -minimize-addr-in-v5=Expressions
// writes DW_AT_low_pc. Other expressions have no value.
func (d *Data) addressExpr(u *Unit, at uint64) (addr uint64, ok bool) {
	c := d.unitCursor(u, at)
	e := c.Sub(c.ULEB())
	var stack [4]uint64
	n := 0
	for e.Len() > 0 {
		op := e.U8()
		if op == opPlus || op == opMinus {
			if n < 2 {
				return 0, false
			}
			n--
			if op == opMinus {
				stack[n] = -stack[n]
			}
			stack[n-1] += stack[n]
			continue
		}
		if op == opPlusUconst {
			if n < 1 {
				return 0, false
			}
			stack[n-1] += e.ULEB()
			continue
		}

		// Any other operation pushes a value.
		if n == len(stack) {
			return 0, false
		}
		stack[n], ok = d.operand(u, &e, op)
		if !ok {
			return 0, false
		}
		n++
	}
	return stack[0], n == 1 && e.Err() == nil && c.Err() == nil
}

// operand returns the value that an operation of an addressExpr pushes.
func (d *Data) operand(u *Unit, e *wire.Cursor, op uint8) (v uint64, ok bool) {
	switch {
	case op == opAddr:
		return e.Uint(int(u.AddrSize)), true
	case op == opAddrx || op == opGNUAddrIndex:
		return d.indexed(d.Addr, u.addrBase, e.ULEB(), uint64(u.AddrSize))
	case op >= opLit0 && op <= opLit31:
		return uint64(op - opLit0), true
	case op < opConst1u || op > opConsts:
		return 0, false
	}

	// DW_OP_const1u to const8s come in pairs: unsigned, signed; then constu and consts.
	size, signed := 1<<((op-opConst1u)/2), (op-opConst1u)%2 == 1
	switch {
	case size <= 8:
		v = e.Uint(size)
		if signed {
			shift := 64 - 8*size
			v = uint64(int64(v<<shift) >> shift)
		}
	case signed:
		v = uint64(e.SLEB())
	default:
		v = e.ULEB()
	}
	return v, true
}
