package code

import (
	"encoding/binary"
	"math/bits"

	"symkit/cfi"
)

// ARM and Thumb are the two instruction sets of 32-bit ARM.
var (
	ARM   Decoder = armCode{}
	Thumb Decoder = thumbCode{}
)

type (
	armCode   struct{}
	thumbCode struct{}
)

const armSP, armLR, armPC = 13, 14, 15

// GuessARM returns the instruction set of 32-bit ARM that code at start has. Nearly all
// instructions of ARM code are unconditional, and an unconditional instruction begins with
// the hexadecimal digit e.
func GuessARM(code []byte, start uint64) Decoder {
	if start%4 != 0 {
		return Thumb
	}
	// Three quarters are enough, because some instructions of ARM code are conditional.
	n, always := 0, 0
	for ; n < len(code)/4; n++ {
		if code[4*n+3]>>4 == 0xe {
			always++
		}
	}

	if n > 0 && always*4 >= n*3 {
		return ARM
	}
	return Thumb
}

// many adds a load or store of several registers to consecutive words from base + n on, the
// lowest register at the lowest address.
func (e *effect) many(kind frameOpKind, list uint32, base cfi.Reg, n int64) {
	for ; list != 0; list &= list - 1 {
		e.add(kind, cfi.Reg(bits.TrailingZeros32(list)), base, n)
		n += 4
	}
}

// push adds the effect of a push of registers of 4 bytes each.
func (e *effect) push(list uint32) {
	e.add(opMove, armSP, armSP, -4*int64(bits.OnesCount32(list)))
	e.many(opStore, list, armSP, 0)
}

// pop adds the effect of a pop of registers of 4 bytes each.
func (e *effect) pop(list uint32) {
	if list>>armPC&1 != 0 {
		e.flow = flowEnd
	}
	e.many(opLoad, list&^(1<<armPC), armSP, 0)
	if list>>armSP&1 == 0 {
		e.add(opMove, armSP, armSP, 4*int64(bits.OnesCount32(list)))
	}
}

// multiple interprets the instructions that ARM code and the 32-bit instructions of Thumb
// code share: LDM, STM, VPUSH, VPOP (Arm ARM F5.1, F6.1).
func (e *effect) multiple(insn uint32) bool {
	list := insn & 0xffff
	switch {
	case insn&0x0fff0000 == 0x092d0000: // push
		e.push(list)
	case insn&0x0fff0000 == 0x08bd0000: // pop
		e.pop(list)
	case insn&0x0fd00000 == 0x08900000 || insn&0x0fd00000 == 0x09100000: // ldm, ldmdb
		if list>>armPC&1 != 0 {
			e.flow = flowEnd
		} else if list>>armSP&1 != 0 {
			e.add(opLose, armSP, 0, 0)
		}
	case insn&0x0fbf0e00 == 0x0d2d0a00: // vpush
		e.add(opMove, armSP, armSP, -4*int64(insn&0xff))
	case insn&0x0fbf0e00 == 0x0cbd0a00: // vpop
		e.add(opMove, armSP, armSP, 4*int64(insn&0xff))
	default:
		return false
	}
	return true
}

// step decodes an instruction of ARM code.
func (armCode) step(code []byte, pc uint64, e *effect) bool {
	if len(code) < 4 {
		return false
	}
	insn := binary.LittleEndian.Uint32(code)
	e.size = 4
	cond := insn >> 28
	if cond == 15 {
		if insn>>25 == 0x7d { // blx
			e.flow = flowCall
		}
		return true
	}

	switch {
	case insn>>24&15 == 10:
		e.flow, e.target = flowJump, pc+8+uint64(SignExtend(insn, 24)*4)
	case insn>>24&15 == 11, insn&0x0ffffff0 == 0x012fff30: // bl, blx
		e.flow = flowCall
		return true
	case insn&0x0fffffff == 0x012fff1e, insn&0x0fffffff == 0x01a0f00e: // bx lr; mov pc, lr
		e.flow = flowEnd
	case insn&0x0ffffff0 == 0x012fff10: // bx
		e.flow = flowTable
	case insn&0x0ff000f0 == 0x07f000f0: // udf
		e.flow = flowEnd
	case e.multiple(insn):
	default:
		e.armData(insn)
	}

	if cond != 14 { // the next instruction may follow without this one's effect
		e.skippable()
	}
	return true
}

// armData decodes sums, moves, and loads and stores of one register.
func (e *effect) armData(insn uint32) {
	rn, rd := cfi.Reg(insn>>16&15), cfi.Reg(insn>>12&15)
	imm := int64(bits.RotateLeft32(insn&0xff, -int(insn>>8&15*2)))
	switch op := insn >> 20 & 0xff; {
	case op < 0x20 && insn&0x90 == 0x90: // multiplications, and loads and stores of other sizes
		if kind := insn >> 4 & 15; insn>>20&5 == 4 && kind >= 13 {
			a := armAccess(insn, int64(insn>>4&0xf0|insn&15))
			a.load = kind == 13
			e.pair(a, rd, rd+1)
		} else if kind == 9 {
			e.armChange(rd, rn)
		} else if insn>>20&1 != 0 {
			e.armChange(rd)
		}
	case op == 0x28: // add
		e.add(opMove, rd, rn, imm)
	case op == 0x24: // sub
		e.add(opMove, rd, rn, -imm)
	case op == 0x04 && insn&0xff0 == 0 && rd == rn: // sub rd, rd, rm
		e.add(opSub, rd, cfi.Reg(insn&15), 0)
	case op == 0x1a && insn&0xff0 == 0 && rd != armPC: // mov
		e.add(opMove, rd, cfi.Reg(insn&15), 0)
	case op == 0x3a: // mov, immediate
		e.add(opConst, rd, 0, imm)
	case op == 0x30: // movw
		e.add(opConst, rd, 0, int64(insn>>4&0xf000|insn&0xfff))
	case op == 0x34: // movt
		e.add(opInsert, rd, 16, int64(insn>>4&0xf000|insn&0xfff))
	case op&0xe4 == 0x40: // ldr, str: immediate
		e.single(armAccess(insn, int64(insn&0xfff)), rd)
	case op < 0x40 && op&0x1f>>3 != 2 && rd == armPC: // a sum that is a jump
		e.flow = flowTable
	case op < 0x40 && op>>3&3 != 2 && rd == armSP: // and, add of registers
		e.add(opLose, armSP, 0, 0)
	case op&0xe1 == 0x61 && rd == armPC:
		e.flow = flowTable
	case op&0xfe == 0x7c && insn&0x70 == 0x10 && rd == armSP: // bfc: the stack pointer is aligned
		e.add(opLose, armSP, 0, 0)
	case op >= 0x60 && op < 0x80 && insn&0x10 != 0: // bit fields, extensions, divisions
		e.armChange(rd, rn)
	case op < 0x40 && op>>3&3 != 2, op&0xc1 == 0x41: // other sums; loads
		e.armChange(rd)
	}
}

// armChange is change of general registers: the stack pointer and the program counter
// have cases of their own.
func (e *effect) armChange(regs ...cfi.Reg) {
	for _, reg := range regs {
		if reg != armSP && reg != armPC {
			e.change(reg)
		}
	}
}

// armAccess reads the bits of an access with an immediate offset, which are the same
// in ARM code and in LDRD and STRD of Thumb code.
func armAccess(insn uint32, offset int64) access {
	if insn>>23&1 == 0 {
		offset = -offset
	}
	return access{insn>>20&1 != 0, insn>>24&1 != 0, insn>>21&1 != 0, cfi.Reg(insn >> 16 & 15), offset}
}

// pair adds a load or store of two words.
func (e *effect) pair(a access, rt, rt2 cfi.Reg) { e.access(a, 4, rt, rt2) }

// single adds a load or store of a word. A load of the program counter is a jump.
func (e *effect) single(a access, rt cfi.Reg) {
	if a.load && rt == armPC {
		e.flow = flowTable
		if a.rn == armSP {
			e.flow = flowEnd
		}
		rt = None
	}
	e.access(a, 4, rt)
}
