package walk

import "strings"

// operandKinds tells what the opcodes of one byte that have a ModRM operand do
// to it: r, w, b(oth), n(othing), g(roup: the ModRM byte tells), - (no such
// operand). Small letters are for operands whose size the prefixes tell,
// capitals for bytes (Intel SDM vol. 2D, table A-2).
const operandKinds = "" +
	"BbRr----BbRr----BbRr----BbRr----BbRr----BbRr----BbRr----RrRr----" + // 00 add or adc sbb and sub xor cmp
	"----------------" + "----------------" + "---r-----r-r----" + "----------------" + // 40
	"GgGgRrBbWwRrwnrw" + "----------------" + "----------------" + "----------------" + // 80
	"Gg----Ww--------" + "GgGg----xxxxxxxx" + "----------------" + "------Gg------Gg" // c0

// kindOf spells a letter of the tables.
func kindOf(letter byte) string {
	switch letter | 0x20 {
	case 'r':
		return "read"
	case 'w':
		return "write"
	case 'b':
		return "readwrite"
	case 'n':
		return "none"
	}
	return ""
}

// privilegedOps are the opcodes of one byte that raise an exception outside of a
// kernel, or where it does not allow them: ports, interrupts, cli, sti, hlt, far
// returns. privilegedOps2 are those behind 0f: descriptor tables, control
// registers, MSRs, time stamps, caches.
const (
	privilegedOps  = "\x6c\x6d\x6e\x6f\xca\xcb\xcc\xcd\xce\xcf\xe4\xe5\xe6\xe7\xec\xed\xee\xef\xf1\xf4\xfa\xfb"
	privilegedOps2 = "\x00\x01\x06\x07\x08\x09\x20\x21\x22\x23\x30\x31\x32\x33\x35\x78\x79"
)

// opcode decodes from the opcode on.
func (d *insnDecoder) opcode() bool {
	op := d.u8()
	d.out.privileged = strings.IndexByte(privilegedOps, op) >= 0
	switch {
	case d.failed:
		return false
	case op == 0x0f:
		return d.twoByte(d.u8())
	case op == 0xc4, op == 0xc5, op == 0x62: // VEX and EVEX prefixes
		return d.vex(op)
	case op >= 0x50 && op < 0x58, op == 0x68, op == 0x6a, op == 0xe8: // push, call
		d.stack(^uint64(7), "write")
		return true
	case op >= 0x58 && op < 0x60, op == 0xc9: // pop, leave
		d.stack(0, "read")
		return true
	case op == 0xc2, op == 0xc3: // ret
		d.stack(0, "read")
		d.jump(access{addr: d.gpr(4)})
		return true
	case op >= 0xa4 && op <= 0xa7, op >= 0xaa && op <= 0xaf:
		d.strings(op)
		return true
	}
	letter := operandKinds[op]
	switch letter {
	case '-':
		return true
	case 'x': // x87
		a, ok := d.memory(0)
		d.touch(a, ok, 0, "")
		return true
	}
	size := d.size()
	if letter < 'a' {
		size = 1
	}
	d.modRM(op, letter, size)
	return true
}

// modRM decodes the operand of an opcode of one byte.
func (d *insnDecoder) modRM(op, letter byte, size int) {
	at := d.pos
	a, ok := d.memory(0)
	if immediate := d.immediate(op); immediate > 0 { // the size was needed for the address
		d.pos = at
		a, ok = d.memory(immediate)
	}
	kind := kindOf(letter)
	switch {
	case letter|0x20 == 'g':
		kind, size = d.group(op, size)
	case op == 0x63: // movsxd
		size = 4
	case op == 0x8f: // pop
		d.stack(0, "read")
		size = 8
	case op == 0x8c, op == 0x8e: // segment registers
		size = 2
	}
	if op == 0xff && d.reg >= 2 && d.reg <= 5 {
		d.indirect(a, ok)
	}
	d.touch(a, ok, size, kind)
}

// immediate is the size of the operand behind the one of ModRM.
func (d *insnDecoder) immediate(op byte) int {
	switch op {
	case 0x6b, 0x80, 0x83, 0xc0, 0xc1, 0xc6:
		return 1
	case 0xf6:
		if d.reg < 2 {
			return 1
		}
	case 0x69, 0x81, 0xc7:
		return min(4, d.size())
	case 0xf7:
		if d.reg < 2 {
			return min(4, d.size())
		}
	}
	return 0
}

// group tells what the opcodes do that ModRM's reg extends (table A-6).
func (d *insnDecoder) group(op byte, size int) (kind string, _ int) {
	switch op {
	case 0x80, 0x81, 0x82, 0x83:
		return kindOf("bbbbbbbr"[d.reg]), size
	case 0xf6, 0xf7:
		d.out.division = d.reg >= 6
		return kindOf("rrbbrrrr"[d.reg]), size
	case 0xfe:
		return "readwrite", size
	case 0xff:
		if d.reg >= 2 {
			size = 8
		}
		if d.reg == 2 || d.reg == 6 { // call, push
			d.stack(^uint64(7), "write")
		}
		return kindOf("bbrrrrrx"[d.reg]), size
	}
	return "readwrite", size // shifts
}

// indirect notes where a call or jump through an operand goes to.
func (d *insnDecoder) indirect(a access, inMemory bool) {
	if d.mod == 3 {
		v := d.gpr(d.code[d.pos-1]&7 | d.rex<<3&8)
		d.out.target, d.out.jumps = access{addr: v, null: v == 0}, true
	} else if inMemory {
		d.jump(a)
	}
}

// jump notes that the word at a is where the instruction goes to.
func (d *insnDecoder) jump(a access) {
	if v, ok := readWord(d.p.Memory, a.addr, 8, false); ok {
		d.out.target, d.out.jumps = access{addr: v, null: v == 0}, true
	}
}

// strings notes what movs, cmps, stos, lods and scas do.
func (d *insnDecoder) strings(op byte) {
	size := d.size()
	if op&1 == 0 {
		size = 1
	}
	at := func(reg byte, kind string) {
		addr := d.gpr(reg)
		d.touch(access{addr: addr, null: addr == 0}, true, size, kind)
	}
	const rsi, rdi = 6, 7
	switch op &^ 1 {
	case 0xa4: // movs
		at(rsi, "read")
		at(rdi, "write")
	case 0xa6: // cmps
		at(rsi, "read")
		at(rdi, "read")
	case 0xaa: // stos
		at(rdi, "write")
	case 0xac: // lods
		at(rsi, "read")
	case 0xae: // scas
		at(rdi, "read")
	}
}

// noModRM are the opcodes behind 0f that have no ModRM operand, in ranges.
const noModRM = "\x05\x09\x0b\x0b\x0e\x0e\x30\x37\x77\x77\x80\x8f\xa0\xa2\xa8\xaa\xc8\xcf"

// twoByte decodes an instruction of the opcodes behind 0f (table A-3). Of most
// only the address is known, not the kind of access.
func (d *insnDecoder) twoByte(op byte) bool {
	d.out.privileged = strings.IndexByte(privilegedOps2, op) >= 0
	for i := 0; i < len(noModRM); i += 2 {
		if op >= noModRM[i] && op <= noModRM[i+1] {
			return true
		}
	}
	immediate := 0
	switch {
	case op == 0x38:
		d.u8()
	case op == 0x3a:
		d.u8()
		immediate = 1
	case op >= 0x70 && op <= 0x73, strings.IndexByte("\xa4\xac\xba\xc2\xc4\xc5\xc6", op) >= 0:
		immediate = 1
	}
	a, ok := d.memory(immediate)
	size, kind := d.twoByteKind(op)
	d.touch(a, ok, size, kind)
	return true
}

// twoByteKind tells what the common ones of them do.
func (d *insnDecoder) twoByteKind(op byte) (size int, kind string) {
	switch {
	case op == 0x0d, op == 0x18, op == 0x1e, op == 0x1f: // prefetch, nop
		return 0, "none"
	case op&0xf0 == 0x40: // cmov
		return d.size(), "read"
	case op&0xf0 == 0x90: // set
		return 1, "write"
	case op == 0xb6, op == 0xbe: // movzx, movsx
		return 1, "read"
	case op == 0xb7, op == 0xbf:
		return 2, "read"
	case op == 0xaf: // imul
		return d.size(), "read"
	case op == 0xb0, op == 0xc0: // cmpxchg, xadd
		return 1, "readwrite"
	case op == 0xb1, op == 0xc1:
		return d.size(), "readwrite"
	case op == 0x10, op == 0x28, op == 0x6f, op == 0x2e, op == 0x2f, op&0xf0 == 0x50:
		return d.vector(op), "read"
	case op == 0x11, op == 0x29, op == 0x7f, op == 0x2b, op == 0xe7:
		return d.vector(op), "write"
	case op == 0x12, op == 0x16, op == 0x7e && d.rep == 0xf3:
		return 8, "read"
	case op == 0x13, op == 0x17, op == 0xd6:
		return 8, "write"
	case op == 0x6e:
		return max(4, d.size()), "read"
	case op == 0x7e:
		return max(4, d.size()), "write"
	}
	return 0, ""
}

// vector is the size of an SSE operand.
func (d *insnDecoder) vector(op byte) int {
	compare := op == 0x2e || op == 0x2f
	switch {
	case op == 0x6f || op == 0x7f || op == 0xe7:
		if d.rep == 0 && !d.narrow { // MMX
			return 8
		}
		return 16
	case op == 0x28 || op == 0x29 || op == 0x2b:
		return 16
	case d.rep == 0xf3, compare && !d.narrow:
		return 4
	case d.rep == 0xf2, compare:
		return 8
	}
	return 16
}

// vex skips a VEX or EVEX prefix and finds the address of the operand; what is
// done to it is not told (Intel SDM vol. 2A §2.3, §2.7).
func (d *insnDecoder) vex(op byte) bool {
	first := d.u8()
	d.rex = 0x40 | ^first>>7&1<<2
	immediate, table := 0, byte(1)
	switch op {
	case 0xc4:
		table = first & 0x1f
		d.rex |= ^first>>6&1<<1 | ^first>>5&1
		d.u8()
		if table == 3 {
			immediate = 1
		}
	case 0x62: // displacements of one byte are scaled: give up on those
		d.rex |= ^first>>6&1<<1 | ^first>>5&1
		d.u8()
		d.u8()
		if table = first & 7; table == 3 {
			immediate = 1
		}
	}
	if opcode := d.u8(); table == 1 && opcode == 0x77 { // vzeroupper
		return true
	}
	a, ok := d.memory(immediate)
	if op == 0x62 && d.mod == 1 {
		return false
	}
	d.touch(a, ok, 0, "")
	return true
}
