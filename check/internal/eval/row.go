package eval

import (
	"errors"

	"symkit/cfi"
)

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
	v, err := m.expression(row.Expr(rule), initial...)
	if err == nil && rule.Kind == cfi.KindMemExpr {
		v = m.word(v)
	}
	return v, err
}
