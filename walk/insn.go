package walk

import (
	"encoding/binary"

	"symkit/cfi"
)

// access is memory that an instruction reads or writes.
type access struct {
	addr uint64
	size int    // in bytes; 0: unknown
	kind string // "read", "write", "readwrite"; empty: unknown
	// null: the register that the address is counted from is 0.
	null bool
}

// insn is what an x86-64 instruction does to memory and to the program counter,
// as far as the registers tell.
type insn struct {
	accesses []access
	// target is where it goes to, if jumps: an indirect jump, call or return
	// whose operand is known.
	target access
	jumps  bool
	// uses is a set of DWARF numbers: registers that addresses are counted from.
	uses uint32
	// division: it divides integers; privileged: only a kernel may execute it.
	division, privileged bool
}

// insnDecoder reads one instruction (Intel SDM vol. 2, chapter 2, appendix A).
type insnDecoder struct {
	code     []byte
	pos      int
	failed   bool
	rex      byte
	narrow   bool // 66: operands of 16 bits
	address  bool // 67: addresses of 32 bits
	rep      byte // f2, f3
	segment  bool // fs, gs: their bases are not known
	mod, reg byte
	p        *Process
	r        *Registers
	out      insn
}

// analyze decodes the instruction at r's program counter. It is false where the
// bytes are not at hand or no instruction that is known here.
func (p *Process) analyze(r *Registers) (insn, bool) {
	d := &insnDecoder{p: p, r: r, code: p.codeBytes(r.PC)}
	if p.CPU != "x86_64" || d.code == nil {
		return insn{}, false
	}
	d.prefixes()
	ok := d.opcode() && !d.failed
	return d.out, ok
}

// codeBytes are the bytes at pc, as many as the longest instruction of an x86
// CPU has or as there are.
func (p *Process) codeBytes(pc uint64) (code []byte) {
	for n := uint64(15); n > 0 && code == nil; n-- {
		code = p.Memory.Bytes(pc, n)
	}
	return code
}

func (d *insnDecoder) u8() byte {
	if d.pos >= len(d.code) {
		d.failed = true
		return 0
	}
	d.pos++
	return d.code[d.pos-1]
}

// signed reads a displacement of 1 or 4 bytes.
func (d *insnDecoder) signed(size int) uint64 {
	if d.pos+size > len(d.code) {
		d.failed = true
		return 0
	}
	d.pos += size
	if size == 1 {
		return uint64(int64(int8(d.code[d.pos-1])))
	}
	return uint64(int64(int32(binary.LittleEndian.Uint32(d.code[d.pos-4:]))))
}

func (d *insnDecoder) prefixes() {
	for d.pos < len(d.code) {
		switch b := d.code[d.pos]; {
		case b == 0x66:
			d.narrow = true
		case b == 0x67:
			d.address = true
		case b == 0xf2, b == 0xf3:
			d.rep = b
		case b == 0x64, b == 0x65:
			d.segment = true
		case b == 0x2e, b == 0x36, b == 0x3e, b == 0x26, b == 0xf0:
		case b&0xf0 == 0x40:
			d.rex = b
			d.pos++
			return
		default:
			return
		}
		d.pos++
	}
}

// amd64Numbers are the DWARF numbers of the registers by their numbers in
// instructions.
var amd64Numbers = [16]cfi.Reg{0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15}

// gpr is a register by its number in instructions.
func (d *insnDecoder) gpr(n byte) uint64 {
	v, ok := d.r.Get(amd64Numbers[n&15])
	d.failed = d.failed || !ok
	return v
}

// base is a register that an address is counted from.
func (d *insnDecoder) base(n byte) uint64 {
	d.out.uses |= 1 << amd64Numbers[n&15]
	return d.gpr(n)
}

// size is that of an operand that the prefixes determine.
func (d *insnDecoder) size() int {
	switch {
	case d.rex&8 != 0:
		return 8
	case d.narrow:
		return 2
	}
	return 4
}

// memory reads ModRM, SIB and displacement, and the size of the immediate
// operand behind them, which an address relative to the program counter needs.
// It is false for a register.
func (d *insnDecoder) memory(immediate int) (a access, ok bool) {
	m := d.u8()
	d.mod, d.reg = m>>6, m>>3&7
	rm := m & 7
	if d.mod == 3 {
		return a, false
	}
	relative := false
	switch {
	case rm == 4:
		a = d.sib()
	case rm == 5 && d.mod == 0:
		relative = true
		a.addr = d.signed(4)
	default:
		base := d.base(rm | d.rex<<3&8)
		a.addr, a.null = base, base == 0
	}
	switch d.mod {
	case 1:
		a.addr += d.signed(1)
	case 2:
		a.addr += d.signed(4)
	}
	if relative {
		a.addr += d.r.PC + uint64(d.pos+immediate)
	}
	if d.address {
		a.addr = uint64(uint32(a.addr))
	}
	return a, !d.segment
}

func (d *insnDecoder) sib() (a access) {
	s := d.u8()
	base, index := s&7, s>>3&7|d.rex<<2&8
	if base == 5 && d.mod == 0 {
		a.addr = d.signed(4)
	} else {
		a.addr = d.base(base | d.rex<<3&8)
		a.null = a.addr == 0
	}
	if index != 4 {
		a.addr += d.base(index) << (s >> 6)
	}
	return a
}

// touch notes an access of an operand in memory.
func (d *insnDecoder) touch(a access, ok bool, size int, kind string) {
	if ok && kind != "none" {
		a.size, a.kind = size, kind
		d.out.accesses = append(d.out.accesses, a)
	}
}

// stack notes an access of the stack at an offset from its pointer.
func (d *insnDecoder) stack(off uint64, kind string) {
	at := d.gpr(4) + off
	d.touch(access{addr: at, null: at == 0}, true, 8, kind)
}
