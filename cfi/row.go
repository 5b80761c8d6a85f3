package cfi

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
	// KindExpr: the value of the DWARF expression Expr (DW_CFA_val_expression,
	// DW_CFA_def_cfa_expression).
	KindExpr
	// KindMemExpr: the word at the address that Expr gives (DW_CFA_expression).
	KindMemExpr
)

// Rule says how one value of the caller's frame, or the CFA, is found.
type Rule struct {
	Kind Kind
	Reg  Reg    // KindReg, KindMemReg
	Off  int64  // in bytes: all factors of the CIE are applied
	Expr []byte // KindExpr, KindMemExpr: aliases the section
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
