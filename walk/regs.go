package walk

import "symkit/cfi"

// numRegs is the number of DWARF registers that are kept: enough for the
// floating-point registers of the machines that save others in them.
const numRegs = 64

// slotPC stands for the program counter among the DWARF register numbers.
const slotPC = numRegs

// Registers are the registers of one frame. Those that are not known are not
// valid; the program counter always is.
type Registers struct {
	PC    uint64
	vals  [numRegs]uint64
	valid uint64
}

// Set gives DWARF register r a value; one that is not kept is ignored.
func (r *Registers) Set(reg cfi.Reg, v uint64) {
	if reg < numRegs {
		r.vals[reg] = v
		r.valid |= 1 << reg
	} else if reg == slotPC {
		r.PC = v
	}
}

// Get is the value of DWARF register reg, if it is known.
func (r *Registers) Get(reg cfi.Reg) (uint64, bool) {
	if reg < numRegs {
		return r.vals[reg], r.valid>>reg&1 != 0
	}
	return r.PC, reg == slotPC
}

// Clear makes DWARF register reg unknown.
func (r *Registers) Clear(reg cfi.Reg) {
	if reg < numRegs {
		r.valid &^= 1 << reg
	}
}

// NamedRegister is a register as people see it: without the $ of rules.
type NamedRegister struct {
	Name  string
	Value uint64
}
