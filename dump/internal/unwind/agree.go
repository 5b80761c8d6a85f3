package unwind

import (
	"symkit/cfi"
	"symkit/internal/wire"
	"symkit/located"
)

// compare counts the PCs of row by whether the rules of DWARF, in row, and of SFrame, in
// other, agree. Both tables describe all PCs of row.
func (m *merger) compare(row, other *cfi.Row) {
	a := &m.Agreement
	n := row.End - row.Begin
	a.Both += n

	// In a PLT, the CFA of DWARF is an expression of the PC.
	if p, ok := parsePLT(row); ok {
		differ := p.differ(row.Begin, row.End, other.CFA)
		a.CFA, a.Agree = a.CFA+differ, a.Agree+n-differ
		return
	}

	// An outermost frame of SFrame has a CFA that this module made up.
	cfa := normal(row, row.CFA)
	ra := m.fde.CIE.RA
	switch {
	case !same(cfa, normal(other, other.CFA)) && other.Rule(m.ra).Kind != cfi.KindUndefined:
		a.CFA += n
	case !same(m.returnAddress(row, ra), m.returnAddress(other, m.ra)):
		a.RA += n
	case row.Rule(ra).Kind == cfi.KindUndefined:
		a.Agree += n // the end of the stack: nothing else counts
	case !same(normal(row, row.Rule(m.fp)), normal(other, other.Rule(m.fp))):
		a.FP += n
	case row.RASigned != other.RASigned:
		a.Signed += n
	default:
		a.Agree += n
	}
}

// returnAddress returns the rule of the return address: none if the return address is
// unchanged in its own register.
func (m *merger) returnAddress(row *cfi.Row, ra cfi.Reg) cfi.Rule {
	r := normal(row, row.Rule(ra))
	if r.Kind == cfi.KindReg && r.Reg == ra && r.Off == 0 {
		return cfi.Rule{}
	}
	return r
}

// same reports whether a and b are one rule. Expressions are never the same.
func same(a, b cfi.Rule) bool {
	return a == b && a.Kind < cfi.KindExpr
}

// normal returns a rule of row in the one form that both sources use: an unchanged
// register has no rule, and expressions that SFrame has a form for are in this form.
func normal(row *cfi.Row, r cfi.Rule) cfi.Rule {
	switch r.Kind {
	case cfi.KindSame:
		return cfi.Rule{}
	case cfi.KindExpr, cfi.KindMemExpr:
		reg, off, deref, ok := parseBreg(row.Expr(r))
		switch {
		case ok && r.Kind == cfi.KindExpr && !deref:
			return cfi.Rule{Kind: cfi.KindReg, Reg: reg, Off: off}
		case ok && deref != (r.Kind == cfi.KindMemExpr):
			return cfi.Rule{Kind: cfi.KindMemReg, Reg: reg, Off: off}
		}
	}
	return r
}

// Operations of DWARF expressions (DWARF 5 §7.7.1).
const (
	opDeref = 0x06
	opAnd   = 0x1a
	opPlus  = 0x22
	opShl   = 0x24
	opGe    = 0x2a
	opLit0  = 0x30
	opBreg0 = 0x70
	opBregx = 0x92
)

// parseBreg recognises `breg R, off` and `breg R, off; deref`.
func parseBreg(expr []byte) (reg cfi.Reg, off int64, deref, ok bool) {
	c := wire.New("expression", expr, false)
	reg, off = breg(&c)
	if c.Len() == 1 {
		deref = c.U8() == opDeref
		return reg, off, deref, deref && c.Err() == nil
	}
	return reg, off, false, c.Err() == nil && c.Len() == 0 && len(expr) > 0
}

// breg reads a DW_OP_breg; the cursor fails at any other operation.
func breg(c *wire.Cursor) (reg cfi.Reg, off int64) {
	op := c.U8()
	switch {
	case op == opBregx:
		reg = cfi.Reg(c.ULEB())
	case op >= opBreg0 && op < opBreg0+32:
		reg = cfi.Reg(op - opBreg0)
	default:
		c.Fail(0, located.ErrOffset)
	}
	return reg, c.SLEB()
}

// pltRule is the CFA that GNU ld writes for an x86-64 PLT: reg + off, and 8 more from
// byte k of a slot on.
type pltRule struct {
	reg cfi.Reg
	off int64
	k   uint64
}

// parsePLT recognises as row's CFA breg SP, off; breg PC, 0; lit15; and; lit K; ge; lit3;
// shl; plus.
func parsePLT(row *cfi.Row) (p pltRule, ok bool) {
	if row.CFA.Kind != cfi.KindExpr {
		return p, false
	}
	c := wire.New("expression", row.Expr(row.CFA), false)

	// All operations are read before any is compared: a failed cursor reads zeros.
	p.reg, p.off = breg(&c)
	pc, zero := breg(&c)
	mask, and, k := c.U8(), c.U8(), c.U8()
	ge, three, shl, plus := c.U8(), c.U8(), c.U8(), c.U8()
	p.k = uint64(k - opLit0)
	return p, c.Err() == nil && c.Len() == 0 && pc == amd64PC && zero == 0 && mask == opLit0+15 && and == opAnd &&
		k >= opLit0 && k < opLit0+16 && ge == opGe && three == opLit0+3 && shl == opShl && plus == opPlus
}

// amd64PC is the number of rip.
const amd64PC = 16

// differ counts the PCs in [lo, hi) at which the CFA is not as in other.
func (p *pltRule) differ(lo, hi uint64, other cfi.Rule) (n uint64) {
	high := p.high(hi) - p.high(lo)
	if !same(other, cfi.Rule{Kind: cfi.KindReg, Reg: p.reg, Off: p.off}) {
		n += hi - lo - high
	}
	if !same(other, cfi.Rule{Kind: cfi.KindReg, Reg: p.reg, Off: p.off + 8}) {
		n += high
	}
	return n
}

// high counts the PCs below pc that are at byte k of a slot or after it.
func (p *pltRule) high(pc uint64) uint64 { return pc/16*(16-p.k) + max(pc%16, p.k) - p.k }
