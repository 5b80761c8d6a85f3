package check

import (
	"bytes"
	"errors"
	"slices"

	"symkit/cfi"
)

// Registers of a rule that are none of the machine's.
const (
	regCFA     = cfi.Reg(1<<32 - 1)
	regRA      = cfi.Reg(1<<32 - 2)
	regUnknown = cfi.Reg(1<<32 - 3)
)

// symRule is one "REG: EXPRESSION".
type symRule struct {
	reg  cfi.Reg
	prog *program
	text string
}

// ruleParser parses rules, each distinct text once.
type ruleParser struct {
	arch  *archInfo
	rules map[string][]symRule
	progs map[string]*program
}

func newRuleParser(a *archInfo) *ruleParser {
	return &ruleParser{arch: a, rules: map[string][]symRule{}, progs: map[string]*program{}}
}

// parse returns the rules of one record. The strict reader has made sure that
// they are pairs.
func (p *ruleParser) parse(text []byte) []symRule {
	if rules, ok := p.rules[string(text)]; ok {
		return rules
	}
	var rules []symRule
	rest := text
	for len(rest) > 0 {
		name, after, _ := bytes.Cut(rest, []byte(": "))
		end := nextRule(after)
		expr := string(bytes.TrimSuffix(after[:end], []byte(" ")))
		rules = append(rules, symRule{p.register(string(name)), p.program(expr), expr})
		rest = after[end:]
	}
	if len(p.rules) < maxDistinctRules {
		p.rules[string(text)] = rules
	}
	return rules
}

// maxDistinctRules bounds what a ruleParser remembers.
const maxDistinctRules = 1 << 20

// nextRule is the position of the next "REG:" in text.
func nextRule(text []byte) int {
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

func (p *ruleParser) program(expr string) *program {
	if prog, ok := p.progs[expr]; ok {
		return prog
	}
	prog := parsePostfix(p.arch, expr)
	if len(p.progs) < maxDistinctRules {
		p.progs[expr] = prog
	}
	return prog
}

func (p *ruleParser) register(name string) cfi.Reg {
	switch name {
	case ".cfa":
		return regCFA
	case ".ra", p.arch.PC:
		return regRA
	}
	if r, ok := p.arch.regs[name]; ok {
		return r
	}
	return regUnknown
}

// rules checks that the rules of every STACK CFI record evaluate.
func (l *linter) rules() {
	c, s := l.c, l.s
	if len(s.inits) == 0 {
		return
	}
	c.begin(CheckRules, "records")
	if l.arch == nil {
		c.state(CheckRules, NotVerified, "no register names are known for the architecture")
		c.unverified(CheckRules, uint64(len(s.inits)+len(s.deltas)), "")
		return
	}
	p := newRuleParser(newArchInfo(l.arch))
	c.compared(CheckRules, uint64(len(s.inits)+len(s.deltas)))
	for i := range s.inits {
		r := &s.inits[i]
		rules := p.parse(r.rules)
		l.ruleErrors(r.at, r.addr, rules)
		if !hasRule(rules, regCFA) {
			c.wrong(s.finding(CheckRules, r.at, r.addr, "no .cfa"), 1)
		}
		if !hasRule(rules, regRA) {
			c.wrong(s.finding(CheckRules, r.at, r.addr, "no .ra"), 1)
		}
		for _, d := range s.deltas[r.deltas.from:r.deltas.to] {
			l.ruleErrors(d.at, d.addr, p.parse(d.rules))
		}
	}
}

func hasRule(rules []symRule, reg cfi.Reg) bool {
	return slices.ContainsFunc(rules, func(r symRule) bool { return r.reg == reg })
}

// ruleErrors reports the rules of one record that cannot be evaluated.
func (l *linter) ruleErrors(at uint32, addr uint64, rules []symRule) {
	fail := func(err error, text string) {
		l.c.wrong(l.s.finding(CheckRules, at, addr, "rule %q: %v", text, err), 1)
	}
	for i, r := range rules {
		switch {
		case r.reg == regUnknown:
			fail(errToken, r.text)
		case r.prog.err != nil:
			fail(r.prog.err, r.text)
		case r.reg == regCFA && r.prog.usesCF:
			fail(errSelfCFA, r.text)
		default:
			if err := r.prog.constantError(); err != nil {
				fail(err, r.text)
			}
		}
		if r.reg != regUnknown && hasRule(rules[:i], r.reg) {
			fail(errTwice, r.text)
		}
	}
}

var errTwice = errors.New("a second rule for the same register")

// constantError finds divisions by zero and alignments that do not depend on
// any register.
func (p *program) constantError() error {
	for i, o := range p.ops {
		if o.kind != opArith || i == 0 || p.ops[i-1].kind != opNum {
			continue
		}
		if _, err := arith(o.arith, 0, p.ops[i-1].num); err != nil {
			return err
		}
	}
	return nil
}
