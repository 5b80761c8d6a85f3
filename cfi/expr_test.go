package cfi

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// exprRule is a rule of KindExpr or KindMemExpr with its expression.
type exprRule struct {
	kind Kind
	expr []byte
}

// compile returns the postfix of an expression, "" where there is none.
func compile(arch *Arch, r exprRule, cfa, big bool) string {
	return compileAt(arch, r, cfa, big, 0)
}

// compileAt is compile for one PC, unless that is 0.
func compileAt(arch *Arch, r exprRule, cfa, big bool, pc uint64) string {
	text := NewText(arch)
	text.exprs.pc, text.exprs.known = pc, pc != 0
	text.BigEndian = big
	if !text.expression(r.expr, r.kind, cfa) {
		return ""
	}
	return string(text.buf)
}

func ops1(b ...byte) string { return fmt.Sprintf("%x", b) }

func lit(n byte) byte { return exLit0 + n }

// The operations of DWARF 5 §2.5.1 that arithmetic can express, each as the CFA of x86-64.
func TestExpressions(t *testing.T) {
	const pc, rsp, rax = exBreg0 + 16, exBreg0 + 7, exBreg0
	mod16 := []byte{pc, 0, lit(15), exAnd} // $rip & 15
	and := func(tail ...byte) string { return fmt.Sprintf("%x", append(mod16[:4:4], tail...)) }
	for _, c := range []struct{ name, expr, want string }{
		// reference: breakpad.md §6.3, mozilla.md §3.3
		{"PLT of ld", ops1(rsp, 8, pc, 0, lit(15), exAnd, lit(11), exGe, lit(3), exShl, exPlus), "$rsp 8 + $rip 16 % 11 / 8 * +"},
		{"PLT of ld, IBT", ops1(rsp, 8, pc, 0, lit(15), exAnd, lit(9), exGe, lit(3), exShl, exPlus), "$rsp 8 + $rip 16 % 9 / 8 * +"},
		{"DRAP", ops1(exBreg0+6, 0x78, exDeref), "$rbp -8 + ^"},
		{"signal trampoline", ops1(rsp, 0xa0, 1, exDeref), "$rsp 160 + ^"},
		{"stack switch", ops1(rsp, 8, exDeref, exPlusUconst, 8), "$rsp 8 + ^ 8 +"},

		{"breg 0", ops1(rsp, 0), "$rsp 0 +"},
		{"reg", ops1(exReg0 + 7), "$rsp 0 +"},
		{"reg 31", ops1(exReg31), "$xmm14 0 +"},
		{"regx", ops1(exRegx, 6), "$rbp 0 +"},
		{"bregx", ops1(exBregx, 6, 0x70), "$rbp -16 +"},
		{"deref_size", ops1(rsp, 0, exDerefSize, 8), "$rsp 0 + ^"},
		{"const1u", ops1(exConst1u, 0xff), "255"},
		{"const1s", ops1(exConst1s, 0xff), "-1"},
		{"const2u", ops1(exConst2u, 1, 0xff), "65281"},
		{"const2s", ops1(exConst2s, 1, 0xff), "-255"},
		{"const4u", ops1(exConst4u, 1, 0, 0, 0xff), "4278190081"},
		{"const4s", ops1(exConst4s, 1, 0, 0, 0xff), "-16777215"},
		{"const8u", ops1(exConst8u, 1, 0, 0, 0, 0, 0, 0, 0), "1"},
		{"const8s", ops1(exConst8s, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), "-1"},
		{"constu", ops1(exConstu, 0x80, 1), "128"},
		{"consts", ops1(exConsts, 0x7f), "-1"},
		{"dup", ops1(rsp, 0, exDup, exPlus), "$rsp $rsp +"},
		{"drop", ops1(rsp, 0, lit(1), exDrop), "$rsp 0 +"},
		{"over", ops1(rax, 0, rsp, 0, exOver, exMinus), "$rsp $rax -"},
		{"pick", ops1(rax, 0, rsp, 0, exPick, 1), "$rax 0 +"},
		{"swap", ops1(rax, 0, rsp, 0, exSwap, exMinus), "$rsp $rax -"},
		{"rot", ops1(rax, 0, rsp, 0, pc, 0, exRot, exMinus, exMinus), "$rip $rax $rsp - -"},
		{"nop", ops1(rsp, 0, exNop), "$rsp 0 +"},
		{"folding", ops1(rsp, 8, exPlusUconst, 8, lit(4), exMinus, lit(12), exMinus), "$rsp 0 +"},
		{"number first", ops1(lit(4), rsp, 0, exPlus), "$rsp 4 +"},
		{"mul", ops1(rax, 0, lit(8), exMul), "$rax 8 *"},
		{"neg", ops1(rax, 0, exNeg), "0 $rax -"},
		{"not", ops1(rax, 0, exNot), "-1 $rax -"},
		{"abs", and(exAbs), "$rip 16 %"},
		{"and low bits", and(), "$rip 16 %"},
		{"and, mask first", ops1(lit(15), pc, 0, exAnd), "$rip 16 %"},
		{"and high bits", ops1(rsp, 0, exConst1s, 0xf0, exAnd), "$rsp 16 @"},
		{"and -1", ops1(rsp, 0, exConst1s, 0xff, exAnd), "$rsp 0 +"},
		{"and 0", ops1(rsp, 0, lit(0), exAnd), "0"},
		{"and 32 bits", ops1(rsp, 0, exConst4u, 0xff, 0xff, 0xff, 0xff, exAnd), "$rsp 4294967296 %"},
		{"or 0", ops1(rsp, 0, lit(0), exOr), "$rsp 0 +"},
		{"0 or", ops1(lit(0), rsp, 0, exOr), "$rsp 0 +"},
		{"or of numbers", ops1(lit(1), lit(2), exOr), "3"},
		{"and of numbers", ops1(lit(7), lit(14), exAnd), "6"},
		{"product of numbers", ops1(lit(5), lit(3), exMul), "15"},
		{"product of bounded terms", and(pc, 0, lit(7), exAnd, exMul), "$rip 16 % $rip 8 % *"},
		{"rest of numbers", ops1(lit(17), lit(5), exMod), "2"},
		{"shifted numbers", ops1(lit(1), lit(4), exShl, lit(2), exShr, lit(1), exShra), "2"},
		{"eq of numbers", ops1(lit(5), lit(5), exEq), "1"},
		{"ne of numbers", ops1(lit(5), lit(5), exNe), "0"},
		{"ge of numbers", ops1(lit(5), lit(4), exGe), "1"},
		{"gt of numbers", ops1(lit(5), lit(5), exGt), "0"},
		{"le of numbers", ops1(lit(5), lit(4), exLe), "0"},
		{"lt of numbers", ops1(lit(4), lit(5), exLt), "1"},
		{"shl 0", ops1(rsp, 0, lit(0), exShl), "$rsp 0 +"},
		{"truth ge 1", ops1(rax, 0, lit(1), exAnd, lit(1), exGe), "$rax 2 %"},
		{"shl", ops1(rax, 0, lit(3), exShl), "$rax 8 *"},
		{"shr of a register", ops1(rax, 0, lit(3), exShr), "$rax 8 /"},
		{"shra of something bounded", and(lit(2), exShra), "$rip 16 % 4 /"},
		{"div", and(lit(3), exDiv), "$rip 16 % 3 /"},
		{"mod", and(lit(3), exMod), "$rip 16 % 3 %"},
		{"ge, quotient up to 15", and(lit(1), exGe), "$rip 16 % 15 + 16 /"},
		{"gt", and(lit(10), exGt), "$rip 16 % 11 /"},
		{"lt", and(lit(11), exLt), "1 $rip 16 % 11 / -"},
		{"le", and(lit(10), exLe), "1 $rip 16 % 11 / -"},
		{"number ge", ops1(lit(10), pc, 0, lit(15), exAnd, exGe), "1 $rip 16 % 11 / -"},
		{"number lt", ops1(lit(10), pc, 0, lit(15), exAnd, exLt), "$rip 16 % 11 /"},
		{"eq", and(lit(11), exEq), "$rip 16 % 11 / $rip 16 % 12 / -"},
		{"ne", and(lit(15), exNe), "1 $rip 16 % 15 / -"},
		{"xor of numbers", ops1(lit(6), lit(3), exXor), "5"},
		{"shra of a number", ops1(exConst1s, 0xf8, lit(1), exShra), "-4"},
		{"div of numbers", ops1(exConst1s, 0xf9, lit(2), exDiv), "-3"},
		{"abs of a number", ops1(exConst1s, 0xf9, exAbs), "7"},
		{"skip", ops1(rsp, 0, exSkip, 1, 0, 0xff, lit(8), exPlus), "$rsp 8 +"},
		{"bra taken", ops1(rsp, 0, lit(1), exBra, 1, 0, 0xff), "$rsp 0 +"},
		{"bra not taken", ops1(rsp, 0, lit(0), exBra, 2, 0, lit(8), exPlus), "$rsp 8 +"},
		{"always", and(lit(0), exGe), "1"},
		{"never", and(lit(16), exGe), "0"},
		{"or of truths", and(lit(11), exLt, rax, 0, lit(1), exAnd, exOr), "1 $rip 16 % 11 / - $rax 2 % + 3 + 4 /"},
		{"and of truths", and(lit(11), exGe, rax, 0, lit(1), exAnd, exAnd), "$rip 16 % 11 / $rax 2 % *"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := exprRule{KindExpr, hexBytes(c.expr)}
			got := compile(&x86_64, r, true, false)
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			checkPostfix(t, &x86_64, r, true, got)
		})
	}
}

// The CFA comes first on the stack of a register's expression.
func TestRegisterExpressions(t *testing.T) {
	for expr, want := range map[string]string{"": ".cfa", "2308": ".cfa 8 +", "0606": ".cfa 0 + ^ ^", "7708": "$rsp 8 +"} {
		if got := compile(&x86_64, exprRule{KindExpr, hexBytes(expr)}, false, false); got != want {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
		if want == ".cfa" {
			want += " 0 +"
		}
		if got := compile(&x86_64, exprRule{KindMemExpr, hexBytes(expr)}, false, false); got != want+" ^" {
			t.Errorf("%s: %q, want %q", expr, got, want+" ^")
		}
	}
}

func TestBigEndianAndNarrowExpressions(t *testing.T) {
	for _, c := range []struct {
		arch *Arch
		big  bool
		expr string
		want string
	}{
		{&s390x, true, ops1(exConst2u, 1, 2), "258"},
		{&x86, false, ops1(exConst4u, 0xf8, 0xff, 0xff, 0xff), "-8"},
		{&x86, false, ops1(exBreg0+4, 0, exDerefSize, 4), "$esp 0 + ^"},
		{&x86, false, ops1(exBreg0+4, 0, exDerefSize, 8), ""},
		{&x86, false, ops1(exBreg0+4, 0, exDerefSize, 2), "$esp 0 + ^ 65536 %"},
		{&x86_64, false, ops1(exBreg0+7, 8, exDerefSize, 4), "$rsp 8 + ^ 4294967296 %"},
		{&s390x, true, ops1(exBreg0+15, 0, exDerefSize, 4), ""},
		{&x86, false, ops1(exBreg0+8, 0, lit(15), exAnd, lit(11), exGe), "$eip 16 % 11 /"},
		{&x86, false, ops1(exBreg0+4, 0, exConst4u, 0xf0, 0xff, 0xff, 0xff, exAnd), "$esp 16 @"},
	} {
		r := exprRule{KindExpr, hexBytes(c.expr)}
		got := compile(c.arch, r, true, c.big)
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.expr, got, c.want)
		}
		if !c.big {
			checkPostfix(t, c.arch, r, true, got)
		}
	}
}

// TestRefusedExpressions: operations that postfix lacks, and invalid ones.
func TestRefusedExpressions(t *testing.T) {
	const rsp = exBreg0 + 7
	double := []byte{rsp, 0}
	for range 12 {
		double = append(double, exDup, exPlus)
	}
	for _, c := range []struct{ name, expr string }{
		{"empty", ""},
		{"truncated", ops1(rsp)},
		{"unknown", ops1(0xff)},
		{"addr", ops1(3, 0, 0, 0, 0, 0, 0, 0, 0)},
		{"bra on a register", ops1(rsp, 0, rsp, 0, exBra, 0, 0)},
		{"bra back", ops1(rsp, 0, lit(1), exBra, 0xff, 0xff)},
		{"skip back", ops1(rsp, 0, exSkip, 0xfd, 0xff)},
		{"skip beyond the end", ops1(rsp, 0, exSkip, 1, 0)},
		{"skip cut", ops1(rsp, 0, exSkip, 1)},
		{"call_frame_cfa", ops1(0x9c)},
		{"xor", ops1(rsp, 0, lit(1), exXor)},
		{"or", ops1(rsp, 0, lit(1), exOr)},
		{"and of a mask with holes", ops1(rsp, 0, lit(5), exAnd)},
		{"abs", ops1(rsp, 0, exAbs)},
		{"div of a register", ops1(rsp, 0, lit(4), exDiv)},
		{"div by zero", ops1(lit(4), lit(0), exDiv)},
		{"mod by a register", ops1(lit(4), rsp, 0, exMod)},
		{"shra of a register", ops1(rsp, 0, lit(3), exShra)},
		{"shr of a difference", ops1(rsp, 8, lit(3), exShr)},
		{"shl by a register", ops1(lit(3), rsp, 0, exShl)},
		{"shl by 31", ops1(rsp, 0, lit(31), exShl)},
		{"ge of a register", ops1(rsp, 0, lit(3), exGe)},
		{"eq of registers", ops1(rsp, 0, rsp, 0, exEq)},
		{"deref of three bytes", ops1(rsp, 0, exDerefSize, 3)},
		{"deref of nothing", ops1(rsp, 0, exDerefSize, 0)},
		{"deref of more than a word", ops1(rsp, 0, exDerefSize, 16)},
		{"unnamed register", ops1(exBregx, 56, 0)},
		{"empty stack", ops1(exPlus)},
		{"pick too deep", ops1(rsp, 0, exPick, 1)},
		{"doubled text", fmt.Sprintf("%x", double)},
		{"full stack", strings.Repeat("31", maxExprStack+1)},
		{"too long", strings.Repeat("96", maxExprBytes) + "31"},
	} {
		if got := compile(&x86_64, exprRule{KindExpr, hexBytes(c.expr)}, true, false); got != "" {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// The two spellings of the format document's rules are equal.
func TestPostfixSpellings(t *testing.T) {
	for ours, theirs := range map[string]string{"$sp 0 +": "$sp", ".cfa 0 + ^": ".cfa ^", ".cfa -4 + ^": ".cfa 4 - ^"} {
		reg := func(name string) uint64 { return 0x7000 + uint64(len(name))*0x100 }
		if a, b := evalPostfix(ours, 4, reg), evalPostfix(theirs, 4, reg); a != b {
			t.Errorf("%s is %#x, %s is %#x", ours, a, theirs, b)
		}
	}
}

// memory is an arbitrary word at every address.
func memory(addr uint64, word int) uint64 {
	return mask(addr*0x9e3779b97f4a7c15+0x1234567, word)
}

// evalPostfix evaluates as readers do: unsigned, in the word's width.
func evalPostfix(text string, word int, reg func(string) uint64) uint64 {
	var stack []uint64
	for tok := range strings.FieldsSeq(text) {
		n := len(stack)
		switch tok {
		case "^":
			stack[n-1] = memory(stack[n-1], word)
			continue
		case "+", "-", "*", "/", "%", "@":
			a, b, v := stack[n-2], stack[n-1], uint64(0)
			switch tok {
			case "+":
				v = a + b
			case "-":
				v = a - b
			case "*":
				v = a * b
			case "/":
				v = a / b
			case "%":
				v = a % b
			case "@":
				v = a &^ (b - 1)
			}
			stack = append(stack[:n-2], mask(v, word))
			continue
		}
		if v, err := strconv.ParseInt(tok, 10, 64); err == nil {
			stack = append(stack, mask(uint64(v), word))
		} else {
			stack = append(stack, mask(reg(tok), word))
		}
	}
	if len(stack) != 1 {
		panic(text)
	}
	return stack[0]
}

// checkPostfix evaluates the DWARF expression itself (dwarfEval) and compares.
func checkPostfix(t *testing.T, arch *Arch, r exprRule, cfa bool, postfix string) {
	t.Helper()
	checkPostfixAt(t, arch, r, cfa, postfix, 0)
}

func checkPostfixAt(t *testing.T, arch *Arch, r exprRule, cfa bool, postfix string, pc uint64) {
	t.Helper()
	if postfix == "" {
		return
	}
	for _, seed := range []uint64{0, 1, 0x7ffd1234567b, 0xffffffff8123456c, 0x800000009abcdef5} {
		reg := func(name string) uint64 {
			switch {
			case name == ".cfa":
				return seed + 0x100
			case pc != 0 && name == arch.PC:
				return pc
			}
			r, _ := arch.Reg(name)
			return seed * uint64(r+1)
		}
		want, ok := dwarfEval(arch, r, cfa, reg)
		if !ok {
			t.Fatalf("%x compiled to %q, but cannot be evaluated", r.expr, postfix)
		}
		if got := evalPostfix(postfix, arch.WordSize, reg); got != want {
			t.Errorf("%x as %q with %#x: %#x, want %#x", r.expr, postfix, seed, got, want)
		}
	}
}

// dwarfMachine runs little-endian expressions on numbers (DWARF 5 §2.5.1).
type dwarfMachine struct {
	e     []byte
	stack []uint64
	word  int
	ok    bool
}

func dwarfEval(arch *Arch, r exprRule, cfa bool, reg func(string) uint64) (uint64, bool) {
	m := dwarfMachine{e: r.expr, word: arch.WordSize, ok: true}
	if !cfa {
		m.push(reg(".cfa"))
	}
	for len(m.e) > 0 && m.ok {
		m.step(arch, reg)
	}
	v := m.pop()
	if r.kind == KindMemExpr {
		v = memory(v, m.word)
	}
	return v, m.ok
}

func (m *dwarfMachine) push(v uint64) { m.stack = append(m.stack, mask(v, m.word)) }

func (m *dwarfMachine) pop() uint64 {
	n := len(m.stack) - 1
	if n < 0 {
		m.ok = false
		return 0
	}
	v := m.stack[n]
	m.stack = m.stack[:n]
	return v
}

func (m *dwarfMachine) fixed(n int) (v uint64) {
	for i := range n {
		v |= uint64(m.e[i]) << (8 * i)
	}
	m.e = m.e[n:]
	return v
}

// leb reads either kind: a signed one is sign-extended.
func (m *dwarfMachine) leb(signed bool) (v uint64) {
	for shift := 0; ; shift += 7 {
		b := m.fixed(1)
		if shift < 64 {
			v |= b & 0x7f << shift
		}
		if b < 0x80 {
			if signed && b&0x40 != 0 && shift < 57 {
				v |= ^uint64(0) << (shift + 7)
			}
			return v
		}
	}
}

func (m *dwarfMachine) step(arch *Arch, reg func(string) uint64) {
	switch op := byte(m.fixed(1)); {
	case op >= exLit0 && op <= exLit31:
		m.push(uint64(op - exLit0))
	case op >= exBreg0 && op <= exBreg31:
		m.push(reg(arch.RegName(Reg(op-exBreg0))) + m.leb(true))
	case op >= exReg0 && op <= exReg31:
		m.push(reg(arch.RegName(Reg(op - exReg0))))
	case op == exRegx:
		m.push(reg(arch.RegName(Reg(m.leb(false)))))
	case op == exBregx:
		r := Reg(m.leb(false))
		m.push(reg(arch.RegName(r)) + m.leb(true))
	case op >= exConst1u && op <= exConst8s:
		n := 1 << ((op - exConst1u) / 2)
		v := m.fixed(n)
		if (op-exConst1u)%2 == 1 {
			v = uint64(int64(v<<(64-8*n)) >> (64 - 8*n))
		}
		m.push(v)
	case op == exConstu || op == exConsts:
		m.push(m.leb(op == exConsts))
	case op >= exDup && op <= exRot:
		m.shuffle(op)
	case op == exNop:
	case op == exBra || op == exSkip:
		off := m.fixed(2)
		if op == exSkip || m.pop() != 0 {
			m.fixed(int(off))
		}
	case op == exPlusUconst:
		m.push(m.pop() + m.leb(false))
	case op == exDeref:
		m.push(memory(m.pop(), m.word))
	case op == exDerefSize:
		n := int(m.fixed(1))
		m.push(mask(memory(m.pop(), m.word), n))
	case op == exNeg:
		m.push(-m.pop())
	case op == exNot:
		m.push(^m.pop())
	case op == exAbs:
		m.push(uint64(max(m.signed(m.stack[len(m.stack)-1]), -m.signed(m.pop()))))
	default:
		b, a := m.pop(), m.pop()
		m.push(m.binary(op, a, b))
	}
}

func (m *dwarfMachine) shuffle(op byte) {
	switch op {
	case exDrop:
		m.pop()
	case exSwap:
		b, a := m.pop(), m.pop()
		m.stack = append(m.stack, b, a)
	case exRot:
		c, b, a := m.pop(), m.pop(), m.pop()
		m.stack = append(m.stack, c, a, b)
	default:
		n := int(op-exDup) / 2 // dup 0, over 1
		if op == exPick {
			n = int(m.fixed(1))
		}
		m.push(m.stack[len(m.stack)-1-n])
	}
}

func (m *dwarfMachine) signed(v uint64) int64 {
	if m.word == 4 {
		return int64(int32(v))
	}
	return int64(v)
}

func (m *dwarfMachine) binary(op byte, a, b uint64) uint64 {
	x, y := m.signed(a), m.signed(b)
	truth := map[byte]bool{exEq: x == y, exNe: x != y, exGe: x >= y, exGt: x > y, exLe: x <= y, exLt: x < y}
	switch op {
	case exPlus:
		return a + b
	case exMinus:
		return a - b
	case exMul:
		return a * b
	case exAnd:
		return a & b
	case exOr:
		return a | b
	case exXor:
		return a ^ b
	case exDiv:
		return uint64(x / y)
	case exMod:
		return a % b
	case exShl:
		return a << b
	case exShr:
		return a >> b
	case exShra:
		return uint64(x >> b)
	}
	if v, ok := truth[op]; !ok {
		m.ok = false
	} else if v {
		return 1
	}
	return 0
}

// FuzzExpr: what compiles means the same as the expression, on every value.
func FuzzExpr(f *testing.F) {
	f.Add(hexBytes(ops1(exBreg0+7, 8, exBreg0+16, 0, lit(15), exAnd, lit(11), exGe, lit(3), exShl, exPlus)), true, false, true, uint64(0))
	f.Add(hexBytes(ops1(exBreg0, 0, lit(7), exAnd, lit(3), exMod, lit(2), exEq, exDup, exOr, exNot)), false, true, false, uint64(0xffffffff8100000b))
	f.Add(hexBytes(ops1(lit(1), lit(2), lit(3), exRot, exPick, 1, exSwap, exOver, exShl, exShr, exDeref)), false, false, false, uint64(0))
	f.Add(hexBytes(ops1(exBreg0+16, 0, lit(15), exAnd, lit(8), exXor, exBra, 1, 0, lit(1), exBreg0+16, 0, lit(3), exDiv, exAbs)), true, false, false, uint64(0x1234567b))
	f.Fuzz(func(t *testing.T, expr []byte, cfa, mem, narrow bool, pc uint64) {
		arch := &x86_64
		if narrow {
			arch = &x86
		}
		r := exprRule{KindExpr, expr}
		if mem {
			r.kind = KindMemExpr
		}
		postfix := compileAt(arch, r, cfa, false, pc)
		if len(postfix) > maxTokens*21 {
			t.Fatalf("%d bytes of postfix", len(postfix))
		}
		checkPostfixAt(t, arch, r, cfa, postfix, pc)
	})
}
