package eval

import (
	"bytes"
	"errors"
	"hash/maphash"
	"slices"

	"symkit/cfi"
	"symkit/internal/hashindex"
)

// SameRules reports whether two sets of rules have the same text.
func SameRules(a, b []Rule) bool {
	return slices.EqualFunc(a, b, func(x, y Rule) bool { return x.Reg == y.Reg && x.Text == y.Text })
}

// Override returns state, which is sorted by register, with rules put into force.
func Override(state, rules []Rule) []Rule {
	for _, r := range rules {
		i, found := slices.BinarySearchFunc(state, r, func(a, b Rule) int { return int(int64(a.Reg) - int64(b.Reg)) })
		if found {
			state[i] = r
		} else {
			state = slices.Insert(state, i, r)
		}
	}
	return state
}

// UsesPC reports whether any of rules depends on the program counter.
func UsesPC(rules []Rule) bool {
	return slices.ContainsFunc(rules, func(r Rule) bool { return r.Prog.UsesPC })
}

// ValueOf evaluates the rule of reg. It returns false if there is no value. Without a rule a
// callee-saved register is unchanged, and the stack pointer is the CFA.
func ValueOf(m *Machine, rules []Rule, reg cfi.Reg, cfa uint64) (uint64, bool) {
	// A value below MaxUndefined ends the stack.
	rule := Find(rules, reg)
	switch {
	case rule != nil:
		v, err := rule.Prog.Eval(m, cfa)
		if err != nil || reg == RegRA && v < MaxUndefined {
			return 0, false
		}
		return v, true
	case reg == m.arch.SP:
		return cfa, true
	case m.arch.Preserves(reg):
		return m.Reg(reg), true
	}
	return 0, false
}

// Numbers of symbols in rules that are no registers of the machine.
const (
	RegCFA     = cfi.Reg(1<<32 - 1)
	RegRA      = cfi.Reg(1<<32 - 2)
	RegUnknown = cfi.Reg(1<<32 - 3)
)

// Rule is one "REG: EXPRESSION".
type Rule struct {
	Reg  cfi.Reg
	Prog *program
	Text string
}

// Parser parses rules. Each distinct expression is parsed once.
type Parser struct {
	Arch  *Arch
	exprs []expression
	index hashindex.Index // of exprs
	seed  maphash.Seed
}

// expression is a text and what is parsed of it.
type expression struct {
	text string
	prog *program
}

// NewParser returns a Parser for the register names of a.
func NewParser(a *Arch) *Parser {
	return &Parser{Arch: a, seed: maphash.MakeSeed()}
}

// Parse appends the rules of one record. The strict reader has verified that they are pairs.
func (p *Parser) Parse(rules []Rule, text []byte) []Rule {
	// A rule ends where the name of the next one begins.
	rest := text
	for len(rest) > 0 {
		name, after, _ := bytes.Cut(rest, []byte(": "))
		end := NextRule(after)
		expr := p.expression(bytes.TrimSuffix(after[:end], []byte(" ")))
		rules = append(rules, Rule{p.register(string(name)), expr.prog, expr.text})
		rest = after[end:]
	}
	return rules
}

// maxDistinctRules bounds the number of expressions that a Parser keeps.
const maxDistinctRules = 1 << 20

// NextRule returns the position of the next "REG:" in text, its length if there is none.
func NextRule(text []byte) int {
	start := 0
	for i, b := range text {
		if b == ' ' {
			if i > start && text[i-1] == ':' {
				return start
			}
			start = i + 1
		}
	}
	return len(text)
}

// expression returns the parsed expression.
func (p *Parser) expression(text []byte) expression {
	hash := maphash.Bytes(p.seed, text)
	i, ok := p.index.Find(hash, func(i uint32) bool { return p.exprs[i].text == string(text) })
	if ok {
		return p.exprs[i]
	}
	expr := expression{text: string(text)}
	expr.prog = parsePostfix(p.Arch, expr.text)
	if len(p.exprs) < maxDistinctRules {
		p.index.Add(hash, uint32(len(p.exprs)))
		p.exprs = append(p.exprs, expr)
	}
	return expr
}

// register returns the number of a register name.
func (p *Parser) register(name string) cfi.Reg {
	switch name {
	case ".cfa":
		return RegCFA
	case ".ra", p.Arch.PC:
		return RegRA
	}
	if r, ok := p.Arch.regs[name]; ok {
		return r
	}
	return RegUnknown
}

// Find returns the rule of a register, nil if there is none.
func Find(rules []Rule, reg cfi.Reg) *Rule {
	for i := range rules {
		if rules[i].Reg == reg {
			return &rules[i]
		}
	}
	return nil
}

// MaxUndefined is the least return address. A smaller constant, before any adjustment, means that
// there is no return address.
const MaxUndefined = 4096

// errNoRule is the error for a row without a rule that could be evaluated.
var errNoRule = errors.New("no rule")

// Value evaluates a rule of row for register self.
func (m *Machine) Value(row *cfi.Row, rule cfi.Rule, self cfi.Reg, cfa uint64, initial ...uint64) (uint64, error) {
	switch rule.Kind {
	case cfi.KindUndefined:
		return 0, errUndefined
	case cfi.KindNone:
		return 0, errNoRule
	case cfi.KindSame:
		return m.Reg(self), nil
	case cfi.KindMemCFA:
		return m.word((cfa + uint64(rule.Off)) & m.Mask), nil
	case cfi.KindCFA:
		return (cfa + uint64(rule.Off)) & m.Mask, nil
	case cfi.KindReg:
		return (m.Reg(rule.Reg) + uint64(rule.Off)) & m.Mask, nil
	case cfi.KindMemReg:
		return m.word((m.Reg(rule.Reg) + uint64(rule.Off)) & m.Mask), nil
	}

	// The other kinds are expressions.
	v, err := m.expression(row.Expr(rule), initial...)
	if err == nil && rule.Kind == cfi.KindMemExpr {
		v = m.word(v)
	}
	return v, err
}
