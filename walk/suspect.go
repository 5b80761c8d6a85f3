package walk

import "slices"

// bitFlip is an address that the process may have meant, if one bit of memory
// or of a register was wrong. The judgement is rust-minidump's, so that results
// compare.
type bitFlip struct {
	addr     uint64
	register string // that had the wrong address; empty: the crash's own

	nonCanonical, null, low, poison bool
	nearby                          uint32 // registers that point near addr
	confidence                      float32
}

// operation is what an access does: "read", "write", "execute"; empty: unknown.
func (c *Crash) operation() string {
	return map[string]string{"EXCEPTION_ACCESS_VIOLATION_READ": "read", "EXCEPTION_ACCESS_VIOLATION_WRITE": "write",
		"EXCEPTION_ACCESS_VIOLATION_EXEC": "execute"}[c.Reason]
}

// allows tells whether something may be done in a mapping.
func (m *Mapping) allows(operation string) bool {
	switch operation {
	case "read":
		return m.Read
	case "write":
		return m.Write
	case "execute":
		return m.Execute
	}
	return true
}

// bitFlips lists the addresses of mapped memory that differ in one bit from that
// of the crash, or from a register that its instruction uses. There are none on
// 32-bit machines, where most addresses are mapped, and on arm64, where
// instructions are not decoded.
func (p *Process) bitFlips(f *fault) (out []bitFlip) {
	if !p.Crash.HasAddress || p.WordSize() != 8 || p.CPU == "arm64" || f.adjusted == "null-pointer" {
		return nil
	}
	addr, first, last := p.Crash.Address, 0, 64
	switch {
	case f.adjusted == "non-canonical":
		addr, first = f.value, 48
	case p.CPU == "x86_64":
		last = 48
	}
	size := uint64(0)
	for _, a := range f.accesses {
		if n := uint64(a.size); p.Crash.Address-a.addr < n {
			addr, size = a.addr, n
			break
		}
	}
	out = p.flipsOf(addr, "", first, last, size)
	for _, r := range f.registers {
		out = append(out, p.flipsOf(r.Value, r.Name, first, last, size)...)
	}
	return out
}

// flipsOf flips the bits from first to last of addr.
func (p *Process) flipsOf(addr uint64, register string, first, last int, size uint64) (out []bitFlip) {
	op := p.Crash.operation()
	if m := p.MappingAt(addr); m != nil && m.allows(op) {
		return nil
	}
	if d, ok := p.distance(addr, op); ok && d < size { // one too far rather than one bit wrong
		return nil
	}
	for i := first; i < last; i++ {
		b := bitFlip{addr: addr ^ 1<<i, register: register, nonCanonical: first == 48}
		if m := p.MappingAt(b.addr); b.addr == 0 || m != nil && m.allows(op) {
			p.weigh(&b, addr)
			out = append(out, b)
		}
	}
	return out
}

// distance is that of addr from the nearest mapping that allows an operation.
func (p *Process) distance(addr uint64, op string) (d uint64, ok bool) {
	d = ^uint64(0)
	for i := range p.Mappings {
		m := &p.Mappings[i]
		switch {
		case !m.allows(op):
			continue
		case addr < m.Begin:
			d = min(d, m.Begin-addr)
		case addr >= m.End:
			d = min(d, addr-(m.End-1))
		default:
			d = 0
		}
		ok = true
	}
	return d, ok
}

// poisons are the bytes that allocators fill freed memory with.
var poisons = []byte{0x2b, 0x2d, 0x2f, 0x49, 0x4b, 0x4d, 0x4f, 0x6b, 0x8b, 0x9b, 0x9f, 0xa5, 0xbb, 0xcc, 0xcd, 0xce, 0xdb, 0xe5}

// near is how far a register may point from an address to count as near it.
const near = 4096

// weigh finds what speaks for and against a flipped bit.
func (p *Process) weigh(b *bitFlip, original uint64) {
	b.null = b.addr == 0
	b.low = b.null && original <= 2*near
	for _, r := range p.Named(&p.Threads[p.Crashed].Regs) {
		if b.addr > 2*near && (r.Value-b.addr <= near || b.addr-r.Value <= near) {
			b.nearby++
		}
		if c := byte(r.Value); r.Value == uint64(c)*0x0101010101010101 && slices.Contains(poisons, c) {
			b.poison = true
		}
	}
	doubt := float32(1) - 0.25
	if b.nonCanonical {
		doubt *= 1 - float32(0.90)
	}
	switch {
	case b.low:
		doubt *= 1 - float32(0.25)
	case b.null:
		doubt *= 0.5
	}
	if b.nearby > 0 {
		doubt *= 1 - [...]float32{0.50, 0.55, 0.60, 0.65}[min(b.nearby, 4)-1]
	}
	if b.confidence = 1 - doubt; b.poison {
		b.confidence *= 0.5
	}
}

// inconsistencies tells, in the schema's words, what does not fit together of
// the reason of the crash, its address and its instruction: hardware that
// fails, or a dump that was tampered with.
func (p *Process) inconsistencies(f *fault) []string {
	out := []string{}
	if !f.known {
		return out
	}
	switch p.Crash.Reason {
	case "SIGFPE / FPE_INTDIV", "EXCEPTION_INT_DIVIDE_BY_ZERO", "EXC_ARITHMETIC / EXC_I386_DIV":
		if !f.division {
			out = append(out, "int_div_by_zero_not_possible")
		}
	case "EXCEPTION_PRIV_INSTRUCTION", "STATUS_PRIVILEGED_INSTRUCTION":
		if !f.privileged {
			out = append(out, "priv_instruction_crash_without_priv_instruction")
		}
	case "EXCEPTION_ACCESS_VIOLATION_READ", "EXCEPTION_ACCESS_VIOLATION_WRITE", "EXCEPTION_ACCESS_VIOLATION_EXEC", "EXCEPTION_STACK_OVERFLOW":
		if missing := p.accessMissing(f); p.protectionFault() && missing {
			if f.adjusted != "non-canonical" && f.precise && !f.anyNonCanonical() {
				out = append(out, "non_canonical_address_falsely_reported")
			}
			break
		} else if missing {
			out = append(out, "crashing_access_not_found_in_memory_accesses")
		}
		if m, op := p.MappingAt(p.Crash.Address), p.Crash.operation(); m != nil && op != "" && m.allows(op) {
			out = append(out, "access_violation_when_access_allowed")
		}
	}
	return out
}

// accessMissing tells whether the instruction does not access what the crash is
// about, as far as all that it does is known.
func (p *Process) accessMissing(f *fault) bool {
	op, addr := p.Crash.operation(), p.Crash.Address
	switch {
	case op == "execute":
		return p.Threads[p.Crashed].Regs.PC != addr
	case !f.precise:
		return false
	case op == "": // the stack overflowed
		return len(f.accesses) == 0
	}
	return !slices.ContainsFunc(f.accesses, func(a access) bool {
		return addr-a.addr < uint64(a.size) && (a.kind == op || a.kind == "readwrite")
	})
}

func (f *fault) anyNonCanonical() bool {
	return slices.ContainsFunc(f.accesses, func(a access) bool { return nonCanonical(a.addr) }) ||
		f.target != nil && nonCanonical(*f.target)
}

// nonCanonical tells whether an address is none of x86-64 with 48 bits.
func nonCanonical(addr uint64) bool { return addr > 1<<47-1 && addr < 0xffff8000_00000000 }
