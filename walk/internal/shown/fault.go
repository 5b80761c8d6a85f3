package shown

import (
	"slices"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"symkit/cfi"
	"symkit/walk"
	"symkit/walk/internal/x86"
)

// Fault describes a crash by the crashing instruction and the registers.
type Fault struct {
	p *walk.Process
	// Instruction has the spelling of rust-minidump; empty: unknown.
	Instruction string
	Effect      x86.Effect
	Known       bool // Effect is known
	// Adjusted is the address that the crash was about: "non-canonical", the address that was
	// accessed; "null-pointer", the offset from a null pointer.
	Adjusted string
	Value    uint64

	registers []walk.NamedRegister // that addresses are counted from
	precise   bool                 // all that the instruction accesses is known
}

// NewFault decodes the crashing instruction of x86 CPUs, and finds the effect of the
// instruction on 64-bit CPUs.
func NewFault(p *walk.Process) *Fault {
	f := &Fault{p: p}
	if p.Crashed < 0 || !p.Crash.Crashed() || p.Threads[p.Crashed].NoRegs {
		return f
	}

	r := &p.Threads[p.Crashed].Regs
	mode := map[string]int{"x86": 32, "x86_64": 64}[p.CPU]
	if mode == 0 {
		return f
	}

	in, ok := x86.Decode(codeBytes(p, r.PC), mode)
	if !ok {
		return f
	}
	// Effects are known for 64-bit code alone.
	f.Instruction = in.Text()
	if mode == 64 {
		effect, known := in.Effect(&x86.State{PC: r.PC, Reg: r.Get, Memory: p.Memory.Bytes})
		if !known {
			return f
		}
		f.Effect, f.Known = effect, true
		f.precise = !slices.ContainsFunc(f.Effect.Accesses, func(a x86.Access) bool { return a.Kind == "" || a.Size == 0 })
		f.registers = named(p, f.Effect.Uses)
		f.adjust()
	}
	return f
}

// codeBytes returns the bytes at pc, as many as the longest instruction has or as
// there are.
func codeBytes(p *walk.Process, pc uint64) (code []byte) {
	for n := uint64(x86.MaxLen); n > 0 && code == nil; n-- {
		code = p.Memory.Bytes(pc, n)
	}
	return code
}

// adjust corrects the address of the crash.
func (f *Fault) adjust() {
	// The target of a jump counts as an access, too.
	all := f.Effect.Accesses
	if f.Effect.Jumps {
		all = append(all[:len(all):len(all)], f.Effect.Target)
	}

	if i := slices.IndexFunc(all, func(a x86.Access) bool { return a.Null }); i >= 0 {
		f.Adjusted, f.Value = "null-pointer", all[i].Addr
		return
	}
	if i := slices.IndexFunc(all, func(a x86.Access) bool { return nonCanonical(a.Addr) }); i >= 0 && protectionFault(&f.p.Crash) {
		f.Adjusted, f.Value = "non-canonical", all[i].Addr
	}
}

// named returns the registers of the crashed thread in a set of DWARF numbers, by
// name.
func named(p *walk.Process, set uint32) (out []walk.NamedRegister) {
	for n, reg := range x86.DWARF64 {
		if set>>reg&1 != 0 {
			v, _ := p.Threads[p.Crashed].Regs.Get(cfi.Reg(reg))
			out = append(out, walk.NamedRegister{Name: strings.ToLower((x86asm.RAX + x86asm.Reg(n)).String()), Value: v})
		}
	}
	slices.SortFunc(out, func(a, b walk.NamedRegister) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// protectionFault reports whether a crash is a general protection fault. For such a
// fault the CPU does not report the address.
func protectionFault(c *walk.Crash) bool {
	switch c.Reason {
	case "SIGSEGV / SI_KERNEL", "SIGBUS / SI_KERNEL", "EXC_BAD_ACCESS / EXC_I386_GPFLT":
		return c.Address == 0
	case "EXCEPTION_ACCESS_VIOLATION_READ":
		return c.Address == ^uint64(0)
	}
	return false
}

// maxGuard bounds the size of a guard page.
const maxGuard = 32 << 10

// GuardPage reports whether addr is in a small inaccessible mapping beside an
// accessible one, as a guard page after a stack or buffer is.
func GuardPage(p *walk.Process, addr uint64) bool {
	m := p.MappingAt(addr)
	if m == nil || accessible(m) || m.End-m.Begin >= maxGuard {
		return false
	}
	// One neighbour must be accessible.
	after := p.MappingAt(m.End)
	before := p.MappingAt(m.Begin - 1)
	return after != nil && accessible(after) || before != nil && accessible(before)
}

func accessible(m *walk.Mapping) bool { return m.Read || m.Write || m.Execute }
