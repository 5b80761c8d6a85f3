package cfi

import "symkit/internal/wire"

// Reg is a DWARF register number of the machine.
type Reg uint32

// Kind tells how a Rule computes its value.
type Kind uint8

// The kinds of rule. The CFA itself is KindReg, KindMemReg or KindExpr.
const (
	// KindNone: the table says nothing; the ABI's convention holds.
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
	// KindMemExpr: the word at the address that an expression gives
	// (DW_CFA_expression).
	KindMemExpr
)

// Rule says how one value of the caller's frame, or the CFA, is found. It is
// small and without pointers, for rows hold many.
type Rule struct {
	Kind Kind
	Reg  Reg // KindReg, KindMemReg
	// Off is an offset in bytes: all factors of the CIE are applied. Of KindExpr
	// and KindMemExpr it is the place of the expression in Row.Exprs.
	Off int64
}

// RegRule is the rule of one register.
type RegRule struct {
	Reg Reg
	Rule
}

// Row is one row of the unwind table: the rules for every PC in [Begin, End),
// addresses as the FDE has them (virtual addresses; in an ET_REL file as
// relocated).
type Row struct {
	Begin, End uint64
	CFA        Rule
	// Regs holds the registers that have a rule (no KindNone), ascending. It
	// aliases the decoder's storage and is valid until the next row.
	Regs []RegRule
	// Exprs holds the expressions of the row's rules, each a ULEB128 length and
	// that many bytes: the section, or nil where there cannot be any.
	Exprs []byte
	// RASigned: the return address is signed at these PCs (AArch64 pointer
	// authentication, pseudo register RA_SIGN_STATE): its upper bits are to be
	// stripped once the RA rule gave it.
	RASigned bool
}

// Rule returns the rule of register r: KindNone where the row has none.
func (r *Row) Rule(reg Reg) Rule {
	for i := range r.Regs {
		if r.Regs[i].Reg == reg {
			return r.Regs[i].Rule
		}
	}
	return Rule{}
}

// Expr is the DWARF expression of rule, of KindExpr or KindMemExpr and of this
// row. It aliases Exprs.
func (r *Row) Expr(rule Rule) []byte {
	c := wire.New("expression", r.Exprs, false)
	c.Seek(uint64(rule.Off))
	return c.Bytes(c.ULEB())
}
