package unwind

import (
	"fmt"
	"slices"

	"symkit/cfi"
	"symkit/check/internal/eval"
)

// judgeAt compares all rules at one PC, on every machine.
func (w *unwindWorker) judgeAt(pc uint64, row *cfi.Row, ra cfi.Reg) verdict {
	for i := range w.machines {
		m := &w.machines[i]
		m.PC = pc & m.Mask
		if v := w.judgeOn(m, row, ra); v.fault != "" {
			return v
		}
	}
	return verdict{}
}

// judgeOn compares all rules on one machine: the CFA, the return address, the registers with a rule
// in the row, and all others.
func (w *unwindWorker) judgeOn(m *eval.Machine, row *cfi.Row, ra cfi.Reg) verdict {
	have, ok := w.eval(m, eval.RegCFA, 0)
	undefinedRA := row.Rule(ra).Kind == cfi.KindUndefined

	// At the end of the stack no table needs a CFA.
	var want uint64
	var err error
	if row.CFA.Kind == cfi.KindNone {
		if !undefinedRA {
			return verdict{fault: "the table has no CFA here"}
		}
		want = have
	} else {
		want, err = m.Value(row, row.CFA, eval.RegCFA, 0)
		if err != nil {
			return verdict{fault: "a CFA expression that cannot be evaluated", inexpressible: true}
		}
	}
	if !ok || have != want {
		return verdict{fault: "the table says CFA = " + w.arch.Describe(row.CFA, eval.RegCFA), inexpressible: !w.expressible(row, row.CFA) && !ok}
	}
	if v := w.returnAddress(m, row, ra, want); v.fault != "" {
		return v
	}

	for i := range row.Regs {
		if v := w.register(m, row, row.Regs[i], ra, want); v.fault != "" {
			return v
		}
	}
	return w.others(m, row, ra, want)
}

// eval evaluates the rule in force for a register. It returns false if there is no rule, or if the
// rule cannot be evaluated.
func (w *unwindWorker) eval(m *eval.Machine, reg cfi.Reg, cfa uint64) (v uint64, ok bool) {
	rule := eval.Find(w.state, reg)
	if rule == nil {
		return 0, false
	}
	value, err := rule.Prog.Eval(m, cfa)
	return value, err == nil
}

// returnAddress compares .ra with the rule for the return address column.
func (w *unwindWorker) returnAddress(m *eval.Machine, row *cfi.Row, ra cfi.Reg, cfa uint64) verdict {
	rule := row.Rule(ra)
	have, ok := w.eval(m, eval.RegRA, cfa)
	switch rule.Kind {
	case cfi.KindUndefined:
		if ok && have >= eval.MaxUndefined {
			return verdict{fault: "the table says that the return address is undefined"}
		}
		return verdict{}
	case cfi.KindNone:
		if !w.arch.LinkRegister {
			return verdict{fault: "the table has no rule for the return address"}
		}
		rule = cfi.Rule{Kind: cfi.KindSame}
	}

	// A column without a rule is unchanged where calls leave the return address in a register.
	want, err := m.Value(row, rule, ra, cfa, cfa)
	if err != nil {
		return verdict{fault: "a return address expression that cannot be evaluated", inexpressible: true}
	}
	if !ok || have != want {
		return verdict{fault: "the table says return address = " + w.describeReg(rule, ra), inexpressible: !ok && !w.expressible(row, rule)}
	}
	return verdict{}
}

// describeReg describes the rule of a register in words.
func (w *unwindWorker) describeReg(rule cfi.Rule, reg cfi.Reg) string {
	if rule.Kind == cfi.KindSame {
		return w.arch.RegName(reg)
	}
	return w.arch.Describe(rule, reg)
}

// register compares the rule of one register in the row with the rule in force.
func (w *unwindWorker) register(m *eval.Machine, row *cfi.Row, rule cfi.RegRule, ra cfi.Reg, cfa uint64) verdict {
	if rule.Reg == ra {
		return verdict{}
	}
	if w.unnamed(rule.Reg) {
		return verdict{} // STACK CFI has no name for it
	}

	// A rule that differs in text is right if it gives the same value.
	reg := w.arch.Canonical(rule.Reg)
	have, ok := w.eval(m, reg, cfa)
	stated := w.stated(reg)
	want, err := m.Value(row, rule.Rule, rule.Reg, cfa, cfa)
	name := w.arch.RegName(rule.Reg)
	switch {
	case rule.Kind == cfi.KindUndefined:
		// Consumers take a callee-saved register without a rule for unchanged.
		if ok || !stated && w.arch.Preserves(reg) {
			return verdict{fault: name + " is undefined in the table"}
		}
		return verdict{}
	case err != nil:
		return verdict{fault: "a register expression that cannot be evaluated", inexpressible: true}
	case !stated && rule.Kind == cfi.KindSame:
		return verdict{}
	case !ok && stated && !w.expressible(row, rule.Rule):
		return verdict{fault: "a register expression that postfix may not be able to express", inexpressible: true}
	case !stated && reg == w.arch.SP && want == cfa:
		return verdict{} // consumers take the CFA
	case !ok || have != want:
		return verdict{fault: fmt.Sprintf("the table says %s = %s", name, w.describeReg(rule.Rule, rule.Reg))}
	}
	return verdict{}
}

// stated reports whether a rule for reg is in force.
func (w *unwindWorker) stated(reg cfi.Reg) bool { return eval.Find(w.state, reg) != nil }

// others compares the rules in force for registers without a rule in the row, and the stack pointer
// where it is not the CFA.
func (w *unwindWorker) others(m *eval.Machine, row *cfi.Row, ra cfi.Reg, cfa uint64) verdict {
	sp := (cfa + uint64(w.arch.SPOffset)) & m.Mask
	for i := range w.state {
		reg := w.state[i].Reg
		if reg >= eval.RegUnknown || w.hasRow(row, reg) {
			continue
		}

		// Such a register is unchanged, except the return address and the stack pointer.
		have, err := w.state[i].Prog.Eval(m, cfa)
		name := w.arch.RegName(reg)
		switch {
		case reg == w.arch.Canonical(ra):
			continue // the value of .ra, or what a call has left in the register
		case reg == w.arch.SP:
			if err != nil || have != sp {
				return verdict{fault: fmt.Sprintf("the caller's %s is CFA%+d", name, w.arch.SPOffset)}
			}
		case err != nil && w.arch.Preserves(reg), err == nil && have != m.Reg(reg):
			return verdict{fault: fmt.Sprintf("the table has no rule for %s: it is unchanged", name)}
		}
	}

	// Without any rule a consumer would take the CFA for the stack pointer.
	if w.arch.SPOffset != 0 && !w.hasRow(row, w.arch.SP) && !w.stated(w.arch.SP) && row.Rule(ra).Kind != cfi.KindUndefined {
		return verdict{fault: fmt.Sprintf("no rule for %s, which is CFA%+d", w.arch.RegName(w.arch.SP), w.arch.SPOffset)}
	}
	return verdict{}
}

// hasRow reports whether row has a rule for a register with the name of reg.
func (w *unwindWorker) hasRow(row *cfi.Row, reg cfi.Reg) bool {
	return slices.ContainsFunc(row.Regs, func(r cfi.RegRule) bool { return w.arch.Canonical(r.Reg) == reg })
}
