package walk

import (
	"slices"
	"strings"
)

// fault is what the crashing instruction and the registers tell of the crash.
type fault struct {
	accesses []access // nil: not known; not nil and empty: none
	known    bool
	target   *uint64 // where it goes to, if it jumps and that is known
	// adjusted is what the address of the crash should be: "non-canonical", the
	// address that was accessed; "null-pointer", the offset from a null pointer.
	adjusted string
	value    uint64

	registers            []NamedRegister // that addresses are counted from
	precise              bool            // all that the instruction accesses is known
	division, privileged bool
}

// fault looks at the crashing instruction. Only x86-64 is decoded.
func (p *Process) fault() (f fault) {
	if p.Crashed < 0 || !p.Crash.crashed() || p.Threads[p.Crashed].NoRegs {
		return f
	}
	in, ok := p.analyze(&p.Threads[p.Crashed].Regs)
	if !ok {
		return f
	}
	f.accesses, f.known, f.division, f.privileged = in.accesses, true, in.division, in.privileged
	f.precise = !slices.ContainsFunc(in.accesses, func(a access) bool { return a.kind == "" || a.size == 0 })
	f.registers = p.named(in.uses)
	all := in.accesses
	if in.jumps {
		f.target = &in.target.addr
		all = append(all[:len(all):len(all)], in.target)
	}
	for i := range all {
		if all[i].null {
			f.adjusted, f.value = "null-pointer", all[i].addr
			return f
		}
	}
	if !p.protectionFault() {
		return f
	}
	for i := range all {
		if a := all[i].addr; nonCanonical(a) {
			f.adjusted, f.value = "non-canonical", a
			return f
		}
	}
	return f
}

// named are the registers of the crashed thread in a set of numbers, by name.
func (p *Process) named(set uint32) (out []NamedRegister) {
	r := &p.Threads[p.Crashed].Regs
	for _, n := range amd64CPU.names {
		if n.Reg < 16 && set>>n.Reg&1 != 0 {
			v, _ := r.Get(n.Reg)
			out = append(out, NamedRegister{n.Name, v})
		}
	}
	slices.SortFunc(out, func(a, b NamedRegister) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// protectionFault tells whether the crash is a general protection fault: the
// CPU then does not tell the address.
func (p *Process) protectionFault() bool {
	c := &p.Crash
	switch c.Reason {
	case "SIGSEGV / SI_KERNEL", "SIGBUS / SI_KERNEL", "EXC_BAD_ACCESS / EXC_I386_GPFLT":
		return c.Address == 0
	case "EXCEPTION_ACCESS_VIOLATION_READ":
		return c.Address == ^uint64(0)
	}
	return false
}

// maxGuard bounds the size of what is taken for a guard page.
const maxGuard = 32 << 10

// guardPage tells whether addr is in a small range that nothing may be done
// with, beside one that something may: where a stack or buffer overflows.
func (p *Process) guardPage(addr uint64) bool {
	m := p.MappingAt(addr)
	if m == nil || m.accessible() || m.End-m.Begin >= maxGuard {
		return false
	}
	after := p.MappingAt(m.End)
	before := p.MappingAt(m.Begin - 1)
	return after != nil && after.accessible() || before != nil && before.accessible()
}

func (m *Mapping) accessible() bool { return m.Read || m.Write || m.Execute }
