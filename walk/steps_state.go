package walk

import (
	"slices"

	"symkit/cfi"
)

// The state before an instruction: every register is either unknown, unchanged since
// entry, a constant, or at a known distance from the stack pointer on entry (the origin).
// Compilers keep that distance the same on all paths to an instruction, so that the first
// path found is as good as any.

// codeValue is the known value of a register.
type codeValue struct {
	kind valueKind
	n    int64
}

type valueKind uint8

const (
	valueEntry valueKind = iota // the register's value on entry
	valueUnknown
	valueOrigin // the stack pointer on entry, plus n
	valueConst  // n
)

// codeRegs is the number of general registers that are followed.
const codeRegs = 32

// codeState is the known state before an instruction.
type codeState struct {
	regs  [codeRegs]codeValue
	saved []savedReg
	// keep is the set of registers whose saved places are recorded.
	keep uint64
	// guards is the number of instructions, from here on, that the CPU may skip.
	guards int
}

// savedReg is a register whose value on entry is at an offset from the origin.
type savedReg struct {
	reg cfi.Reg
	at  int64
}

// apply changes s as the operations of an instruction do.
func (s *codeState) apply(ops []frameOp) {
	for _, op := range ops {
		base := s.get(op.base)
		switch op.kind {
		case opMove:
			// A copy of an entry value to another register is not tracked.
			if base.kind == valueEntry && (op.n != 0 || op.reg != op.base) {
				base.kind = valueUnknown
			}
			base.n += op.n
			s.set(op.reg, base)
		case opConst:
			s.set(op.reg, codeValue{valueConst, op.n})
		case opSub:
			v := s.get(op.reg)
			if v.kind != valueOrigin || base.kind != valueConst {
				v.kind = valueUnknown
			}
			v.n -= base.n
			s.set(op.reg, v)
		case opStore:
			if base.kind == valueOrigin {
				s.store(op.reg, base.n+op.n)
			}
		case opLoad:
			v := codeValue{kind: valueUnknown}
			if base.kind == valueOrigin && s.savedAt(op.reg, base.n+op.n) {
				v.kind = valueEntry
			}
			s.set(op.reg, v)
		case opLose:
			s.set(op.reg, codeValue{kind: valueUnknown})
		case opInsert:
			v := s.get(op.reg)
			v.n = v.n&^(0xffff<<op.base) | op.n<<op.base
			if v.kind != valueConst {
				v.kind = valueUnknown
			}
			s.set(op.reg, v)
		case opChange:
			// A register that calls preserve is saved before it changes: until then, it
			// is known.
			if s.get(op.reg).kind != valueEntry {
				s.set(op.reg, codeValue{kind: valueUnknown})
			}
		}
	}
}

func (s *codeState) get(r cfi.Reg) codeValue {
	if r < codeRegs {
		return s.regs[r]
	}
	return codeValue{kind: valueUnknown}
}

func (s *codeState) set(r cfi.Reg, v codeValue) {
	if r < codeRegs {
		s.regs[r] = v
	}
}

// store records that reg is saved, if the value of reg is still that on entry. After the
// store, reg itself may have any value: not every instruction that changes a register is
// decoded, but no instruction changes a register that calls preserve before the register is
// saved.
func (s *codeState) store(reg cfi.Reg, at int64) {
	if s.get(reg).kind != valueEntry || s.keep>>reg&1 == 0 || len(s.saved) == maxSaved {
		return
	}
	s.set(reg, codeValue{kind: valueUnknown})

	// States of several paths share the slice, so that a change needs a copy.
	if i := slices.IndexFunc(s.saved, func(have savedReg) bool { return have.reg == reg }); i >= 0 {
		s.saved = slices.Clone(s.saved)
		s.saved[i].at = at
		return
	}
	s.saved = append(s.saved[:len(s.saved):len(s.saved)], savedReg{reg, at})
}

// savedAt reports whether reg is saved at an offset from the origin.
func (s *codeState) savedAt(reg cfi.Reg, at int64) bool {
	return slices.Contains(s.saved, savedReg{reg, at})
}
