package cfi

import "symkit/internal/wire"

// Reg is a DWARF register number of the machine.
type Reg uint32

// Kind is the kind of calculation that gives the value of a Rule.
type Kind uint8

// The kinds of rule. The CFA itself is KindReg, KindMemReg or KindExpr.
const (
	// KindNone: the table has no rule; the convention of the ABI holds.
	KindNone Kind = iota
	// KindUndefined: the value cannot be recovered (DW_CFA_undefined).
	KindUndefined
	// KindSame: the register is unchanged (DW_CFA_same_value).
	KindSame
	// KindMemCFA: the word at CFA + Off (DW_CFA_offset).
	KindMemCFA
	// KindCFA: CFA + Off itself (DW_CFA_val_offset).
	KindCFA
	// KindReg: the value of register Reg, plus Off (DW_CFA_register; DW_CFA_def_cfa).
	KindReg
	// KindMemReg: the word at Reg + Off (flexible SFrame FDEs only).
	KindMemReg
	// KindExpr: the value of a DWARF expression (DW_CFA_val_expression,
	// DW_CFA_def_cfa_expression); see Row.Expr.
	KindExpr
	// KindMemExpr: the word at the address that a DWARF expression computes
	// (DW_CFA_expression).
	KindMemExpr
)

// Rule is the rule for a value of the caller's frame, or for the CFA. A Rule is small and
// has no pointers, because rows have many rules.
type Rule struct {
	Kind Kind
	Reg  Reg // KindReg, KindMemReg
	// Off is an offset in bytes, with all factors of the CIE applied. For KindExpr and
	// KindMemExpr, Off is the offset of the expression in Row.Exprs.
	Off int64
}

// RegRule is the rule of one register.
type RegRule struct {
	Reg Reg
	Rule
}

// Row is one row of the unwind table: the rules for every PC in [Begin, End). The
// addresses are virtual, in an ET_REL file as relocated.
type Row struct {
	Begin, End uint64
	CFA        Rule
	// Regs are the registers that have a rule (never KindNone), in ascending order. Regs
	// aliases the decoder's storage and is valid until the next row.
	Regs []RegRule
	// Exprs are bytes that contain the expressions of the rules, each with its length as
	// a ULEB128 before it: the whole section, or nil if no rule has an expression.
	Exprs []byte
	// RASigned means that the return address is signed at these PCs (AArch64 pointer
	// authentication, pseudo register RA_SIGN_STATE): the upper bits of the value of the
	// RA rule are to be stripped.
	RASigned bool
}

// Rule returns the rule of register r, of KindNone if the row has none.
func (r *Row) Rule(reg Reg) Rule {
	for i := range r.Regs {
		if r.Regs[i].Reg == reg {
			return r.Regs[i].Rule
		}
	}
	return Rule{}
}

// Expr returns the DWARF expression of a rule of this row of KindExpr or KindMemExpr. The
// result aliases Exprs.
func (r *Row) Expr(rule Rule) []byte {
	// The byte order does not matter: a ULEB128 and bytes have none.
	c := wire.New("expression", r.Exprs, false)
	c.Seek(uint64(rule.Off))
	return c.Bytes(c.ULEB())
}
