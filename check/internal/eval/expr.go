package eval

import (
	"errors"

	"symkit/cfi"
	"symkit/internal/wire"
)

// Operations of DWARF expressions (DWARF 5 §7.7.1). Operations that need a running process (TLS,
// calls, typed values) do not occur in unwind tables.
const (
	dwAddr       = 0x03
	dwDeref      = 0x06
	dwConst1u    = 0x08
	dwConst8s    = 0x0f
	dwConstu     = 0x10
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
	dwReg0       = 0x50
	dwBreg0      = 0x70
	dwRegx       = 0x90
	dwBregx      = 0x92
	dwDerefSize  = 0x94
	dwNop        = 0x96
)

// operation is one operation with its operands.
type operation struct {
	op  uint8   // DW_OP; of a family, such as DW_OP_lit0 to DW_OP_lit31, the first one
	reg cfi.Reg // register operand
	num uint64  // other operand
}

// next reads the next operation. Constants, literals and register operations that differ only in
// their encoding become dwConstu, dwRegx and dwBregx.
func (a *Arch) next(c *wire.Cursor) (o operation) {
	register := func(n uint64) cfi.Reg { return cfi.Reg(min(n, 1<<32-1)) }
	switch op := c.U8(); {
	case op >= dwConst1u && op <= dwConst8s:
		size := 1 << ((op - dwConst1u) / 2)
		num := c.Uint(size)
		unused := 64 - 8*size
		if op&1 != 0 { // signed
			num = uint64(int64(num<<unused) >> unused)
		}
		return operation{op: dwConstu, num: num}
	case op >= dwLit0 && op < dwReg0:
		return operation{op: dwConstu, num: uint64(op - dwLit0)}
	case op == dwConsts:
		return operation{op: dwConstu, num: uint64(c.SLEB())}
	case op >= dwReg0 && op < dwBreg0:
		return operation{op: dwRegx, reg: cfi.Reg(op - dwReg0)}
	case op == dwRegx:
		return operation{op: op, reg: register(c.ULEB())}
	case op >= dwBreg0 && op < dwRegx:
		return operation{op: dwBregx, reg: cfi.Reg(op - dwBreg0), num: uint64(c.SLEB())}
	case op == dwBregx:
		return operation{op: op, reg: register(c.ULEB()), num: uint64(c.SLEB())}
	case op == dwAddr:
		return operation{op: op, num: c.Uint(a.WordSize)}
	case op == dwConstu, op == dwPlusUconst:
		return operation{op: op, num: c.ULEB()}
	case op == dwPick, op == dwDerefSize:
		return operation{op: op, num: uint64(c.U8())}
	case op == dwBra, op == dwSkip:
		return operation{op: op, num: uint64(int16(c.U16()))}
	default:
		return operation{op: op}
	}
}

// errExpr is the error for an expression that cannot be evaluated here.
var errExpr = errors.New("unknown or broken DWARF expression")

// maxSteps bounds the number of operations run: there are backward branches.
const maxSteps = 1 << 12

// dwarfExpr evaluates a DWARF expression (DWARF 5 §2.5) on a machine.
type dwarfExpr struct {
	m     *Machine
	c     wire.Cursor
	stack [maxValues]uint64
	n     int
	bad   bool
}

// expression evaluates expr; initial are the values on the stack at the start.
func (m *Machine) expression(expr []byte, initial ...uint64) (uint64, error) {
	e := dwarfExpr{m: m, c: wire.New("expression", expr, m.BigEndian)}
	e.n = copy(e.stack[:], initial)

	for steps := 0; e.c.Len() > 0 && !e.bad; steps++ {
		e.step(e.m.arch.next(&e.c))
		if steps == maxSteps {
			return 0, errExpr
		}
	}

	// The result is the value on top.
	v := e.pop()
	if e.bad || e.c.Err() != nil {
		return 0, errExpr
	}
	return v, nil
}

// push pushes v, cut to the machine's word.
func (e *dwarfExpr) push(v uint64) {
	if e.n == maxValues {
		e.bad = true
		return
	}
	e.stack[e.n] = v & e.m.Mask
	e.n++
}

// pop removes and returns the value on top.
func (e *dwarfExpr) pop() uint64 {
	if e.n == 0 {
		e.bad = true
		return 0
	}
	e.n--
	return e.stack[e.n]
}

// pick returns the value n below the top.
func (e *dwarfExpr) pick(n int) uint64 {
	if n >= e.n {
		e.bad = true
		return 0
	}
	return e.stack[e.n-1-n]
}

// step runs one operation.
func (e *dwarfExpr) step(o operation) {
	switch o.op {
	case dwConstu, dwAddr:
		e.push(o.num)
	case dwRegx:
		// The operation is a location description (DWARF 5 §2.6.1.1), which old gcc writes for
		// MIPS16 stubs and every unwinder takes for the register's value.
		e.push(e.m.Reg(o.reg))
	case dwBregx:
		e.push(e.m.Reg(o.reg) + o.num)
	case dwDeref:
		e.push(e.m.word(e.pop()))
	case dwDerefSize:
		e.push(e.m.partial(e.pop(), int(o.num)))
	case dwDup:
		e.push(e.pick(0))
	case dwDrop:
		e.pop()
	case dwOver:
		e.push(e.pick(1))
	case dwPick:
		e.push(e.pick(int(o.num)))
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
		a := e.pop()
		if e.signed(a) < 0 {
			a = -a
		}
		e.push(a)
	case dwNeg:
		e.push(-e.pop())
	case dwNot:
		e.push(^e.pop())
	case dwPlusUconst:
		e.push(e.pop() + o.num)
	case dwSkip:
		e.branch(o.num)
	case dwBra:
		if e.pop() != 0 {
			e.branch(o.num)
		}
	case dwNop:
	default:
		b, a := e.pop(), e.pop()
		e.binary(o.op, a, b)
	}
}

// branch moves by a signed distance from the end of the operation.
func (e *dwarfExpr) branch(distance uint64) {
	// The cursor verifies the upper bound.
	to := e.c.Pos() + int(int64(distance))
	if to < 0 {
		e.bad = true
		return
	}
	e.c.Seek(uint64(to))
}

// signed returns a value of the machine's word with its sign.
func (e *dwarfExpr) signed(v uint64) int64 {
	if e.m.arch.WordSize == 4 {
		return int64(int32(v))
	}
	return int64(v)
}

// binary runs an operation on two values. Division, arithmetic shift and comparison are signed
// (DWARF 5 §2.5.1.4, §2.5.1.5).
func (e *dwarfExpr) binary(op uint8, a, b uint64) {
	// x and y are a and b as signed numbers.
	x, y := e.signed(a), e.signed(b)
	truth := func(t bool) uint64 {
		if t {
			return 1
		}
		return 0
	}

	// A shift by the word's size or more gives 0, as Go's shifts do.
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
		v = a % b
		if op == dwDiv {
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
	default:
		e.bad = true
	}
	e.push(v)
}

// Plain reports whether an expression has only registers, constants, sums and loads from memory,
// which the postfix of STACK CFI can always express. pc reports whether the expression reads the
// program counter.
func Plain(a *Arch, expr []byte, bigEndian bool) (plain, pc bool) {
	c := wire.New("expression", expr, bigEndian)
	plain = true

	// Branches are not plain: the operations are read in order.
	for c.Len() > 0 {
		switch o := a.next(&c); o.op {
		case dwConstu, dwPlusUconst, dwDeref, dwPlus, dwMinus, dwNop:
		case dwRegx, dwBregx:
			name := a.RegName(o.reg)
			plain = plain && name != ""
			pc = pc || name != "" && name == a.PC
		default:
			plain = false
		}
	}
	return plain && c.Err() == nil, pc
}
