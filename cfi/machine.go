package cfi

import (
	"debug/elf"
	"fmt"
	"slices"
	"sync"

	"symkit/internal/wire"
)

// find reports whether f has an instruction with an opcode that is a whole byte.
func (m *machine) find(f *FDE, op uint8) bool {
	c := f.sec.cursor()
	c.Seek(uint64(f.from))
	m.reset(f.sec, f.CIE, c.Sub(uint64(f.upto-f.from)))
	for m.c.Len() > 0 {
		m.at = m.c.Pos()
		switch next := m.c.U8(); {
		case next == op:
			return true
		case next >= opAdvanceLoc && next < opOffset || next >= opRestore:
		case next >= opOffset:
			m.c.ULEB()
		default:
			m.operands(next)
		}
	}
	return false
}

func (m *machine) reset(s *Section, cie *CIE, c wire.Cursor) {
	m.sec, m.cie, m.c = s, cie, c

	// A function starts with the rules of its CIE.
	m.saved, m.arena = m.saved[:0], m.arena[:0]
	m.row.CFA, m.row.RASigned, m.row.Exprs = cie.initial.CFA, cie.initial.RASigned, s.Data
	m.row.Regs = append(m.row.Regs[:0], cie.initial.Regs...)
	m.cfaOff, m.offsetAt = cie.cfaOff, cie.offsetAt
}

// initial runs the initial instructions of cie and stores the resulting row in cie.
func (m *machine) initial(s *Section, cie *CIE, c wire.Cursor) error {
	m.reset(s, cie, c)
	m.inCIE, m.begin, m.loc, m.next, m.end = true, 0, 0, 0, 0
	for m.c.Len() > 0 {
		m.step()
	}

	// The machine is reused, so cie gets its own copy of the rules.
	cie.initial = m.row
	cie.initial.Regs, cie.cfaOff = slices.Clone(m.row.Regs), m.cfaOff
	cie.offsetAt = m.offsetAt
	return m.c.Err()
}

// rows runs the instructions of f and yields a row for each change of the location.
func (m *machine) rows(f *FDE, yield func(*Row, error) bool) {
	c := f.sec.cursor()
	c.Seek(uint64(f.from))
	c = c.Sub(uint64(f.upto - f.from))
	m.reset(f.sec, f.CIE, c)
	m.inCIE, m.begin, m.loc, m.next, m.end = false, f.Begin, f.Begin, f.Begin, f.End

	// Only an instruction that advances the location ends a row.
	for m.c.Len() > 0 {
		m.step()
		if m.next == m.loc {
			continue
		}
		if !m.yield(min(m.next, m.end), yield) {
			return
		}
		if m.next > m.end {
			m.c.Fail(m.at, errBeyond)
		}
		m.loc = m.next
	}

	// The last row reaches to the end of the FDE.
	if m.c.Err() == nil && !m.yield(m.end, yield) {
		return
	}
	if err := m.c.Err(); err != nil {
		yield(nil, err)
	}
}

// yield yields the current row with the given end, unless the row is empty. The result is
// false if the consumer stops.
func (m *machine) yield(end uint64, yield func(*Row, error) bool) bool {
	if m.loc >= end {
		return true
	}
	if m.offsetAt != 0 && m.row.CFA.Kind == KindNone {
		m.c.Fail(m.offsetAt, errNoCFA)
		return true // rows yields the error
	}
	m.row.Begin, m.row.End = m.loc, end
	return yield(&m.row, nil)
}

// step runs one instruction. If the instruction is damaged, the cursor fails.
func (m *machine) step() {
	m.at = m.c.Pos()
	op := m.c.U8()

	// The high two bits select one of the three instructions with an operand in the low
	// six bits.
	low := Reg(op & 0x3f)
	switch op & 0xc0 {
	case opAdvanceLoc:
		m.advance(uint64(low))
	case opOffset:
		m.set(low, Rule{Kind: KindMemCFA, Off: m.factored(m.c.ULEB())})
	case opRestore:
		m.restore(low)
	default:
		if op == opDefCFAOffset { // a third of all instructions of x86-64
			m.defCFAOffset(m.fold(m.c.ULEB()))
			return
		}
		m.extended(op)
	}
}

// operands are the operands of one instruction, in the order of the encoding.
type operands struct {
	reg, reg2 Reg
	num       uint64 // of a block: the place of its length
}

func (m *machine) operands(op uint8) (o operands) {
	args := ops[op].args
	if ops[op].name == "" {
		m.c.Fail(m.at, fmt.Errorf("%w %#x", errOpcode, op))
	}

	// The table of instructions says which operands follow.
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case 'r':
			if i == 0 {
				o.reg = readReg(&m.c, false)
			} else {
				o.reg2 = readReg(&m.c, false)
			}
		case 'u':
			o.num = m.c.ULEB()
		case 's':
			o.num = uint64(m.c.SLEB())
		case 'a':
			_, o.num = m.sec.address(&m.c, m.cie.FDEEncoding, m.cie.AddrSize, m.begin)
		case 'b':
			o.num = uint64(m.c.Pos())
			m.c.Skip(m.c.ULEB())
		default:
			o.num = m.c.Uint(int(args[i] - '0'))
		}
	}
	return o
}

// extended runs an instruction that is a whole byte.
func (m *machine) extended(op uint8) {
	o := m.operands(op)
	if m.c.Err() != nil {
		return
	}

	// Each instruction changes the location, the CFA, one register or the state stack.
	switch op {
	case opNop, opGNUArgsSize: // args_size: only for unwinding into a landing pad
	case opSetLoc:
		m.setLoc(o.num)
	case opAdvanceLoc1, opAdvanceLoc2, opAdvanceLoc4, opMIPSAdvanceLoc8:
		m.advance(o.num)
	case opDefCFA:
		m.row.CFA = Rule{Kind: KindReg, Reg: o.reg, Off: m.fold(o.num)}
	case opDefCFASF:
		m.row.CFA = Rule{Kind: KindReg, Reg: o.reg, Off: m.factored(o.num)}
	case opDefCFARegister:
		m.defCFARegister(o.reg)
	case opDefCFAOffsetSF:
		m.defCFAOffset(m.factored(o.num))
	case opDefCFAExpression:
		m.defCFAExpression(int64(o.num))
	case opUndefined:
		m.set(o.reg, Rule{Kind: KindUndefined})
	case opSameValue:
		m.set(o.reg, Rule{Kind: KindSame})
	case opOffsetExtended, opOffsetExtendedSF:
		m.set(o.reg, Rule{Kind: KindMemCFA, Off: m.factored(o.num)})
	case opGNUNegOffsetExtended:
		m.set(o.reg, Rule{Kind: KindMemCFA, Off: m.fold(-uint64(m.factored(o.num)))})
	case opValOffset, opValOffsetSF:
		m.set(o.reg, Rule{Kind: KindCFA, Off: m.factored(o.num)})
	case opRegister:
		m.set(o.reg, Rule{Kind: KindReg, Reg: o.reg2})
	case opExpression:
		m.set(o.reg, Rule{Kind: KindMemExpr, Off: int64(o.num)})
	case opValExpression:
		m.set(o.reg, Rule{Kind: KindExpr, Off: int64(o.num)})
	case opRestoreExtended:
		m.restore(o.reg)
	case opRememberState:
		m.remember()
	case opRestoreState:
		m.recall()
	case opSetRAState, opNegateRAStateWithPC, opWindowSave:
		m.vendor(op, o.reg)
	}
}

// vendor runs the instructions whose meaning depends on the machine. raState is the
// operand of set_ra_state: 0 is not signed, 1 signed, 2 signed with the PC. The bits to
// strip are the same with and without the PC.
func (m *machine) vendor(op uint8, raState Reg) {
	switch m.sec.Machine {
	case elf.EM_AARCH64:
		// negate_ra_state flips the flag, with or without the PC; set_ra_state sets the
		// flag.
		m.row.RASigned = !m.row.RASigned
		if op == opSetRAState {
			m.row.RASigned = raState != 0
		}
		return
	case elf.EM_SPARC, elf.EM_SPARC32PLUS, elf.EM_SPARCV9:
		if op == opWindowSave {
			m.windowSave()
			return
		}
	}

	// Any other pair of machine and opcode has no meaning.
	m.c.Fail(m.at, fmt.Errorf("%w %#x", errOpcode, op))
}

// windowSave is SPARC's DW_CFA_GNU_window_save: the caller's %o registers are the current
// %i registers, and the caller's %l and %i registers are in the 16 words at the CFA.
func (m *machine) windowSave() {
	// %o0–%o7 are columns 8–15, %l0–%i7 are columns 16–31.
	for r := Reg(8); r < 16; r++ {
		m.set(r, Rule{Kind: KindReg, Reg: r + 16})
	}
	for r := Reg(16); r < 32; r++ {
		m.set(r, Rule{Kind: KindMemCFA, Off: int64(r-16) * int64(m.cie.AddrSize)})
	}
}

var machines = sync.Pool{New: func() any { return new(machine) }}

func getMachine() *machine { return machines.Get().(*machine) }

// putMachine returns m to the pool, without the references that would keep a section
// alive.
func putMachine(m *machine) {
	m.sec, m.cie, m.c, m.row.Exprs = nil, nil, wire.Cursor{}, nil
	machines.Put(m)
}
