package walk

import (
	"errors"
	"fmt"

	"symkit/walk/internal/cpu"
	"symkit/walk/internal/rules"
)

var (
	errNoRules     = errors.New("no rules")
	errNoEssential = errors.New("no rule for .cfa or .ra")
	errCantUnwind  = errors.New("the rules know no caller")
)

// byCFI applies the STACK CFI rules at the frame.
func byCFI(v *view, c *callee) (out cpu.Registers, _ verdict, err error) {
	u := v.rulesAt(c.Module, c.Lookup())
	if u == nil || u.cfi == nil {
		return out, notFound, errNoRules
	}

	// A constant return address below the first page stands for an undefined one.
	p := u.cfi
	handler := p.Ends && c.isGoHandler()
	if p.Ends && !handler {
		return out, stackEnd, errCantUnwind
	}
	cfaRule, raRule := p.Rule(".cfa"), p.Return(v.CPU)
	if cfaRule == nil || raRule == nil {
		return out, notFound, errNoEssential
	}

	// All rules see the registers of the callee.
	v.syms.cost.terms(p.Terms)
	e := &v.eval
	e.Begin(p, c.regs)
	cfa, err := e.Eval(cfaRule)
	if err != nil {
		if err == cpu.ErrMemory && c.follows(v, cfaRule) {
			c.reaches(v, e.Lost+v.WordSize(), true) // the frame has the word
		}
		return out, notFound, fmt.Errorf(".cfa: %w", err)
	}
	if v.LowSP && c.Trust == TrustFramePointer {
		cfa = v.cfaOfRecord(c.regs, p, cfa)
	}
	e.SetCFA(cfa)

	// The other rules can refer to the CFA, so they are evaluated after it.
	ra, err := e.Eval(raRule)
	if handler {
		ra, err = v.handlerReturn(c.regs, cfa)
	}
	c.ruleExtent(v, cfaRule, cfa, err)
	switch {
	case err == errCantUnwind:
		return out, stackEnd, err
	case err != nil:
		return out, notFound, fmt.Errorf(".ra: %w", err)
	}
	out = c.regs.Keep(v.Saved)
	v.SetSP(&out, cfa+uint64(v.Arch.SPOffset))
	c.restore(v, p, &out)
	out.PC = ra
	return out, found, nil
}

// restore applies the rules of the registers. All rules see the registers of the callee. A rule
// that fails makes its register unknown, but the stack pointer, which follows from the CFA.
func (c *callee) restore(v *view, p *rules.Program, out *cpu.Registers) {
	for i := range p.Rules {
		rule := &p.Rules[i]
		if !rule.Known || rule.Slot == cpu.RegPC {
			continue
		}
		value, err := v.eval.Eval(rule)
		switch {
		case err == nil:
			out.Set(rule.Slot, value)
			continue
		case err == cpu.ErrMemory:
			c.loses(v, v.eval.Lost)
		}
		if rule.Slot != v.Arch.SP {
			out.Clear(rule.Slot)
		}
	}
}

// cfaOfRecord corrects the CFA of a frame that was found by the frame pointer, and whose
// stack pointer may therefore be too low. If the rules say that the frame record is saved at
// a distance below the CFA, the CFA is the frame pointer plus the distance, provided that the
// return address found with this CFA leads to code.
func (v *view) cfaOfRecord(r *cpu.Registers, p *rules.Program, guess uint64) uint64 {
	at, ok := r.Get(v.FP)
	saved, ok2 := p.SavedBelow(v.Arch.RegName(v.FP))
	if !ok || !ok2 || at+saved <= guess {
		return guess
	}

	v.eval.SetCFA(at + saved)
	ra, err := v.eval.Eval(p.Return(v.CPU))
	if err != nil || !v.returnsToCode(ra) {
		return guess
	}
	return at + saved
}

// handlerReturn returns the return address of Go's signal handler, the address of a trampoline.
// Go's functions save the link register at the stack pointer. The error is errCantUnwind if the
// word there leads to no trampoline.
func (v *view) handlerReturn(r *cpu.Registers, cfa uint64) (ra uint64, err error) {
	at := v.SP(r)
	if !v.hasLR() {
		at = cfa - v.WordSize()
	}
	ra, ok := v.Word(at)
	if !ok {
		return 0, cpu.ErrMemory
	}
	pc := v.CodeAddr(ra)
	_, place := v.at(pc)
	if v.isTrampoline(pc, place) {
		return ra, nil
	}
	return 0, errCantUnwind
}
