package eval

import (
	"errors"
	"math"
	"strings"
	"testing"

	"symkit/cfi"
)

func x86_64(t testing.TB) *Arch {
	t.Helper()
	return NewArch(cfi.ArchByName("x86_64"))
}

// TestPostfix checks the operators and the errors of rules (reference: breakpad.md §4.2, walker.md
// §1.6).
func TestPostfix(t *testing.T) {
	a := x86_64(t)
	m := newMachine(a, 1, false)
	m.PC = 0x1239
	rsp, rbx := m.Reg(7), m.Reg(3)
	const cfa = 0x7fff0000
	for _, test := range []struct {
		text string
		want uint64
		err  error
	}{
		{"$rsp 8 +", rsp + 8, nil},
		{"$rsp -8 +", rsp - 8, nil},
		{".cfa -8 + ^", m.word(cfa - 8), nil},
		{"$rbx", rbx, nil},
		{"$rip", 0x1239, nil},
		{"$rip 16 % 11 / 8 *", 0, nil},
		{"$rip 16 @", 0x1230, nil},
		{"7 2 -", 5, nil},
		{"-1 1 +", 0, nil},
		{"100 7 %", 2, nil},
		{"9223372036854775807", math.MaxInt64, nil},
		{"", 0, errLeft},
		{"1 2", 0, errLeft},
		{"+", 0, ErrStack},
		{"1 +", 0, ErrStack},
		{"^", 0, ErrStack},
		{"$nosuch", 0, ErrToken},
		{".ra", 0, ErrToken},
		{"0x10", 0, ErrToken},
		{"9223372036854775808", 0, ErrToken},
		{"1 0 /", 0, errDivide},
		{"1 0 %", 0, errDivide},
		{"1 3 @", 0, errAlign},
		{"1 0 @", 0, errAlign},
		{".undef", 0, errUndefined},
		{"$rsp .undef +", 0, errUndefined},
		{strings.Repeat("1 ", maxValues+1), 0, errDeep},
		{strings.Repeat("1 ", maxValues) + strings.Repeat("+ ", maxValues-1), maxValues, nil},
	} {
		got, err := parsePostfix(a, test.text).Eval(&m, cfa)
		if got != test.want || !errors.Is(err, test.err) {
			t.Errorf("%.40q = %#x, %v; want %#x, %v", test.text, got, err, test.want, test.err)
		}
	}
}

// TestPostfix32 checks that arithmetic wraps at 32 bits on 32-bit machines.
func TestPostfix32(t *testing.T) {
	a := NewArch(cfi.ArchByName("x86"))
	m := newMachine(a, 1, false)
	if v, err := parsePostfix(a, ".cfa -8 +").Eval(&m, 4); v != 0xfffffffc || err != nil {
		t.Errorf("got %#x, %v", v, err)
	}
}

func TestPostfixAllocs(t *testing.T) {
	a := x86_64(t)
	m := newMachine(a, 1, false)
	p := parsePostfix(a, "$rsp 8 + $rip 16 % 11 / 8 * +")
	if n := testing.AllocsPerRun(100, func() { _, _ = p.Eval(&m, 0) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzPostfix checks that evaluating any text gives a value or an error, the same on every run, and
// that a rule without registers does not depend on them.
func FuzzPostfix(f *testing.F) {
	for _, s := range []string{"$rsp 8 +", ".cfa -8 + ^", "1 0 /", "$rip 16 % 11 / 8 * +", ".undef"} {
		f.Add(s)
	}
	a := x86_64(f)
	f.Fuzz(func(t *testing.T, s string) {
		p := parsePostfix(a, s)
		m, n := newMachine(a, 1, false), newMachine(a, 2, false)
		v, err := p.Eval(&m, 16)
		again, errAgain := p.Eval(&m, 16)
		if v != again || (err == nil) != (errAgain == nil) {
			t.Fatalf("%q: %#x, %v, then %#x, %v", s, v, err, again, errAgain)
		}
		if other, _ := p.Eval(&n, 16); !strings.ContainsAny(s, "$^") && other != v {
			t.Fatalf("%q: %#x and %#x on other registers", s, v, other)
		}
	})
}

func BenchmarkPostfix(b *testing.B) {
	a := x86_64(b)
	m := newMachine(a, 1, false)
	p := parsePostfix(a, "$rsp 8 + $rip 16 % 11 / 8 * +")
	for b.Loop() {
		_, _ = p.Eval(&m, 0)
	}
}

// TestRuleParser checks that rules are divided where a token ends in a colon.
func TestRuleParser(t *testing.T) {
	p := NewParser(x86_64(t))
	rules := p.Parse(nil, []byte(".cfa: $rsp 8 + .ra: .cfa -8 + ^ $rbx: $rbx $rip: 1 nosuch: 2"))
	want := []struct {
		reg  cfi.Reg
		text string
	}{{RegCFA, "$rsp 8 +"}, {RegRA, ".cfa -8 + ^"}, {3, "$rbx"}, {RegRA, "1"}, {RegUnknown, "2"}}
	if len(rules) != len(want) {
		t.Fatalf("got %d rules", len(rules))
	}
	for i, w := range want {
		if rules[i].Reg != w.reg || rules[i].Text != w.text {
			t.Errorf("rule %d: register %d, %q", i, rules[i].Reg, rules[i].Text)
		}
	}
}
