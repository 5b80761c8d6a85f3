package eval

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"symkit/cfi"
)

// TestExpression checks the operations of expressions (DWARF 5 §2.5).
func TestExpression(t *testing.T) {
	m := newMachine(x86_64(t), 1, false)
	m.PC = 0x123b
	rsp := m.Reg(7)
	for _, test := range []struct {
		name string
		expr []byte
		init []uint64
		want uint64
		err  error
	}{
		{"§2.5.1.1 literals", []byte{dwLit0 + 5}, nil, 5, nil},
		{"§2.5.1.1 const1s", []byte{0x09, 0xff}, nil, ^uint64(0), nil},
		{"§2.5.1.1 const2u", []byte{0x0a, 0x34, 0x12}, nil, 0x1234, nil},
		{"§2.5.1.1 const2s", []byte{0x0b, 0xfe, 0xff}, nil, ^uint64(1), nil},
		{"§2.5.1.1 const4s", []byte{0x0d, 0xff, 0xff, 0xff, 0xff}, nil, ^uint64(0), nil},
		{"§2.5.1.1 const8u", []byte{0x0e, 1, 0, 0, 0, 0, 0, 0, 0x80}, nil, 1<<63 + 1, nil},
		{"§2.5.1.1 constu", []byte{0x10, 0x80, 0x01}, nil, 128, nil},
		{"§2.5.1.1 consts", []byte{0x11, 0x7f}, nil, ^uint64(0), nil},
		{"§2.5.1.1 addr", []byte{0x03, 1, 2, 0, 0, 0, 0, 0, 0}, nil, 0x201, nil},
		{"§2.5.1.2 breg", []byte{dwBreg0 + 7, 8}, nil, rsp + 8, nil},
		{"§2.6.1.1 reg, as a value", []byte{dwReg0 + 7}, nil, rsp, nil},
		{"§2.6.1.1 regx, as a value", []byte{dwRegx, 7}, nil, rsp, nil},
		{"§2.5.1.2 bregx", []byte{dwBregx, 7, 0x78}, nil, rsp - 8, nil},
		{"§2.5.1.3 dup", []byte{dwLit0 + 3, dwDup, dwPlus}, nil, 6, nil},
		{"§2.5.1.3 drop", []byte{dwLit0 + 3, dwLit0 + 4, dwDrop}, nil, 3, nil},
		{"§2.5.1.3 over", []byte{dwLit0 + 3, dwLit0 + 4, dwOver, dwMinus}, nil, 1, nil},
		{"§2.5.1.3 pick", []byte{dwLit0 + 3, dwLit0 + 4, dwLit0 + 5, dwPick, 2}, nil, 3, nil},
		{"§2.5.1.3 swap", []byte{dwLit0 + 3, dwLit0 + 4, dwSwap, dwMinus}, nil, 1, nil},
		{"§2.5.1.3 rot: the top becomes the third", []byte{dwLit0 + 1, dwLit0 + 2, dwLit0 + 9, dwRot, dwMinus}, nil, ^uint64(0), nil},
		{"§2.5.1.3 deref", []byte{dwDeref}, []uint64{64}, m.word(64), nil},
		{"§2.5.1.3 deref_size", []byte{dwDerefSize, 4}, []uint64{64}, m.word(64) & 0xffffffff, nil},
		{"§2.5.1.4 abs", []byte{0x09, 0xfb, dwAbs}, nil, 5, nil},
		{"§2.5.1.4 neg, not", []byte{dwLit0 + 1, dwNeg, dwNot}, nil, 0, nil},
		{"§2.5.1.4 div is signed", []byte{0x09, 0xf8, dwLit0 + 2, dwDiv}, nil, ^uint64(3), nil},
		{"§2.5.1.4 mod", []byte{dwLit0 + 17, dwLit0 + 5, dwMod}, nil, 2, nil},
		{"§2.5.1.4 shl, shr", []byte{dwLit0 + 1, dwLit0 + 4, dwShl, dwLit0 + 2, dwShr}, nil, 4, nil},
		{"§2.5.1.4 shra", []byte{0x09, 0xf8, dwLit0 + 1, dwShra}, nil, ^uint64(3), nil},
		{"§2.5.1.4 shl by 64", []byte{dwLit0 + 1, 0x08, 64, dwShl}, nil, 0, nil},
		{"§2.5.1.4 plus_uconst", []byte{dwPlusUconst, 0x80, 0x01}, []uint64{1}, 129, nil},
		{"§2.5.1.4 and, or, xor", []byte{dwLit0 + 12, dwLit0 + 10, dwAnd, dwLit0 + 1, dwOr, dwLit0 + 3, dwXor}, nil, 10, nil},
		{"§2.5.1.5 ge is signed", []byte{0x09, 0xff, dwLit0, dwGe}, nil, 0, nil},
		{"§2.5.1.5 lt", []byte{0x09, 0xff, dwLit0, dwLt}, nil, 1, nil},
		{"§2.5.1.5 skip", []byte{dwLit0 + 1, dwSkip, 1, 0, dwDup, dwNop}, nil, 1, nil},
		{"§2.5.1.5 bra not taken", []byte{dwLit0 + 7, dwLit0, dwBra, 1, 0, dwDup}, nil, 7, nil},
		{"§2.5.1.5 endless branch", []byte{dwSkip, 0xfd, 0xff}, nil, 0, errExpr},
		{"§2.5.1.5 branch out", []byte{dwSkip, 0x00, 0x80}, nil, 0, errExpr},
		{"ld's PLT, pc & 15 = 11", []byte{0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}, nil, rsp + 16, nil},
		{"empty", nil, nil, 0, errExpr},
		{"empty stack", []byte{dwPlus}, nil, 0, errExpr},
		{"division by zero", []byte{dwLit0, dwLit0, dwDiv}, nil, 0, errExpr},
		{"truncated", []byte{0x0e, 1, 2}, nil, 0, errExpr},
		{"unknown operation", []byte{0xe0}, nil, 0, errExpr},
	} {
		got, err := m.expression(test.expr, test.init...)
		if got != test.want || !errors.Is(err, test.err) {
			t.Errorf("%s: %#x, %v; want %#x, %v", test.name, got, err, test.want, test.err)
		}
	}
}

func TestPlain(t *testing.T) {
	a := x86_64(t)
	for _, test := range []struct {
		expr      []byte
		plain, pc bool
	}{
		{[]byte{dwBreg0 + 6, 0x70, dwDeref}, true, false},
		{[]byte{dwBreg0 + 7, 8, dwPlusUconst, 8}, true, false},
		{[]byte{0x0c, 1, 2, 3, 4, dwPlus}, true, false},
		{[]byte{dwBreg0 + 16, 0}, true, true},
		{[]byte{dwBreg0 + 7, 8, dwBregx, 16, 0, dwLit0 + 15, dwAnd, dwPlus}, false, true},
		{[]byte{dwBregx, 0x80, 0x01, 0}, false, false}, // register 128 has no name
		{[]byte{dwDerefSize, 4}, false, false},
		{[]byte{dwBreg0 + 7}, false, false},
	} {
		if p, pc := Plain(a, test.expr, false); p != test.plain || pc != test.pc {
			t.Errorf("%x: %v, %v", test.expr, p, pc)
		}
	}
}

// FuzzExpression checks that the postfix that the dumper makes of an expression has the value of
// the expression, wherever both have a value.
func FuzzExpression(f *testing.F) {
	f.Add([]byte{0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22})
	f.Add([]byte{dwBreg0 + 6, 0x70, dwDeref})
	f.Add([]byte{dwLit0 + 1, dwLit0 + 4, dwShl})
	f.Add([]byte{dwLit0 + 2, dwReg0 + 16, dwAnd}) // a row for each stretch of PCs
	a := x86_64(f)
	f.Fuzz(func(t *testing.T, expr []byte) {
		text := cfi.NewText(a.Arch)
		text.Add(&cfi.Row{Begin: 16, End: 32, CFA: cfi.Rule{Kind: cfi.KindExpr},
			Exprs: append(binary.AppendUvarint(nil, uint64(len(expr))), expr...),
			Regs:  []cfi.RegRule{{Reg: a.RA, Rule: cfi.Rule{Kind: cfi.KindMemCFA, Off: -8}}}})
		if text.Len() == 0 {
			return
		}
		parser := NewParser(a)
		var rules []Rule // in force
		next, end := 0, uint64(0)
		for pc := uint64(16); pc < 32; pc++ {
			if pc == end {
				rules = nil
			}
			for ; next < text.Len() && text.Record(next).Addr <= pc; next++ {
				if r := text.Record(next); r.Init() {
					rules, end = nil, r.Addr+r.Size
				}
				rules = Override(slices.Clone(rules), parser.Parse(nil, text.Record(next).Rules))
			}
			m := newMachine(a, pc, false)
			m.PC = pc
			want, err := m.expression(expr)
			if err != nil {
				return
			}
			if got, ok := ValueOf(&m, rules, RegCFA, 0); ok && got != want {
				t.Fatalf("%x at %#x: %s gives %#x, the expression %#x", expr, pc, text.Record(next-1).Rules, got, want)
			}
		}
	})
}
