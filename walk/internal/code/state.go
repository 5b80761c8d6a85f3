package code

import (
	"slices"

	"symkit/cfi"
)

// The state before an instruction: every register is either unknown, unchanged since
// entry, a constant, or at a known distance from the stack pointer on entry (the origin).
// Compilers keep that distance the same on all paths to an instruction, so that the first
// path found is as good as any.

// Value is the known value of a register.
type Value struct {
	Kind ValueKind
	N    int64
}

type ValueKind uint8

const (
	Entry ValueKind = iota // the register's value on entry
	Unknown
	Origin // the stack pointer on entry, plus n
	Const  // n
)

// codeRegs is the number of general registers that are followed.
const codeRegs = 32

// State is the known state before an instruction.
type State struct {
	regs  [codeRegs]Value
	Saved []Saved
	// keep is the set of registers whose saved places are recorded.
	keep uint64
	// guards is the number of instructions, from here on, that the CPU may skip.
	guards int
}

// Saved is a register whose value on entry is at an offset from the origin.
type Saved struct {
	Reg cfi.Reg
	At  int64
}

// apply changes s as the operations of an instruction do.
func (s *State) apply(ops []frameOp) {
	for _, op := range ops {
		base := s.Get(op.base)
		switch op.kind {
		case opMove:
			// A copy of an entry value to another register is not tracked.
			if base.Kind == Entry && (op.n != 0 || op.reg != op.base) {
				base.Kind = Unknown
			}
			base.N += op.n
			s.set(op.reg, base)
		case opConst:
			s.set(op.reg, Value{Const, op.n})
		case opSub:
			v := s.Get(op.reg)
			if v.Kind != Origin || base.Kind != Const {
				v.Kind = Unknown
			}
			v.N -= base.N
			s.set(op.reg, v)
		case opStore:
			if base.Kind == Origin {
				s.store(op.reg, base.N+op.n)
			}
		case opLoad:
			v := Value{Kind: Unknown}
			if base.Kind == Origin && s.savedAt(op.reg, base.N+op.n) {
				v.Kind = Entry
			}
			s.set(op.reg, v)
		case opLose:
			s.set(op.reg, Value{Kind: Unknown})
		case opInsert:
			v := s.Get(op.reg)
			v.N = v.N&^(0xffff<<op.base) | op.n<<op.base
			if v.Kind != Const {
				v.Kind = Unknown
			}
			s.set(op.reg, v)
		case opChange:
			// A register that calls preserve is saved before it changes: until then, it
			// is known.
			if s.Get(op.reg).Kind != Entry {
				s.set(op.reg, Value{Kind: Unknown})
			}
		}
	}
}

func (s *State) Get(r cfi.Reg) Value {
	if r < codeRegs {
		return s.regs[r]
	}
	return Value{Kind: Unknown}
}

func (s *State) set(r cfi.Reg, v Value) {
	if r < codeRegs {
		s.regs[r] = v
	}
}

// store records that reg is saved, if the value of reg is still that on entry. After the
// store, reg itself may have any value: not every instruction that changes a register is
// decoded, but no instruction changes a register that calls preserve before the register is
// saved.
func (s *State) store(reg cfi.Reg, at int64) {
	if s.Get(reg).Kind != Entry || s.keep>>reg&1 == 0 || len(s.Saved) == maxSaved {
		return
	}
	s.set(reg, Value{Kind: Unknown})

	// States of several paths share the slice, so that a change needs a copy.
	if i := slices.IndexFunc(s.Saved, func(have Saved) bool { return have.Reg == reg }); i >= 0 {
		s.Saved = slices.Clone(s.Saved)
		s.Saved[i].At = at
		return
	}
	s.Saved = append(s.Saved[:len(s.Saved):len(s.Saved)], Saved{reg, at})
}

// savedAt reports whether reg is saved at an offset from the origin.
func (s *State) savedAt(reg cfi.Reg, at int64) bool {
	return slices.Contains(s.Saved, Saved{reg, at})
}
