package walk

import (
	"strings"

	"symkit/cfi"
)

// machine is the code that differs between CPUs, one file for each CPU.
type machine interface {
	// framePointer follows the chain of frame pointers.
	framePointer(w *walker, r *Registers) (Registers, bool)
	// callBefore returns the kind of the call instruction that code ends in, and
	// the target of a direct call. At least one and up to 8 bytes are given; ret is
	// the return address, which follows them.
	callBefore(code []byte, ret uint64) (kind callKind, target uint64)
}

// cpu is a machine with its entries of the tables.
type cpu struct {
	machine
	arch  *cfi.Arch
	slots map[string]cfi.Reg // names of rules; the PC is RegPC
	// names are the registers to show, in order.
	names []namedSlot
	// fp is the register of the frame pointer chain, 0 with hasFP false.
	fp    cfi.Reg
	hasFP bool
	// lr is the link register that calls write, or RegPC if the machine has none.
	lr cfi.Reg
	// insnAlign is the alignment of instructions.
	insnAlign uint64
	// call is how far before its return address a call is looked up: the least
	// size of an instruction, more where one in a delay slot follows.
	call uint64
	// toReturn is added to the address that a call saves to get the return address.
	toReturn uint64
	// rt and plain are the frames of handlers with SA_SIGINFO and without.
	rt, plain   *sigframe
	trampolines []trampoline
	// scan is the number of words of the stack that are scanned for a frame; 0: the usual
	// limits.
	scan uint64
}

// namedSlot is a register of a machine with its name in reports.
type namedSlot struct {
	Name string
	Reg  cfi.Reg
}

// newCPU makes the tables of a machine. show lists the names of the general registers in
// the order of reports; newCPU adds PC.
func newCPU(m machine, name, show, fp string, insnAlign uint64) *cpu {
	a := cfi.ArchByName(name)
	c := &cpu{machine: m, arch: a, slots: map[string]cfi.Reg{}, lr: RegPC, insnAlign: insnAlign, call: insnAlign}
	// If several registers have one name, rules mean the first of them.
	for r := range cfi.Reg(numRegs) {
		if n := a.RegName(r); n != "" {
			if _, ok := c.slots[n]; !ok {
				c.slots[n] = r
			}
		}
	}

	c.slots[a.PC] = RegPC
	if a.LinkRegister {
		c.lr = a.RA
	}
	// Reports show the program counter first.
	c.fp, c.hasFP = c.slots[fp]
	c.names = append(c.names, namedSlot{strings.TrimPrefix(a.PC, "$"), RegPC})
	for n := range strings.FieldsSeq(show) {
		c.names = append(c.names, namedSlot{strings.TrimPrefix(n, "$"), c.slots[n]})
	}
	return c
}

// cpus has the machines by name. bigCPUs has those whose instructions are big-endian in a
// big-endian process; any other machine has little-endian instructions in every process.
var (
	cpus = map[string]*cpu{
		"x86":     x86CPU,
		"x86_64":  amd64CPU,
		"arm":     armCPU,
		"arm64":   arm64CPU,
		"mips":    mipsCPU,
		"mips64":  mips64CPU,
		"ppc":     ppcCPU,
		"ppc64":   ppc64CPU,
		"riscv":   riscvCPU,
		"riscv64": riscv64CPU,
		"s390x":   s390xCPU,
		"sparc":   sparcCPU,
	}
	bigCPUs = map[string]*cpu{
		"mips":   mipsBigCPU,
		"mips64": mips64BigCPU,
		"ppc":    ppcBigCPU,
		"ppc64":  ppc64BigCPU,
	}
)

// cpu returns the machine of p, or nil if the machine is not known.
func (p *Process) cpu() *cpu {
	if c := bigCPUs[p.CPU]; c != nil && p.BigEndian {
		return c
	}
	return cpus[p.CPU]
}

// chained reports whether all functions of p's system that are not leaves have a
// frame record: PowerPC's psABI and Apple demand it, on 32-bit Windows it is
// usual.
func (c *cpu) chained(p *Process) bool {
	_, backChain := c.machine.(*ppc)
	return backChain || p.apple() && c.lr != RegPC || p.windows() && c == x86CPU
}

// narrow cuts v to the machine's width.
func (c *cpu) narrow(v uint64) uint64 {
	if c.arch.WordSize == 4 {
		return uint64(uint32(v))
	}
	return v
}

// sp returns the stack pointer in r.
func (c *cpu) sp(r *Registers) uint64 {
	v, _ := r.Get(c.arch.SP)
	return v
}

// Named lists the registers of a process's frame that are known, in the order
// of the machine's manuals, the program counter first.
func (p *Process) Named(r *Registers) []NamedRegister {
	c := p.cpu()
	if c == nil {
		return nil
	}

	var out []NamedRegister
	for _, n := range c.names {
		if v, ok := r.Get(n.Reg); ok {
			out = append(out, NamedRegister{n.Name, v})
		}
	}
	return out
}

// WordSize returns the size in bytes of the CPU's words: 4 or 8.
func (p *Process) WordSize() int {
	if c := p.cpu(); c != nil {
		return c.arch.WordSize
	}
	return 8
}

// handlers sets the frames of signal handlers.
func (c *cpu) handlers(rt, plain *sigframe) *cpu {
	c.rt, c.plain = rt, plain
	return c
}

// restorer adds the code of a signal trampoline. Only the bits of mask count; an
// empty mask stands for all bits.
func (c *cpu) restorer(code, mask string, frame *sigframe) *cpu {
	c.trampolines = append(c.trampolines, trampoline{code, mask, frame})
	return c
}

// alias gives a register another name in rules.
func (c *cpu) alias(name string, reg cfi.Reg) *cpu {
	c.slots[name] = reg
	return c
}
