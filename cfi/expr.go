package cfi

import (
	"strconv"
)

// The opcodes of DWARF expressions that compiler translates (DWARF 5 §2.5.1, §7.7.1).
const (
	exDeref      = 0x06
	exConst1u    = 0x08
	exConst1s    = 0x09
	exConst2u    = 0x0a
	exConst2s    = 0x0b
	exConst4u    = 0x0c
	exConst4s    = 0x0d
	exConst8u    = 0x0e
	exConst8s    = 0x0f
	exConstu     = 0x10
	exConsts     = 0x11
	exDup        = 0x12
	exDrop       = 0x13
	exOver       = 0x14
	exPick       = 0x15
	exSwap       = 0x16
	exRot        = 0x17
	exAbs        = 0x19
	exAnd        = 0x1a
	exDiv        = 0x1b
	exMinus      = 0x1c
	exMod        = 0x1d
	exMul        = 0x1e
	exNeg        = 0x1f
	exNot        = 0x20
	exOr         = 0x21
	exPlus       = 0x22
	exPlusUconst = 0x23
	exShl        = 0x24
	exShr        = 0x25
	exShra       = 0x26
	exXor        = 0x27
	exEq         = 0x29
	exGe         = 0x2a
	exGt         = 0x2b
	exLe         = 0x2c
	exLt         = 0x2d
	exNe         = 0x2e
	exBra        = 0x28
	exSkip       = 0x2f
	exLit0       = 0x30
	exLit31      = 0x4f
	exReg0       = 0x50
	exReg31      = 0x6f
	exBreg0      = 0x70
	exBreg31     = 0x8f
	exRegx       = 0x90
	exBregx      = 0x92
	exDerefSize  = 0x94
	exNop        = 0x96
)

const (
	maxExprBytes = 512 // of DWARF
	maxExprStack = 64
	maxTokens    = 128 // of postfix
)

// step runs one operation of the expression.
func (k *compiler) step(op uint8) {
	switch {
	case op >= exLit0 && op <= exLit31:
		k.push(k.num(int64(op - exLit0)))
	case op >= exBreg0 && op <= exBreg31:
		k.breg(Reg(op-exBreg0), k.c.SLEB())
	// DW_OP_reg is a location and not a value. The hand-written tables of the MIPS16
	// stubs in libgcc_s have it, and unwinders use the register's value.
	case op >= exReg0 && op <= exReg31:
		k.breg(Reg(op-exReg0), 0)
	case op == exRegx:
		k.breg(readReg(&k.c, false), 0)
	case op == exBregx:
		r := readReg(&k.c, false)
		k.breg(r, k.c.SLEB())
	case op >= exConst1u && op <= exConsts:
		k.push(k.num(k.constant(op)))
	case op >= exDup && op <= exRot:
		k.shuffle(op)
	default:
		k.unary(op)
	}
}

func (k *compiler) breg(r Reg, off int64) {
	switch name := k.arch.RegName(r); {
	case name == "":
		k.bad = true
	case name == k.arch.PC:
		k.readsPC = true
		if k.known {
			k.push(k.num(int64(k.pc) + off))
			return
		}
	}

	// The value of any register but the PC is a term: its number is not known here.
	k.push(k.plus(k.add(term{op: termReg, val: int64(r)}), k.num(off)))
}

func (k *compiler) constant(op uint8) int64 {
	switch op {
	case exConst1u:
		return int64(k.c.U8())
	case exConst1s:
		return int64(int8(k.c.U8()))
	case exConst2u:
		return int64(k.c.U16())
	case exConst2s:
		return int64(int16(k.c.U16()))
	case exConst4u:
		return int64(k.c.U32())
	case exConst4s:
		return int64(int32(k.c.U32()))
	case exConst8u, exConst8s:
		return int64(k.c.U64())
	case exConstu:
		return int64(k.c.ULEB())
	}
	return k.c.SLEB()
}

// shuffle runs the operations that only move terms on the stack.
func (k *compiler) shuffle(op uint8) {
	switch op {
	case exDup:
		k.pick(0)
	case exDrop:
		k.pop()
	case exOver:
		k.pick(1)
	case exPick:
		k.pick(int(k.c.U8()))
	case exSwap:
		a, b := k.pop(), k.pop()
		k.push(a)
		k.push(b)
	case exRot:
		a, b, c := k.pop(), k.pop(), k.pop()
		k.push(a)
		k.push(c)
		k.push(b)
	}
}

// unary runs the operations of one operand, and passes any other operation to binary.
func (k *compiler) unary(op uint8) {
	switch op {
	case exNop:
	case exPlusUconst:
		n := k.num(int64(k.c.ULEB()))
		k.push(k.plus(k.pop(), n))
	case exDeref:
		k.push(k.deref(k.pop()))
	case exDerefSize:
		n := k.c.U8()
		k.push(k.derefSize(k.pop(), n))
	// Two's complement: −a is 0 − a, and the complement of a is −1 − a.
	case exNeg:
		k.push(k.minus(k.num(0), k.pop()))
	case exNot:
		k.push(k.minus(k.num(-1), k.pop()))
	case exAbs:
		k.push(k.abs(k.pop()))
	case exBra, exSkip:
		k.jump(op)
	default:
		k.binary(op)
	}
}

// binary runs the operations of two operands; a is below b on the stack.
func (k *compiler) binary(op uint8) {
	b, a := k.pop(), k.pop()

	// Two numbers give a number: no operator is needed.
	if v, ok := k.fold(op, a, b); ok {
		k.push(k.num(v))
		return
	}

	// The other operations need an operator of postfix, or an arithmetic equivalent.
	switch op {
	case exPlus:
		k.push(k.plus(a, b))
	case exMinus:
		k.push(k.minus(a, b))
	case exMul:
		k.push(k.times(a, b))
	case exAnd:
		k.push(k.and(a, b))
	case exOr:
		k.push(k.or(a, b))
	case exDiv, exMod:
		k.push(k.divide(op, a, b))
	case exShl, exShr, exShra:
		k.push(k.shift(op, a, b))
	case exEq, exNe, exGe, exGt, exLe, exLt:
		k.push(k.compare(op, a, b))
	default: // exXor, and all that is no arithmetic
		k.bad = true
	}
}

// jump runs a forward jump. The condition of DW_OP_bra must be a known number.
func (k *compiler) jump(op uint8) {
	off := int16(k.c.U16())
	if op == exBra {
		cond, ok := k.value(k.pop())
		k.bad = k.bad || !ok
		if cond == 0 {
			return
		}
	}

	// A backward jump would be a loop, which postfix cannot have.
	k.bad = k.bad || off < 0
	if !k.bad {
		k.c.Skip(uint64(off))
	}
}

func (k *compiler) push(i int) {
	if len(k.stack) == maxExprStack {
		k.bad = true
		return
	}
	k.stack = append(k.stack, i)
}

// pop removes the top of the stack. If the stack is empty, the expression is bad, and pop
// returns the term 0.
func (k *compiler) pop() int {
	n := len(k.stack) - 1
	if n < 0 {
		k.bad = true
		return k.num(0)
	}

	i := k.stack[n]
	k.stack = k.stack[:n]
	return i
}

func (k *compiler) pick(n int) {
	if n >= len(k.stack) {
		k.bad = true
		return
	}
	k.push(k.stack[len(k.stack)-1-n])
}

// text appends the postfix of term i. maxTokens bounds the depth of the recursion.
func (k *compiler) text(dst []byte, i int) []byte {
	t := &k.terms[i]
	switch t.op {
	case termNum:
		return strconv.AppendInt(dst, t.val, 10)
	case termReg:
		return append(dst, k.arch.RegName(Reg(t.val))...)
	case termCFA:
		return append(dst, ".cfa"...)
	}

	// Operands come before the operator; only ^ has one operand.
	dst = k.text(dst, t.a)
	if t.op == '^' {
		dst = k.zero(dst, t.a)
	} else {
		dst = k.text(append(dst, ' '), t.b)
	}
	return append(dst, ' ', t.op)
}

// zero appends ` 0 +` to a register or CFA that is a whole address, so that a rule has the
// same text whether the rule is an expression or of another kind.
func (k *compiler) zero(dst []byte, i int) []byte {
	if op := k.terms[i].op; op == termReg || op == termCFA {
		dst = append(dst, " 0 +"...)
	}
	return dst
}
