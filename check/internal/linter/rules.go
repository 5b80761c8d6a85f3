package linter

import (
	"errors"

	"symkit/check/internal/eval"
	"symkit/check/report"
)

// rules checks that the rules of every STACK CFI record evaluate.
func (l *linter) rules() {
	c, s := l.c, l.s
	if len(s.Inits) == 0 {
		return
	}
	c.Begin(report.CheckRules, "records")
	if l.arch == nil {
		c.State(report.CheckRules, report.NotVerified, "no register names are known for the architecture")
		c.Unverified(report.CheckRules, uint64(len(s.Inits)+len(s.Deltas)), "")
		return
	}

	// Each INIT needs the two rules without which consumers cannot unwind.
	p := eval.NewParser(eval.NewArch(l.arch))
	c.Compared(report.CheckRules, uint64(len(s.Inits)+len(s.Deltas)))
	for i := range s.Inits {
		r := &s.Inits[i]
		rules := p.Parse(r.Rules)
		l.ruleErrors(r.At, r.Addr, rules)
		if eval.Find(rules, eval.RegCFA) == nil {
			l.wrong(report.CheckRules, r.At, r.Addr, "no .cfa")
		}
		if eval.Find(rules, eval.RegRA) == nil {
			l.wrong(report.CheckRules, r.At, r.Addr, "no .ra")
		}
		for _, d := range s.DeltasOf(r) {
			l.ruleErrors(d.At, d.Addr, p.Parse(d.Rules))
		}
	}
}

// ruleErrors reports the rules of one record that cannot be evaluated.
func (l *linter) ruleErrors(at uint32, addr uint64, rules []eval.Rule) {
	fail := func(err error, text string) {
		l.wrong(report.CheckRules, at, addr, "rule %q: %v", text, err)
	}

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
