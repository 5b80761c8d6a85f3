package cpu

import "symkit/cfi"

// numRegs is the number of DWARF registers that are kept: enough for MIPS' hi and lo, for
// PowerPC's lr and ctr, and for floating-point registers on machines that save other
// registers in them.
const numRegs = 72

// Numbers that no machine uses for a register.
const (
	// RegPC stands for the program counter among the DWARF register numbers.
	RegPC cfi.Reg = numRegs
	// RegNone stands for a register that is not kept.
	RegNone cfi.Reg = numRegs + 1
)

// Registers are the registers of one frame, by their DWARF numbers in the CPU's psABI
// (x86-64: 6 is rbp, 7 is rsp). An unknown register is not valid; the program counter is
// always valid.
type Registers struct {
	PC    uint64 // virtual address in the process
	vals  [numRegs]uint64
	valid [(numRegs + 63) / 64]uint64
}

// Set gives DWARF register reg a value. A register that is not kept is ignored.
func (r *Registers) Set(reg cfi.Reg, v uint64) {
	if reg < numRegs {
		r.vals[reg] = v
		r.valid[reg/64] |= 1 << (reg % 64)
	} else if reg == RegPC {
		r.PC = v
	}
}

// Get returns the value of DWARF register reg, and whether the value is known.
func (r *Registers) Get(reg cfi.Reg) (uint64, bool) {
	if reg < numRegs {
		return r.vals[reg], r.valid[reg/64]>>(reg%64)&1 != 0
	}
	return r.PC, reg == RegPC
}

// Clear makes DWARF register reg unknown.
func (r *Registers) Clear(reg cfi.Reg) {
	if reg < numRegs {
		r.valid[reg/64] &^= 1 << (reg % 64)
	}
}

// Keep returns the registers of a list that are known.
func (r *Registers) Keep(list []cfi.Reg) (out Registers) {
	for _, reg := range list {
		if v, ok := r.Get(reg); ok {
			out.Set(reg, v)
		}
	}
	return out
}
