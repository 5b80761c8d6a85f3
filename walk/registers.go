package walk

import (
	"math/bits"
	"strings"

	"symkit/cfi"
	"symkit/walk/internal/cpu"
)

// Registers are the registers of one thread, by their DWARF numbers in the CPU's psABI
// (x86-64: 6 is rbp, 7 is rsp). An unknown register is not valid; the program counter is
// always valid.
type Registers struct {
	PC     uint64 // virtual address in the process
	others cpu.Registers
}

// Set gives DWARF register reg a value. A register that is not kept is ignored.
func (r *Registers) Set(reg cfi.Reg, v uint64) {
	if reg == cpu.RegPC {
		r.PC = v
		return
	}
	r.others.Set(reg, v)
}

// Get returns the value of DWARF register reg, and whether the value is known.
func (r *Registers) Get(reg cfi.Reg) (uint64, bool) {
	if reg == cpu.RegPC {
		return r.PC, true
	}
	return r.others.Get(reg)
}

// all returns r with the program counter.
func (r *Registers) all() cpu.Registers {
	out := r.others
	out.PC = r.PC
	return out
}

// NamedRegister is a register with its name in reports, which lacks the $ of rules.
type NamedRegister struct {
	Name  string
	Value uint64
}

// Named lists the registers of a process's thread that are known, in the order
// of the machine's manuals, the program counter first.
func (p *Process) Named(r *Registers) []NamedRegister {
	c := p.cpu()
	if c == nil {
		return nil
	}
	all := r.all()
	return named(c, &all)
}

func named(c *cpu.CPU, r *cpu.Registers) (out []NamedRegister) {
	for name, v := range c.Named(r) {
		out = append(out, NamedRegister{name, v})
	}
	return out
}

// WordSize returns the size in bytes of the CPU's words: 4 or 8.
func (p *Process) WordSize() int {
	if c := p.cpu(); c != nil {
		return int(c.WordSize())
	}
	return 8
}

// cpu returns the machine of p, or nil if the machine is not known.
func (p *Process) cpu() *cpu.CPU {
	sys := cpu.Other
	switch {
	case p.windows():
		sys = cpu.Windows
	case p.apple():
		sys = cpu.Apple
	}
	return cpu.For(p.CPU, p.BigEndian, sys)
}

// windows and apple report whether the system is one whose compilers lay out frames
// differently from those of Linux.
func (p *Process) windows() bool { return strings.HasPrefix(p.OS, "Windows") }
func (p *Process) apple() bool   { return p.OS == "Mac OS X" || p.OS == "iOS" }

// stack returns p's memory as its machine reads it.
func (p *Process) stack() cpu.Stack {
	s := cpu.Stack{CPU: p.cpu(), Memory: p.Memory, Big: p.BigEndian}
	if s.CPU != nil && s.Authenticated {
		s.PAC = p.pacMask(s.CPU)
	}
	return s
}

// pacMask returns the mask of the bits in a code address that hold a pointer authentication
// code. The kernel reports the mask. Otherwise the mask has the bits above all modules and
// stacks, and above the 47 bits of the smallest usual address space. Saved frame pointers
// lose these bits, too.
func (p *Process) pacMask(c *cpu.CPU) uint64 {
	if p.PACMask != 0 {
		return p.PACMask
	}

	top := uint64(1)<<47 - 1
	if n := len(p.Modules); n > 0 {
		top = max(top, p.Modules[n-1].End)
	}
	for i := range p.Threads {
		top = max(top, c.SP(&p.Threads[i].Regs.others))
	}
	return ^uint64(0) << bits.Len64(top)
}
