package eval

import (
	"fmt"

	"symkit/cfi"
)

// RuleUsesPC reports whether a rule of row reads the program counter.
func (m *Machine) RuleUsesPC(row *cfi.Row, rule cfi.Rule) bool {
	switch rule.Kind {
	case cfi.KindReg, cfi.KindMemReg:
		return m.arch.PC != "" && m.arch.RegName(rule.Reg) == m.arch.PC
	case cfi.KindExpr, cfi.KindMemExpr:
		_, pc := Plain(m.arch, row.Expr(rule), m.BigEndian)
		return pc
	}
	return false
}

// Describe describes the rule of register reg, or of RegCFA, in words.
func (a *Arch) Describe(rule cfi.Rule, reg cfi.Reg) string {
	name := func(r cfi.Reg) string {
		if n := a.RegName(r); n != "" {
			return n
		}
		return fmt.Sprintf("register %d", r)
	}
	switch rule.Kind {
	case cfi.KindUndefined:
		return "undefined"
	case cfi.KindSame, cfi.KindNone:
		return "unchanged"
	case cfi.KindMemCFA:
		return fmt.Sprintf("the word at CFA%+d", rule.Off)
	case cfi.KindCFA:
		return fmt.Sprintf("CFA%+d", rule.Off)
	case cfi.KindReg:
		if rule.Off == 0 && reg != RegCFA {
			return name(rule.Reg)
		}
		return fmt.Sprintf("%s%+d", name(rule.Reg), rule.Off)
	case cfi.KindMemReg:
		return fmt.Sprintf("the word at %s%+d", name(rule.Reg), rule.Off)
	case cfi.KindMemExpr:
		return "the word at a DWARF expression"
	}
	return "a DWARF expression"
}
