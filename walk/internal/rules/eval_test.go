package rules

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"symkit/walk/internal/code"
	"symkit/walk/internal/cpu"
)

// span is one range of memory.
type span struct {
	addr uint64
	data []byte
}

func (s span) Bytes(addr, n uint64) []byte {
	if off := addr - s.addr; addr >= s.addr && off <= uint64(len(s.data)) && n <= uint64(len(s.data))-off {
		return s.data[off:][:n:n]
	}
	return nil
}

// words is memory of little-endian words.
func words(addr uint64, size int, vals ...uint64) span {
	s := span{addr: addr}
	for _, v := range vals {
		if size == 4 {
			s.data = binary.LittleEndian.AppendUint32(s.data, uint32(v))
		} else {
			s.data = binary.LittleEndian.AppendUint64(s.data, v)
		}
	}
	return s
}

// stack returns memory as a machine reads it.
func stack(name string, memory code.Memory) *cpu.Stack {
	return &cpu.Stack{CPU: cpu.For(name, false, cpu.Other), Memory: memory}
}

// text computes the value of an expression, with no variables at first.
func (e *Evaluator) text(expr string) (uint64, error) {
	p := &Program{}
	p.add(e.Stack, nil, []byte(expr))
	cfa, has := e.CFA, e.hasCFA
	e.Begin(p, e.regs)
	e.CFA, e.hasCFA = cfa, has
	return e.Eval(&p.Rules[0])
}

// TestEval: Breakpad's symbol_files.md, "STACK CFI records".
func TestEval(t *testing.T) {
	const amd64, x86 = "x86_64", "x86"
	for _, test := range []struct {
		cpu  string
		expr string
		want uint64
		err  error
	}{
		{amd64, "42", 42, nil},
		{amd64, "-8", ^uint64(7), nil},
		{amd64, "0x1f", 31, nil},
		{amd64, "18446744073709551615", ^uint64(0), nil},
		{amd64, "18446744073709551616", 0, errToken},
		{amd64, "$rsp 8 +", 0x1008, nil},
		{amd64, "$rsp  8\t+ ", 0x1008, nil},
		{amd64, ".cfa -16 + ^", 0x1111, nil},
		{amd64, "2 3 -", ^uint64(0), nil},
		{amd64, "6 7 *", 42, nil},
		{amd64, "$rip 16 % 11 / 8 *", 8, nil},
		{amd64, "4661 16 @", 4656, nil},
		{amd64, "1 0 /", 0, errDivision},
		{amd64, "1 0 %", 0, errDivision},
		{amd64, "1 3 @", 0, errAlign},
		{amd64, "1 0 @", 0, errAlign},
		{amd64, "0 ^", 0, cpu.ErrMemory},
		{amd64, "4095 ^", 0, cpu.ErrMemory},
		{amd64, "18446744073709551615 ^", 0, cpu.ErrMemory},
		{amd64, "1 2", 0, errOperands},
		{amd64, "", 0, errOperands},
		{amd64, "1 +", 0, errOperands},
		{amd64, "^", 0, errOperands},
		{amd64, "=", 0, errOperands},
		{amd64, "$rbx", 0, ErrUndefined},
		{amd64, "$nonsense", 0, ErrUndefined},
		{amd64, ".undef", 0, ErrUndefined},
		{amd64, ".undef 1 +", 0, ErrUndefined},
		{amd64, "1 #", 0, errToken},
		{amd64, "12a", 0, errToken},
		{amd64, "5 4 =", 0, errToken},
		{amd64, "$T0 $rsp = $T0 1 +", 0x1001, nil},
		{amd64, "$T0 $rsp =$T0 1 +", 0x1001, nil},
		{amd64, "$T0 .undef = 1", 1, nil},
		{amd64, "$T0 $rbx = 1", 0, ErrUndefined},
		{x86, "0 1 -", 0xffffffff, nil},
		{x86, "$esp 4294967295 +", 0xfff, nil},
		{x86, "$esp -4 + 4 + ^", 0x2000, nil},
	} {
		s := stack(test.cpu, nil)
		s.Memory = words(0x1000, s.Arch.WordSize, 0x2000, 0x1111, 0x3000)
		var regs cpu.Registers
		regs.Set(s.Arch.SP, 0x1000)
		regs.PC = 0x100b
		e := Evaluator{Stack: s, regs: &regs, CFA: 0x1018, hasCFA: true}
		got, err := e.text(test.expr)
		if got != test.want && test.err == nil || !errors.Is(err, test.err) {
			t.Errorf("%q = %#x, %v; want %#x, %v", test.expr, got, err, test.want, test.err)
		}
	}
}

func TestEvalLimits(t *testing.T) {
	e := Evaluator{Stack: stack("x86_64", span{}), regs: &cpu.Registers{}}
	deep := slices.Repeat([][]byte{[]byte("1 ")}, maxOperands+1)
	if _, err := e.text(string(slices.Concat(deep...))); !errors.Is(err, errOperands) {
		t.Errorf("%d operands: %v", maxOperands+1, err)
	}
	var many []byte
	for i := range maxVars + 1 {
		many = append(many, '$', 'a'+byte(i%26), 'a'+byte(i/26), ' ', '1', ' ', '=', ' ')
	}
	if _, err := e.text(string(many)); !errors.Is(err, errOperands) {
		t.Errorf("%d variables: %v", maxVars+1, err)
	}
}

func TestEvalAllocates(t *testing.T) {
	var regs cpu.Registers
	regs.Set(7, 0x1000)
	e := Evaluator{Stack: stack("x86_64", words(0x1000, 8, 1, 2, 3)), regs: &regs}
	p := &Program{}
	p.add(e.Stack, nil, []byte("$rsp 8 + ^ -2 +"))
	if n := testing.AllocsPerRun(100, func() { e.Begin(p, &regs); e.Eval(&p.Rules[0]) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzEval(f *testing.F) {
	for _, s := range []string{"$rsp 8 +", ".cfa -16 + ^", "$T0 $ebp = $eip $T0 4 + ^ =", "1 0 /", "$rip 15 @ .undef"} {
		f.Add([]byte(s), uint64(0x1000))
	}
	f.Fuzz(func(t *testing.T, expr []byte, sp uint64) {
		for _, name := range cpu.Names() {
			s := stack(name, words(0x1000, 8, 1, 2, 3, 4))
			var regs cpu.Registers
			regs.Set(s.Arch.SP, sp)
			e := Evaluator{Stack: s, regs: &regs}
			v, err := e.text(string(expr))
			if err == nil && v != s.Narrow(v) {
				t.Fatalf("%s: %q = %#x", name, expr, v)
			}
			if e.n > maxOperands || e.set > maxVars {
				t.Fatalf("%d operands, %d variables", e.n, e.set)
			}
			again, err2 := e.text(string(expr))
			if v != again || (err == nil) != (err2 == nil) {
				t.Fatalf("%q: %v, then %#x %v", expr, v, again, err2)
			}
		}
	})
}

// TestTenfoldRules: a STACK WIN program of minidump2.dmp has 12 variables and 3 operands.
func TestTenfoldRules(t *testing.T) {
	const variables, operands = 10 * 12, 10 * 3
	program := func(variables, operands int) string {
		var b strings.Builder
		for i := range variables {
			fmt.Fprintf(&b, "$v%d %d = ", i, i)
		}
		b.WriteString(strings.Repeat("1 ", operands) + strings.Repeat("+ ", operands-1))
		return b.String()
	}
	e := Evaluator{Stack: stack("x86", span{}), regs: &cpu.Registers{}}
	v, err := e.text(program(variables, operands))
	if err != nil || v != operands || e.set != variables {
		t.Errorf("%d variables, result %d, %v", e.set, v, err)
	}
	for _, bomb := range []string{program(100_000, 1), program(1, 100_000)} {
		if _, err := e.text(bomb); err == nil {
			t.Errorf("%.20s…: no error", bomb)
		}
	}
}
