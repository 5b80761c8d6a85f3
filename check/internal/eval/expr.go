package eval

import (
	"errors"

	"symkit/cfi"
	"symkit/internal/wire"
)

// Operations of DWARF expressions (DWARF 5 §7.7.1). Those that need a running
// process (TLS, calls, typed values) are not in unwind tables.
const (
	dwAddr       = 0x03
	dwDeref      = 0x06
	dwConst1u    = 0x08
	dwConsts     = 0x11
	dwDup        = 0x12
	dwDrop       = 0x13
	dwOver       = 0x14
	dwPick       = 0x15
	dwSwap       = 0x16
	dwRot        = 0x17
	dwAbs        = 0x19
	dwAnd        = 0x1a
	dwDiv        = 0x1b
	dwMinus      = 0x1c
	dwMod        = 0x1d
	dwMul        = 0x1e
	dwNeg        = 0x1f
	dwNot        = 0x20
	dwOr         = 0x21
	dwPlus       = 0x22
	dwPlusUconst = 0x23
	dwShl        = 0x24
	dwShr        = 0x25
	dwShra       = 0x26
	dwXor        = 0x27
	dwBra        = 0x28
	dwEq         = 0x29
	dwGe         = 0x2a
	dwGt         = 0x2b
	dwLe         = 0x2c
	dwLt         = 0x2d
	dwNe         = 0x2e
	dwSkip       = 0x2f
	dwLit0       = 0x30
	dwLit31      = 0x4f
	dwReg0       = 0x50
	dwReg31      = 0x6f
	dwBreg0      = 0x70
	dwBreg31     = 0x8f
	dwRegx       = 0x90
	dwBregx      = 0x92
	dwDerefSize  = 0x94
	dwNop        = 0x96
)

// errExpr: the expression cannot be evaluated here.
var errExpr = errors.New("unknown or broken DWARF expression")

// maxSteps bounds the operations run, for there are backward branches.
const maxSteps = 1 << 12

// dwarfExpr evaluates a DWARF expression (DWARF 5 §2.5) on a machine.
type dwarfExpr struct {
	m     *Machine
	c     wire.Cursor
	stack [maxValues]uint64
	n     int
	bad   bool
}

// expression evaluates expr; initial is what the stack starts with.
func (m *Machine) expression(expr []byte, initial ...uint64) (uint64, error) {
	e := dwarfExpr{m: m, c: wire.New("expression", expr, m.BigEndian)}
	e.n = copy(e.stack[:], initial)
	for steps := 0; e.c.Len() > 0 && !e.bad; steps++ {
		if e.step(e.c.U8()); steps == maxSteps {
			return 0, errExpr
		}
	}
	v := e.pop()
	if e.bad || e.c.Err() != nil {
		return 0, errExpr
	}
	return v, nil
}

func (e *dwarfExpr) push(v uint64) {
	if e.n == maxValues {
		e.bad = true
		return
	}
	e.stack[e.n] = v & e.m.Mask
	e.n++
}

func (e *dwarfExpr) pop() uint64 {
	if e.n == 0 {
		e.bad = true
		return 0
	}
	e.n--
	return e.stack[e.n]
}

// pick is the value n below the top.
func (e *dwarfExpr) pick(n int) uint64 {
	if n >= e.n {
		e.bad = true
		return 0
	}
	return e.stack[e.n-1-n]
}

// step runs one operation.
func (e *dwarfExpr) step(op uint8) {
	c := &e.c
	switch {
	case op >= dwLit0 && op <= dwLit31:
		e.push(uint64(op - dwLit0))
		return
	case op >= dwReg0 && op <= dwReg31:
		// A location (DWARF 5 §2.6.1.1), which old gcc writes for MIPS16 stubs
		// and every unwinder takes for the register's value.
		e.push(e.m.Reg(cfi.Reg(op - dwReg0)))
		return
	case op >= dwBreg0 && op <= dwBreg31:
		e.push(e.m.Reg(cfi.Reg(op-dwBreg0)) + uint64(c.SLEB()))
		return
	case op >= dwConst1u && op <= dwConsts:
		e.push(e.constant(op))
		return
	case op >= dwAnd && op <= dwXor && op != dwNeg && op != dwNot && op != dwPlusUconst, op >= dwEq && op <= dwNe:
		b, a := e.pop(), e.pop()
		e.binary(op, a, b)
		return
	}
	switch op {
	case dwAddr:
		e.push(c.Uint(e.m.arch.WordSize))
	case dwRegx:
		e.push(e.m.Reg(cfi.Reg(min(c.ULEB(), 1<<32-1))))
	case dwBregx:
		r := c.ULEB()
		e.push(e.m.Reg(cfi.Reg(min(r, 1<<32-1))) + uint64(c.SLEB()))
	case dwDeref:
		e.push(e.m.word(e.pop()))
	case dwDerefSize:
		size := int(c.U8())
		e.push(e.m.partial(e.pop(), size))
	case dwDup:
		e.push(e.pick(0))
	case dwDrop:
		e.pop()
	case dwOver:
		e.push(e.pick(1))
	case dwPick:
		e.push(e.pick(int(c.U8())))
	case dwSwap:
		b, a := e.pop(), e.pop()
		e.push(b)
		e.push(a)
	case dwRot: // the top becomes the third
		z, y, x := e.pop(), e.pop(), e.pop()
		e.push(z)
		e.push(x)
		e.push(y)
	case dwAbs:
		if a := e.pop(); e.signed(a) < 0 {
			e.push(-a)
		} else {
			e.push(a)
		}
	case dwNeg:
		e.push(-e.pop())
	case dwNot:
		e.push(^e.pop())
	case dwPlusUconst:
		e.push(e.pop() + c.ULEB())
	case dwBra, dwSkip:
		e.branch(op)
	case dwNop:
	default:
		e.bad = true
	}
}

// branch moves by a signed 16-bit distance from the operation's end.
func (e *dwarfExpr) branch(op uint8) {
	off := int16(e.c.U16())
	if op == dwBra && e.pop() == 0 {
		return
	}
	to := e.c.Pos() + int(off)
	if to < 0 {
		e.bad = true
		return
	}
	e.c.Seek(uint64(to))
}

func (e *dwarfExpr) constant(op uint8) uint64 {
	c := &e.c
	switch op - dwConst1u {
	case 0:
		return uint64(c.U8())
	case 1:
		return uint64(int8(c.U8()))
	case 2:
		return uint64(c.U16())
	case 3:
		return uint64(int16(c.U16()))
	case 4:
		return uint64(c.U32())
	case 5:
		return uint64(int32(c.U32()))
	case 6, 7:
		return c.U64()
	case 8:
		return c.ULEB()
	}
	return uint64(c.SLEB())
}

// signed is a value of the machine's word with its sign.
func (e *dwarfExpr) signed(v uint64) int64 {
	if e.m.arch.WordSize == 4 {
		return int64(int32(v))
	}
	return int64(v)
}

// binary: division, arithmetic shift and comparison are signed (DWARF 5
// §2.5.1.4, §2.5.1.5).
func (e *dwarfExpr) binary(op uint8, a, b uint64) {
	x, y := e.signed(a), e.signed(b)
	truth := func(t bool) uint64 {
		if t {
			return 1
		}
		return 0
	}
	var v uint64
	switch op {
	case dwAnd:
		v = a & b
	case dwOr:
		v = a | b
	case dwXor:
		v = a ^ b
	case dwPlus:
		v = a + b
	case dwMinus:
		v = a - b
	case dwMul:
		v = a * b
	case dwDiv, dwMod:
		if b == 0 {
			e.bad = true
			return
		}
		if v = a % b; op == dwDiv {
			v = uint64(x / y)
		}
	case dwShl:
		v = a << b
	case dwShr:
		v = a >> b
	case dwShra:
		v = uint64(x >> min(b, 63))
	case dwEq:
		v = truth(x == y)
	case dwGe:
		v = truth(x >= y)
	case dwGt:
		v = truth(x > y)
	case dwLe:
		v = truth(x <= y)
	case dwLt:
		v = truth(x < y)
	case dwNe:
		v = truth(x != y)
	}
	e.push(v)
}

// Plain tells an expression of registers, constants, sums and memory alone,
// which the postfix of STACK CFI can always say; pc, that it reads the program
// counter.
func Plain(a *Arch, expr []byte, bigEndian bool) (plain, pc bool) {
	c := wire.New("expression", expr, bigEndian)
	plain = true
	reg := func(r cfi.Reg) {
		name := a.RegName(r)
		plain = plain && name != ""
		pc = pc || name != "" && name == a.PC
	}
	for c.Len() > 0 {
		switch op := c.U8(); {
		case op >= dwLit0 && op <= dwLit31 || op == dwDeref || op == dwPlus || op == dwMinus || op == dwNop:
		case op >= dwReg0 && op <= dwReg31:
			reg(cfi.Reg(op - dwReg0))
		case op == dwRegx:
			reg(cfi.Reg(min(c.ULEB(), 1<<32-1)))
		case op >= dwBreg0 && op <= dwBreg31:
			reg(cfi.Reg(op - dwBreg0))
			c.SkipLEB()
		case op == dwBregx:
			reg(cfi.Reg(min(c.ULEB(), 1<<32-1)))
			c.SkipLEB()
		case op == dwPlusUconst || op == dwConsts || op == dwConsts-1:
			c.SkipLEB()
		case op >= dwConst1u && op < dwConsts-1:
			c.Skip(1 << ((op - dwConst1u) / 2))
		case op == dwDerefSize || op == dwPick:
			plain = false
			c.Skip(1)
		case op == dwBra || op == dwSkip:
			plain = false
			c.Skip(2)
		default:
			plain = false
		}
	}
	return plain && c.Err() == nil, pc
}
