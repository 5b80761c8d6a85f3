package linter

import (
	"errors"

	"symkit/check/internal/checks"
	"symkit/check/internal/eval"
	"symkit/check/report"
)

// rules checks that the rules of every STACK CFI record evaluate.
func (l *linter) rules() {
	c, s := l.c, l.s
	if len(s.Inits) == 0 {
		return
	}
	c.Begin(checks.Rules, "records")
	if l.arch == nil {
		c.State(checks.Rules, report.NotVerified, "no register names are known for the architecture")
		c.Unverified(checks.Rules, uint64(len(s.Inits)+len(s.Deltas)), "")
		return
	}

	// Each different text is judged once.
	p := eval.NewParser(eval.NewArch(l.arch))
	traits := make([]trait, len(s.Rules.Texts))
	var rules []eval.Rule
	for i, text := range s.Rules.Texts {
		rules = p.Parse(rules[:0], text)
		traits[i] = traitOf(rules)
	}
	faults := func(at uint32, addr uint64, text uint32) {
		if traits[text]&traitFaulty != 0 {
			ruleErrors(p.Parse(nil, s.Rules.Texts[text]), func(err error, rule string) {
				l.wrong(checks.Rules, at, addr, "rule %q: %v", rule, err)
			})
		}
	}

	// Each INIT needs the two rules without which consumers cannot unwind.
	c.Compared(checks.Rules, uint64(len(s.Inits)+len(s.Deltas)))
	for i := range s.Inits {
		r := &s.Inits[i]
		faults(r.At, r.Addr, r.Rules)
		if traits[r.Rules]&traitCFA == 0 {
			l.wrong(checks.Rules, r.At, r.Addr, "no .cfa")
		}
		if traits[r.Rules]&traitRA == 0 {
			l.wrong(checks.Rules, r.At, r.Addr, "no .ra")
		}
		for _, d := range s.DeltasOf(r) {
			faults(d.At, d.Addr, d.Rules)
		}
	}
}

// trait is a set of properties of the rules of a text.
type trait uint8

const (
	traitCFA    trait = 1 << iota // .cfa is among the rules
	traitRA                       // .ra is among the rules
	traitFaulty                   // a rule cannot be evaluated
)

// traitOf returns the traits of the rules of one text.
func traitOf(rules []eval.Rule) (t trait) {
	if eval.Find(rules, eval.RegCFA) != nil {
		t |= traitCFA
	}
	if eval.Find(rules, eval.RegRA) != nil {
		t |= traitRA
	}
	ruleErrors(rules, func(error, string) { t |= traitFaulty })
	return t
}

// ruleErrors calls fail with each rule that cannot be evaluated.
func ruleErrors(rules []eval.Rule, fail func(err error, text string)) {
	// The registers before rule i must not have its register.
	for i, r := range rules {
		switch {
		case r.Reg == eval.RegUnknown:
			fail(eval.ErrToken, r.Text)
		case r.Prog.Err != nil:
			fail(r.Prog.Err, r.Text)
		case r.Reg == eval.RegCFA && r.Prog.UsesCFA:
			fail(eval.ErrSelfCFA, r.Text)
		default:
			if err := r.Prog.ConstantError(); err != nil {
				fail(err, r.Text)
			}
		}

		if r.Reg != eval.RegUnknown && eval.Find(rules[:i], r.Reg) != nil {
			fail(errTwice, r.Text)
		}
	}
}

var errTwice = errors.New("a second rule for the same register")
