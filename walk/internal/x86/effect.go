package x86

import (
	"encoding/binary"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"symkit/cfi"
)

// State is the state of a 64-bit CPU before an instruction.
type State struct {
	PC uint64
	// Reg returns a register by its DWARF number, if its value is known.
	Reg func(cfi.Reg) (uint64, bool)
	// Memory returns n bytes at an address, nil if not all of them are known.
	Memory func(addr, n uint64) []byte
}

// Access is memory that an instruction reads or writes.
type Access struct {
	Addr uint64
	Size int    // in bytes; 0: unknown
	Kind string // "read", "write", "readwrite"; empty: unknown
	// Null: the register that the address is counted from is 0.
	Null bool
}

// Effect is the effect of an instruction on memory and the program counter, as far as the
// registers are known.
type Effect struct {
	Accesses []Access
	// Target is where the instruction goes to, if Jumps: an indirect jump, call or
	// return whose operand is known.
	Target Access
	Jumps  bool
	// Uses is a set of DWARF numbers: registers that addresses are counted from.
	Uses uint32
	// Division: the instruction divides integers. Privileged: only a kernel may
	// execute the instruction.
	Division, Privileged bool
}

// Numbers of registers in instructions.
const rsp, rsi, rdi = 4, 6, 7

// Effect returns the effect of a 64-bit instruction. It returns false if a register that
// an address is counted from is unknown.
func (in *Inst) Effect(s *State) (Effect, bool) {
	d := &decoder{Inst: in, s: s}
	ok := d.decode()
	return d.out, ok && !d.failed
}

// decoder finds the effect of one instruction.
type decoder struct {
	*Inst
	s      *State
	failed bool // a register is unknown
	out    Effect
}

// decode interprets the opcode.
func (d *decoder) decode() bool {
	// After a VEX or EVEX prefix the tables of opcodes do not hold.
	if d.modRM > 0 || d.Opcode == 0 && d.zeroes() {
		return d.vector()
	}
	op := byte(d.Opcode >> 24)
	d.out.Privileged = strings.IndexByte(privilegedOps, op) >= 0

	// The stack and the operands of string instructions are not in the ModRM byte.
	switch {
	case op == 0x0f:
		d.twoByte(byte(d.Opcode >> 16))
	case op >= 0x50 && op < 0x58, op == 0x68, op == 0x6a, op == 0xe8: // push, call
		d.stack(^uint64(7), "write")
	case op >= 0x58 && op < 0x60, op == 0xc9: // pop, leave
		d.stack(0, "read")
	case op == 0xc2, op == 0xc3: // ret
		d.stack(0, "read")
		d.jump(d.gpr(rsp))
	case op >= 0xa4 && op <= 0xa7, op >= 0xaa && op <= 0xaf:
		d.strings(op)
	default:
		d.oneByte(op)
	}
	return true
}

// zeroes reports whether the instruction is vzeroupper or vzeroall.
func (d *decoder) zeroes() bool { return d.Op == x86asm.VZEROUPPER || d.Op == x86asm.VZEROALL }

// vector interprets an instruction with a VEX or EVEX prefix: the address is known,
// the kind of access is not. It returns false for an EVEX displacement of one byte, and
// where x86asm takes an EVEX prefix before an opcode that has no ModRM byte.
func (d *decoder) vector() bool {
	// EVEX scales a displacement of one byte by the size of the operand (Intel SDM vol. 2A,
	// disp8*N).
	if d.modRM >= len(d.code) || d.modRM >= 5 && d.code[d.modRM-5] == 0x62 && d.code[d.modRM]>>6 == 1 {
		return false
	}

	a, ok := d.memory()
	d.touch(a, ok, 0, "")
	return true
}

// oneByte interprets an opcode of one byte with a ModRM operand.
func (d *decoder) oneByte(op byte) {
	letter := operandKinds[op]
	if letter == '-' {
		return
	}

	a, ok := d.memory()
	if letter == 'x' { // x87
		d.touch(a, ok, 0, "")
		return
	}

	// Some opcodes are extended by the reg field of ModRM.
	kind, reg := kindOf(letter), byte(d.Opcode>>19&7)
	switch {
	case letter|0x20 == 'g':
		kind = d.group(op, reg)
	case op == 0x8f: // pop
		d.stack(0, "read")
	}
	// Calls and jumps through an operand read their target from the operand.
	if op == 0xff && reg >= 2 && reg <= 5 {
		d.indirect(a, ok)
	}
	d.touch(a, ok, d.MemBytes, kind)
}

// group interprets an opcode that ModRM's reg extends (Intel SDM vol. 2D, table
//
func (d *decoder) group(op, reg byte) (kind string) {
	switch op {
	case 0x80, 0x81, 0x82, 0x83:
		return kindOf("bbbbbbbr"[reg])
	case 0xf6, 0xf7:
		d.out.Division = reg >= 6
		return kindOf("rrbbrrrr"[reg])
	case 0xff:
		if reg == 2 || reg == 6 { // call, push
			d.stack(^uint64(7), "write")
		}
		return kindOf("bbrrrrrx"[reg])
	}
	return "readwrite" // inc, dec, shifts
}

// twoByte interprets an opcode after 0f (table A-3). Of most only the address is
// known, not the kind of access.
func (d *decoder) twoByte(op byte) {
	d.out.Privileged = strings.IndexByte(privilegedOps2, op) >= 0
	a, ok := d.memory()
	d.touch(a, ok, d.MemBytes, d.twoByteKind(op))
}

// gpr returns a register by its number in instructions. If its value is unknown, the decoder
// has failed.
func (d *decoder) gpr(n int) uint64 {
	v, ok := d.s.Reg(DWARF64[n])
	d.failed = d.failed || !ok
	return v
}

// base returns a register that an address is counted from.
func (d *decoder) base(r x86asm.Reg) uint64 {
	n, ok := Number(r)
	if !ok { // a vector: there are many addresses
		d.failed = true
		return 0
	}
	d.out.Uses |= 1 << DWARF64[n]
	return d.gpr(n)
}

// memory returns the address of the operand in memory. It returns false if there is
// no such operand, or if the base of its segment is unknown.
func (d *decoder) memory() (a Access, ok bool) {
	m, ok := d.Memory()
	if !ok {
		return a, false
	}

	// The base register decides whether the address counts from a null pointer.
	switch m.Base {
	case 0:
	case x86asm.RIP, x86asm.EIP:
		a.Addr = d.s.PC + uint64(d.Len)
	default:
		a.Addr = d.base(m.Base)
		a.Null = a.Addr == 0
	}
	if m.Index != 0 {
		a.Addr += d.base(m.Index) * uint64(m.Scale)
	}

	a.Addr += uint64(int64(int32(m.Disp)))
	// A 32-bit address is extended with zeros.
	if d.hasPrefix(0x67) {
		a.Addr = uint64(uint32(a.Addr))
	}
	return a, m.Segment != x86asm.FS && m.Segment != x86asm.GS
}

// touch adds an access of an operand in memory.
func (d *decoder) touch(a Access, ok bool, size int, kind string) {
	// An access of unknown kind has no certain size either.
	if kind == "" {
		size = 0
	}
	if ok && kind != "none" {
		a.Size, a.Kind = size, kind
		d.out.Accesses = append(d.out.Accesses, a)
	}
}

// at adds an access at an offset from a register.
func (d *decoder) at(reg int, off uint64, size int, kind string) {
	addr := d.gpr(reg) + off
	d.touch(Access{Addr: addr, Null: addr == 0}, true, size, kind)
}

// stack adds an access of the stack at an offset from its pointer.
func (d *decoder) stack(off uint64, kind string) { d.at(rsp, off, 8, kind) }

// strings adds the accesses of movs, cmps, stos, lods and scas.
func (d *decoder) strings(op byte) {
	// String instructions address their operands with rsi and rdi.
	size := stringSize(d.Op)
	switch op &^ 1 {
	case 0xa4: // movs
		d.at(rsi, 0, size, "read")
		d.at(rdi, 0, size, "write")
	case 0xa6: // cmps
		d.at(rsi, 0, size, "read")
		d.at(rdi, 0, size, "read")
	case 0xaa: // stos
		d.at(rdi, 0, size, "write")
	case 0xac: // lods
		d.at(rsi, 0, size, "read")
	case 0xae: // scas
		d.at(rdi, 0, size, "read")
	}
}

// indirect records the target of a call or jump whose target is in an operand.
func (d *decoder) indirect(a Access, inMemory bool) {
	r, ok := d.Args[0].(x86asm.Reg)
	if ok {
		n, _ := Number(r)
		d.target(d.gpr(n))

	} else if inMemory {
		d.jump(a.Addr)
	}
}

// jump records the word at addr as the target of the instruction.
func (d *decoder) jump(addr uint64) {
	if word := d.s.Memory(addr, 8); len(word) == 8 {
		d.target(binary.LittleEndian.Uint64(word))
	}
}

// target records the address that the instruction jumps to.
func (d *decoder) target(addr uint64) {
	d.out.Target, d.out.Jumps = Access{Addr: addr, Null: addr == 0}, true
}
