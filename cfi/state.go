package cfi

import (
	"debug/elf"
	"slices"

	"symkit/internal/wire"
)

const (
	// maxRules bounds the registers with a rule at one PC: twice the number that a signal
	// trampoline saves on ppc64, the machine with the most registers.
	maxRules = 256
	// maxSaved bounds the nesting of DW_CFA_remember_state.
	maxSaved = 256
	// raSignState is AArch64's pseudo register RA_SIGN_STATE.
	raSignState = 34
)

// machine runs call frame instructions (DWARF 5 §6.4.2). One machine runs many FDEs and
// reuses its slices.
type machine struct {
	row Row // the current row; begin and end are set when it is yielded
	// cfaOff is the offset of the last CFA rule with a register, while the current CFA
	// rule is an expression, or the offset that was set before the first rule.
	cfaOff int64
	// offsetAt is the place of the instruction that set an offset of the CFA before any rule,
	// or 0. A rule may follow (wasmtime's fibers); a row without one is damage.
	offsetAt int
	sec      *Section
	cie      *CIE
	c        wire.Cursor
	at       int // offset of the current instruction
	inCIE    bool
	begin    uint64 // of the FDE
	loc      uint64 // begin of the current row
	next     uint64 // location after the current instruction
	end      uint64

	saved []savedState
	arena []RegRule // the registers of all saved states
}

type savedState struct {
	cfa    Rule
	cfaOff int64
	signed bool
	from   int // in the arena
}

// factored returns v times the data alignment factor.
func (m *machine) factored(v uint64) int64 {
	return m.fold(v * uint64(m.cie.DataAlign))
}

// fold returns v as a signed offset of the address size: hand-written tables write -8 as
// a huge unsigned number.
func (m *machine) fold(v uint64) int64 {
	if m.cie.AddrSize == 4 {
		return int64(int32(v))
	}
	return int64(v)
}

// advance moves the location by n code alignment units. A location that overflows is
// beyond the end of the FDE.
func (m *machine) advance(n uint64) {
	if m.inCIE {
		m.c.Fail(m.at, errInCIE)
		return
	}

	// The product can overflow as well as the sum.
	delta := n * m.cie.CodeAlign
	m.next = m.loc + delta
	if m.next < m.loc || n != 0 && delta/n != m.cie.CodeAlign {
		m.next = ^uint64(0)
	}
}

func (m *machine) setLoc(addr uint64) {
	switch {
	case m.inCIE:
		m.c.Fail(m.at, errInCIE)
	case addr < m.loc:
		m.c.Fail(m.at, errBackwards)
	default:
		m.next = addr
	}
}

// defCFARegister sets the register of the CFA rule and keeps the offset. If the CFA has no
// rule yet, as in the CIEs that GNU as writes for RISC-V, the offset is 0. After an expression,
// which DWARF 5 §6.4.2.2 does not allow, the offset is that of the rule before the
// expression: hand-written code (libgcrypt's ciphers) relies on that, and unwinders and
// readelf do the same.
func (m *machine) defCFARegister(r Reg) {
	if m.row.CFA.Kind != KindReg {
		m.row.CFA = Rule{Kind: KindReg, Off: m.cfaOff}
	}
	m.row.CFA.Reg = r
}

// defCFAOffset sets the offset of the CFA rule. An expression stays in force, and the
// offset is kept for a later defCFARegister, as without any rule so far.
func (m *machine) defCFAOffset(off int64) {
	switch m.row.CFA.Kind {
	case KindReg:
		m.row.CFA.Off = off
	case KindExpr:
		m.cfaOff = off
	default:
		m.cfaOff, m.offsetAt = off, m.at
	}
}

func (m *machine) defCFAExpression(place int64) {
	if m.row.CFA.Kind == KindReg {
		m.cfaOff = m.row.CFA.Off
	}
	m.row.CFA = Rule{Kind: KindExpr, Off: place}
}

// set sets the rule of register r.
func (m *machine) set(r Reg, rule Rule) {
	if r == raSignState && m.sec.Machine == elf.EM_AARCH64 {
		m.setSigned(rule)
		return
	}

	// The registers of a row ascend.
	i := 0
	for i < len(m.row.Regs) && m.row.Regs[i].Reg < r {
		i++
	}

	switch {
	case i < len(m.row.Regs) && m.row.Regs[i].Reg == r:
		m.row.Regs[i].Rule = rule
	case len(m.row.Regs) == maxRules:
		m.c.Fail(m.at, errTooManyRules)
	default:
		m.row.Regs = slices.Insert(m.row.Regs, i, RegRule{r, rule})
	}
}

// setSigned sets the flag RASigned from a rule for RA_SIGN_STATE. Compilers flip the flag
// with an instruction of its own; the ABI also allows a constant as a value expression.
// Any other rule has no effect: the flag only says that bits are to be stripped.
func (m *machine) setSigned(rule Rule) {
	if rule.Kind != KindExpr {
		return
	}
	if e := m.row.Expr(rule); len(e) == 1 {
		m.row.RASigned = e[0] == exLit0+1
	}
}

// restore sets the rule of register r to the rule in the CIE's initial row, or removes
// it.
func (m *machine) restore(r Reg) {
	if m.inCIE {
		m.c.Fail(m.at, errInCIE)
		return
	}
	if r == raSignState && m.sec.Machine == elf.EM_AARCH64 {
		m.row.RASigned = m.cie.initial.RASigned
		return
	}

	// The rule of the CIE, if the CIE has one.
	for i := range m.cie.initial.Regs {
		if m.cie.initial.Regs[i].Reg == r {
			m.set(r, m.cie.initial.Regs[i].Rule)
			return
		}
	}

	// Otherwise the register has no rule.
	for i := range m.row.Regs {
		if m.row.Regs[i].Reg == r {
			m.row.Regs = slices.Delete(m.row.Regs, i, i+1)
			return
		}
	}
}

func (m *machine) remember() {
	if len(m.saved) == maxSaved {
		m.c.Fail(m.at, errStateStack)
		return
	}
	m.saved = append(m.saved, savedState{m.row.CFA, m.cfaOff, m.row.RASigned, len(m.arena)})
	m.arena = append(m.arena, m.row.Regs...)
}

// recall is DW_CFA_restore_state. DWARF 5 mentions register rules only, but every
// producer and consumer restores the CFA as well.
func (m *machine) recall() {
	n := len(m.saved) - 1
	if n < 0 {
		m.c.Fail(m.at, errStateStack)
		return
	}

	// The registers of the last saved state are at the end of the arena.
	s := m.saved[n]
	m.row.CFA, m.cfaOff, m.row.RASigned = s.cfa, s.cfaOff, s.signed
	m.row.Regs = append(m.row.Regs[:0], m.arena[s.from:]...)
	m.saved, m.arena = m.saved[:n], m.arena[:s.from]
}
