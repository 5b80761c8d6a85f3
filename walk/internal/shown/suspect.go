package shown

import (
	"slices"

	"symkit/walk"
	"symkit/walk/internal/x86"
)

// BitFlip is an address that the process may have meant, if one bit of memory or of a
// register was wrong. The confidence is computed as in rust-minidump, so that the
// results can be compared.
type BitFlip struct {
	Addr     uint64
	Register string // that had the wrong address; empty: the crash's own

	FlipDetail
	Confidence float32
}

// FlipDetail is what speaks for and against a flipped bit, with the keys of rust-minidump's schema.
type FlipDetail struct {
	NonCanonical bool   `json:"was_non_canonical"`
	Null         bool   `json:"is_null"`
	Low          bool   `json:"was_low"`
	Nearby       uint32 `json:"nearby_registers"` // that point near the address
	Poison       bool   `json:"poison_registers"`
}

// operation is the kind of an access: "read", "write", "execute"; empty: unknown.
func operation(c *walk.Crash) string {
	return map[string]string{"EXCEPTION_ACCESS_VIOLATION_READ": "read", "EXCEPTION_ACCESS_VIOLATION_WRITE": "write",
		"EXCEPTION_ACCESS_VIOLATION_EXEC": "execute"}[c.Reason]
}

// allows reports whether a mapping permits an operation.
func allows(m *walk.Mapping, operation string) bool {
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

// BitFlips lists the addresses of mapped memory that differ in one bit from that
// of the crash, or from a register that its instruction uses. There are none on
// 32-bit machines, where most addresses are mapped, and on arm64, where
// instructions are not decoded.
func (f *Fault) BitFlips() (out []BitFlip) {
	p := f.p
	if !p.Crash.HasAddress || p.WordSize() != 8 || p.CPU == "arm64" || f.Adjusted == "null-pointer" {
		return nil
	}

	// A non-canonical address may have a wrong upper bit; other addresses only one of
	// the bits that the CPU uses.
	addr, first, last := p.Crash.Address, 0, 64
	switch {
	case f.Adjusted == "non-canonical":
		addr, first = f.Value, 48
	case p.CPU == "x86_64":
		last = 48
	}

	// The access that crashed has the size.
	size := uint64(0)
	for _, a := range f.Effect.Accesses {
		if n := uint64(a.Size); p.Crash.Address-a.Addr < n {
			addr, size = a.Addr, n
			break
		}
	}

	// The address itself may be wrong, or a register that it counts from.
	out = f.flipsOf(addr, "", first, last, size)
	for _, r := range f.registers {
		out = append(out, f.flipsOf(r.Value, r.Name, first, last, size)...)
	}
	return out
}

// flipsOf flips the bits from first to last of addr.
func (f *Fault) flipsOf(addr uint64, register string, first, last int, size uint64) (out []BitFlip) {
	op := operation(&f.p.Crash)
	if m := f.p.MappingAt(addr); m != nil && allows(m, op) {
		return nil
	}
	// An address just after a mapping is one access too far rather than one bit wrong.
	if d, ok := distance(f.p, addr, op); ok && d < size {
		return nil
	}

	for i := first; i < last; i++ {
		b := BitFlip{Addr: addr ^ 1<<i, Register: register, FlipDetail: FlipDetail{NonCanonical: first == 48}}
		if m := f.p.MappingAt(b.Addr); b.Addr == 0 || m != nil && allows(m, op) {
			f.weigh(&b, addr)
			out = append(out, b)
		}
	}
	return out
}

// distance returns the distance of addr from the nearest mapping that allows an operation.
func distance(p *walk.Process, addr uint64, op string) (d uint64, ok bool) {
	d = ^uint64(0)
	for i := range p.Mappings {
		m := &p.Mappings[i]
		switch {
		case !allows(m, op):
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

// weigh computes the confidence that a bit was flipped.
func (f *Fault) weigh(b *BitFlip, original uint64) {
	b.Null = b.Addr == 0
	b.Low = b.Null && original <= 2*near
	for _, r := range f.p.Named(&f.p.Threads[f.p.Crashed].Regs) {
		if b.Addr > 2*near && (r.Value-b.Addr <= near || b.Addr-r.Value <= near) {
			b.Nearby++
		}
		if c := byte(r.Value); r.Value == uint64(c)*0x0101010101010101 && slices.Contains(poisons, c) {
			b.Poison = true
		}
	}

	// The factors are those of rust-minidump.
	doubt := float32(1) - 0.25
	if b.NonCanonical {
		doubt *= 1 - float32(0.90)
	}
	switch {
	case b.Low:
		doubt *= 1 - float32(0.25)
	case b.Null:
		doubt *= 0.5
	}

	if b.Nearby > 0 {
		doubt *= 1 - [...]float32{0.50, 0.55, 0.60, 0.65}[min(b.Nearby, 4)-1]
	}
	b.Confidence = 1 - doubt
	if b.Poison {
		b.Confidence *= 0.5
	}
}

// Inconsistencies lists, in the schema's words, contradictions between the reason of
// the crash, its address and its instruction. They point to failing hardware or to a
// dump that was tampered with.
func (f *Fault) Inconsistencies() []string {
	p := f.p
	out := []string{}
	if !f.Known {
		return out
	}

	switch p.Crash.Reason {
	case "SIGFPE / FPE_INTDIV", "EXCEPTION_INT_DIVIDE_BY_ZERO", "EXC_ARITHMETIC / EXC_I386_DIV":
		if !f.Effect.Division {
			out = append(out, "int_div_by_zero_not_possible")
		}
	case "EXCEPTION_PRIV_INSTRUCTION", "STATUS_PRIVILEGED_INSTRUCTION":
		if !f.Effect.Privileged {
			out = append(out, "priv_instruction_crash_without_priv_instruction")
		}
	case "EXCEPTION_ACCESS_VIOLATION_READ", "EXCEPTION_ACCESS_VIOLATION_WRITE", "EXCEPTION_ACCESS_VIOLATION_EXEC", "EXCEPTION_STACK_OVERFLOW":
		if missing := f.accessMissing(); protectionFault(&p.Crash) && missing {
			if f.Adjusted != "non-canonical" && f.precise && !f.anyNonCanonical() {
				out = append(out, "non_canonical_address_falsely_reported")
			}
			break
		} else if missing {
			out = append(out, "crashing_access_not_found_in_memory_accesses")
		}
		if m, op := p.MappingAt(p.Crash.Address), operation(&f.p.Crash); m != nil && op != "" && allows(m, op) {
			out = append(out, "access_violation_when_access_allowed")
		}
	}
	return out
}

// accessMissing reports whether all accesses of the instruction are known, and none
// of them is the access that crashed.
func (f *Fault) accessMissing() bool {
	op, addr := operation(&f.p.Crash), f.p.Crash.Address
	switch {
	case op == "execute":
		return f.p.Threads[f.p.Crashed].Regs.PC != addr
	case !f.precise:
		return false
	case op == "": // the stack overflowed
		return len(f.Effect.Accesses) == 0
	}

	return !slices.ContainsFunc(f.Effect.Accesses, func(a x86.Access) bool {
		return addr-a.Addr < uint64(a.Size) && (a.Kind == op || a.Kind == "readwrite")
	})
}

func (f *Fault) anyNonCanonical() bool {
	return slices.ContainsFunc(f.Effect.Accesses, func(a x86.Access) bool { return nonCanonical(a.Addr) }) ||
		f.Effect.Jumps && nonCanonical(f.Effect.Target.Addr)
}

// nonCanonical reports whether an address is invalid on x86-64 with 48-bit addresses.
func nonCanonical(addr uint64) bool { return addr > 1<<47-1 && addr < 0xffff8000_00000000 }
