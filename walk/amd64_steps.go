package walk

import (
	"encoding/binary"
	"strings"

	"symkit/cfi"
)

// Operands by opcode (Intel SDM vol. 2D, tables ): m ModRM, M ModRM
// and a byte, Z ModRM and a word of up to 4 bytes, b a byte, w 2 bytes, z up to
// 4 bytes, v up to 8 bytes, e those of enter, o an address, j and J a relative
// jump of 1 or 4 bytes, g and G the groups f6 and f7, x none that is used here.
const (
	x86Operands = "" +
		"mmmmbz..mmmmbz.xmmmmbz..mmmmbz.." + // 00
		"mmmmbz..mmmmbz..mmmmbz..mmmmbz.." + // 20
		"................................" + // 40
		"..mm....zZbM....jjjjjjjjjjjjjjjj" + // 60
		"MZMMmmmmmmmmmmmm..........x....." + // 80
		"oooo....bz......bbbbbbbbvvvvvvvv" + // a0
		"MMw.mmMZe.w..b..mmmmbb..mmmmmmmm" + // c0
		"jjjjbbbbJJxj..........gG......mm" // e0
	x86Operands0F = "" +
		"mmmmx.....x.xm.Mmmmmmmmmmmmmmmmm" + // 00
		"mmmmxxxxmmmmmmmm......x.xxxxxxxx" + // 20
		"mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm" + // 40
		"mmmmmmmmmmmmmmmmMMMMmmm.mmxxmmmm" + // 60
		"JJJJJJJJJJJJJJJJmmmmmmmmmmmmmmmm" + // 80
		"...mMmxx...mMmmmmmmmmmmmmmMmmmmm" + // a0
		"mmMmMMMm........mmmmmmmmmmmmmmmm" + // c0
		"mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm" // e0
)

// x86Only32 are the opcodes that no 64-bit code has.
const x86Only32 = "\x06\x07\x0e\x16\x17\x1e\x1f\x27\x2f\x37\x3f\x60\x61\x82\x9a\xce\xd4\xd5\xd6\xea"

// x86Code is one decoded instruction of x86, with 32 or 64 bits.
type x86Code struct {
	wide      bool
	operand16 bool
	address   bool // of the other size
	rex       byte
	table     string // of the opcode; empty: VEX and EVEX
	op        byte
	mod, reg  byte
	rm        byte // with REX's bit
	sib       bool // an address of more than a register and a displacement
	disp, imm int64
	size      int
}

// decodeX86 reads one instruction; ok is false where the bytes are none.
func decodeX86(code []byte, wide bool) (x x86Code, ok bool) {
	c := x86Reader{code: code}
	x.wide = wide
	op := x.prefixes(&c)
	x.table = x86Operands
	operands := byte('x')
	switch {
	case op == 0x62 && (wide || c.peek()>>6 == 3):
		x.table = ""
		m := c.u8() & 7
		c.skip(2)
		x.op = c.u8()
		operands = vexOperands(m, x.op)
	case op == 0xc4 && (wide || c.peek()>>6 == 3):
		x.table = ""
		m := c.u8() & 31
		c.skip(1)
		x.op = c.u8()
		operands = vexOperands(m, x.op)
	case op == 0xc5 && (wide || c.peek()>>6 == 3):
		x.table = ""
		c.skip(1)
		x.op = c.u8()
		operands = vexOperands(1, x.op)
	case wide && strings.IndexByte(x86Only32, op) >= 0:
	case op == 0x0f:
		x.table = x86Operands0F
		switch x.op = c.u8(); x.op {
		case 0x38:
			x.table, x.op, operands = "", c.u8(), 'm'
		case 0x3a:
			x.table, x.op, operands = "", c.u8(), 'M'
		default:
			operands = x.table[x.op]
		}
	default:
		x.op, operands = op, x.table[op]
	}
	x.operands(&c, operands)
	x.size = c.pos
	return x, !c.failed && operands != 'x'
}

// vexOperands tells the operands of an opcode by its map (SDM vol. 2A, 2.3.6).
func vexOperands(m, op byte) byte {
	switch m {
	case 1:
		return x86Operands0F[op]
	case 3:
		return 'M'
	}
	return 'm'
}

type x86Reader struct {
	code   []byte
	pos    int
	failed bool
}

func (c *x86Reader) u8() byte {
	if c.skip(1); c.failed {
		return 0
	}
	return c.code[c.pos-1]
}

func (c *x86Reader) peek() byte {
	if c.pos >= len(c.code) {
		return 0
	}
	return c.code[c.pos]
}

func (c *x86Reader) skip(n int) {
	if c.pos += n; c.pos > len(c.code) {
		c.failed, c.pos = true, len(c.code)
	}
}

func (c *x86Reader) signed(n int) int64 {
	c.skip(n)
	if c.failed || n == 0 {
		return 0
	}
	b := c.code[c.pos-n : c.pos]
	switch n {
	case 1:
		return int64(int8(b[0]))
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

// prefixes returns the first byte that is none.
func (x *x86Code) prefixes(c *x86Reader) byte {
	for {
		b := c.u8()
		switch {
		case c.failed:
			return b
		case b == 0x66:
			x.operand16 = true
		case b == 0x67:
			x.address = true
		case strings.IndexByte("\xf0\xf2\xf3\x26\x2e\x36\x3e\x64\x65", b) >= 0:
		case x.wide && b&0xf0 == 0x40:
			x.rex = b
			return c.u8()
		default:
			return b
		}
	}
}

func (x *x86Code) operands(c *x86Reader, operands byte) {
	word := 4
	if x.operand16 && x.rex&8 == 0 {
		word = 2
	}
	switch operands {
	case 'm', 'M', 'Z', 'g', 'G':
		x.modRM(c)
	}
	switch operands {
	case 'M', 'b', 'j':
		x.imm = c.signed(1)
	case 'w':
		x.imm = c.signed(2)
	case 'Z', 'z':
		x.imm = c.signed(word)
	case 'J':
		x.imm = c.signed(4)
	case 'v':
		if x.rex&8 != 0 {
			word = 8
		}
		x.imm = c.signed(word)
	case 'e':
		c.skip(3)
	case 'o':
		if x.wide != x.address {
			c.skip(8)
		} else {
			c.skip(4)
		}
	case 'g':
		if x.reg&7 < 2 {
			c.skip(1)
		}
	case 'G':
		if x.reg&7 < 2 {
			c.skip(word)
		}
	}
}

// modRM reads the ModRM and SIB bytes and the displacement (table 2-2).
func (x *x86Code) modRM(c *x86Reader) {
	b := c.u8()
	x.mod, x.reg, x.rm = b>>6, b>>3&7|x.rex<<1&8, b&7|x.rex<<3&8
	if x.mod == 3 {
		return
	}
	base := b & 7
	if base == 4 {
		s := c.u8()
		base = s & 7
		x.rm = base | x.rex<<3&8
		x.sib = s>>3&7|x.rex<<2&8 != 4 // with an index
	}
	switch {
	case x.mod == 1:
		x.disp = c.signed(1)
	case x.mod == 2:
		x.disp = c.signed(4)
	case base == 5:
		x.disp, x.sib = c.signed(4), true // no base
	}
}

// x86Regs are the DWARF numbers of 32-bit x86's registers by their numbers in
// instructions: the same.
var x86Regs = [16]cfi.Reg{0, 1, 2, 3, 4, 5, 6, 7}

func (amd64) step(code []byte, pc uint64, e *effect) bool {
	return x86Step(code, pc, e, true, amd64Numbers[:])
}

func (x86) step(code []byte, pc uint64, e *effect) bool {
	return x86Step(code, pc, e, false, x86Regs[:])
}

// x86Step tells what an instruction does to the stack pointer, to the
// registers that it is copied to, and to the words that it leads to.
func x86Step(code []byte, pc uint64, e *effect, wide bool, regs []cfi.Reg) bool {
	x, ok := decodeX86(code, wide)
	if !ok {
		return false
	}
	e.size = uint64(x.size)
	s := x86Stack{x, e, regs, 4}
	if wide {
		s.word = 8
	}
	switch x.table {
	case x86Operands:
		s.oneByte(pc + e.size)
	case x86Operands0F:
		s.twoBytes(pc + e.size)
	}
	return true
}

type x86Stack struct {
	x86Code
	e    *effect
	regs []cfi.Reg
	word int64
}

func (s *x86Stack) add(kind frameOpKind, reg, base cfi.Reg, n int64) {
	s.e.ops = append(s.e.ops, frameOp{kind, reg, base, n})
}

func (s *x86Stack) push(reg cfi.Reg) {
	sp := s.regs[4]
	s.add(opMove, sp, sp, -s.word)
	if reg != RegNone {
		s.add(opStore, reg, sp, 0)
	}
}

func (s *x86Stack) pop(reg cfi.Reg) {
	sp := s.regs[4]
	if reg != RegNone {
		s.add(opLoad, reg, sp, 0)
	}
	s.add(opMove, sp, sp, s.word)
}

// twoBytes are the opcodes behind 0f.
func (s *x86Stack) twoBytes(next uint64) {
	switch op := s.op; {
	case op&0xf0 == 0x80: // jcc
		s.e.flow, s.e.target = flowBranch, next+uint64(s.imm)
	case op == 0x0b: // ud2
		s.e.flow = flowEnd
	case op == 0xa0, op == 0xa8: // push fs, gs
		s.push(RegNone)
	case op == 0xa1, op == 0xa9:
		s.pop(RegNone)
	}
}

func (s *x86Stack) oneByte(next uint64) {
	sp, fp := s.regs[4], s.regs[5]
	low := s.regs[s.op&7|s.rex<<3&8]
	switch op := s.op; {
	case op >= 0x50 && op < 0x58:
		s.push(low)
	case op >= 0x58 && op < 0x60:
		s.pop(low)
	case op == 0x68, op == 0x6a, op == 0x9c:
		s.push(RegNone)
	case op == 0x9d:
		s.pop(RegNone)
	case op == 0xc9: // leave
		s.add(opMove, sp, fp, 0)
		s.pop(fp)
	case op >= 0x70 && op < 0x80, op >= 0xe0 && op < 0xe4:
		s.e.flow, s.e.target = flowBranch, next+uint64(s.imm)
	case op == 0xe9, op == 0xeb:
		s.e.flow, s.e.target = flowJump, next+uint64(s.imm)
	case op == 0xe8:
		s.e.flow = flowCall
		if !s.wide && s.imm == 0 { // call next; pop
			s.e.flow = flowNext
			s.push(RegNone)
		}
	case op == 0xc2, op == 0xc3, op == 0xca, op == 0xcb, op == 0xcf, op == 0xf4, op == 0xcc:
		s.e.flow = flowEnd
	case op >= 0xb8 && op < 0xc0:
		s.add(opConst, low, 0, s.imm)
	default:
		s.operand(s.op)
	}
}

// operand is the opcodes with ModRM.
func (s *x86Stack) operand(op byte) {
	reg, rm, full := s.regs[s.reg&15], s.regs[s.rm&15], !s.wide || s.rex&8 != 0
	sp := s.regs[4]
	group := s.reg & 7
	switch {
	case op == 0xff && group == 2, op == 0xff && group == 3:
		s.e.flow = flowCall
	case op == 0xff && group >= 4 && group < 6:
		s.e.flow = flowTable
	case op == 0xff && group == 6:
		s.push(RegNone)
	case op == 0x8f:
		s.pop(RegNone)
	case op == 0x89 && s.mod == 3 && full:
		s.add(opMove, rm, reg, 0)
	case op == 0x8b && s.mod == 3 && full:
		s.add(opMove, reg, rm, 0)
	case op == 0x89 && full && !s.sib:
		s.add(opStore, reg, rm, s.disp)
	case op == 0x8b && full && !s.sib:
		s.add(opLoad, reg, rm, s.disp)
	case op == 0x8d && full && !s.sib:
		s.add(opMove, reg, rm, s.disp)
	case op == 0xc7 && s.mod == 3:
		s.add(opConst, rm, 0, s.imm)
	case (op == 0x81 || op == 0x83) && s.mod == 3 && full && group == 0:
		s.add(opMove, rm, rm, s.imm)
	case (op == 0x81 || op == 0x83) && s.mod == 3 && full && group == 5:
		s.add(opMove, rm, rm, -s.imm)
	case op == 0x29 && s.mod == 3 && full:
		s.add(opSub, rm, reg, 0)
	case op == 0x2b && s.mod == 3 && full:
		s.add(opSub, reg, rm, 0)
	case s.mod == 3 && rm == sp && full && (op < 0x38 && op&6 == 0 || op == 0x81 || op == 0x83) && group != 7:
		s.add(opLose, sp, 0, 0) // and, most of all
	case op == 0x8d && reg == sp, op < 0x38 && op&6 == 2 && reg == sp:
		s.add(opLose, sp, 0, 0)
	}
}
