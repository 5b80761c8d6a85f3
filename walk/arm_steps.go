package walk

import (
	"encoding/binary"
	"math/bits"

	"symkit/cfi"
)

// armCode and thumbCode are the two instruction sets of 32-bit ARM.
type (
	armCode   struct{}
	thumbCode struct{}
)

const armSP, armLR, armPC = 13, 14, 15

// stepper finds out the instruction set of code and returns its decoder. Nearly all
// instructions of ARM code are unconditional, and an unconditional instruction begins with
// the hexadecimal digit e.
func (arm) stepper(code []byte, start uint64) stepper {
	if start%4 != 0 {
		return thumbCode{}
	}
	// Three quarters are enough, because some instructions of ARM code are conditional.
	n, always := 0, 0
	for ; n < len(code)/4; n++ {
		if code[4*n+3]>>4 == 0xe {
			always++
		}
	}

	if n > 0 && always*4 >= n*3 {
		return armCode{}
	}
	return thumbCode{}
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
		e.flow, e.target = flowJump, pc+8+uint64(signExtend(insn, 24)*4)
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

// access is a load or store at an offset from register rn. If before is set, the offset is
// added before the access, and rn keeps the sum if write is set. Otherwise the offset is
// added to rn after the access.
type access struct {
	load, before, write bool
	rn                  cfi.Reg
	offset              int64
}

// armAccess reads the bits of an access with an immediate offset, which are the same
// in ARM code and in LDRD and STRD of Thumb code.
func armAccess(insn uint32, offset int64) access {
	if insn>>23&1 == 0 {
		offset = -offset
	}
	return access{insn>>20&1 != 0, insn>>24&1 != 0, insn>>21&1 != 0, cfi.Reg(insn >> 16 & 15), offset}
}

// access adds the loads or stores of registers to consecutive words, and the change
// of the base register.
func (e *effect) access(a access, word int64, regs ...cfi.Reg) {
	kind, at := opStore, a.offset
	if a.load {
		kind = opLoad
	}
	if !a.before || a.write {
		at = 0
	}

	if a.before && a.write {
		e.add(opMove, a.rn, a.rn, a.offset)
	}
	for i, reg := range regs {
		if reg != RegNone {
			e.add(kind, reg, a.rn, at+int64(i)*word)
		}
	}
	if !a.before {
		e.add(opMove, a.rn, a.rn, a.offset)
	}
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
		rt = RegNone
	}
	e.access(a, 4, rt)
}

// step decodes an instruction of Thumb code.
func (thumbCode) step(code []byte, pc uint64, e *effect) bool {
	if len(code) < 2 {
		return false
	}
	// The upper five bits of the first halfword give the size.
	insn := uint32(binary.LittleEndian.Uint16(code))
	if insn>>11 >= 0x1d {
		if len(code) < 4 {
			return false
		}
		e.size = 4
		e.thumb32(insn<<16|uint32(binary.LittleEndian.Uint16(code[2:])), pc)
		return true
	}

	e.size = 2
	e.thumb16(insn, pc)
	return true
}

// thumb16 decodes the instructions of 16 bits (Arm ARM F3.2).
func (e *effect) thumb16(insn uint32, pc uint64) {
	low := cfi.Reg(insn >> 8 & 7)
	imm := int64(insn & 0xff)
	switch {
	case insn&0xfe00 == 0xb400:
		e.push(insn&0xff | insn>>8&1<<armLR)
	case insn&0xfe00 == 0xbc00:
		e.pop(insn&0xff | insn>>8&1<<armPC)
	case insn&0xff80 == 0xb080: // sub sp
		e.add(opMove, armSP, armSP, -int64(insn&0x7f)*4)
	case insn&0xff80 == 0xb000:
		e.add(opMove, armSP, armSP, int64(insn&0x7f)*4)
	case insn&0xf800 == 0xa800: // add rd, sp
		e.add(opMove, low, armSP, imm*4)
	case insn&0xf800 == 0x3000: // adds
		e.add(opMove, low, low, imm)
	case insn&0xf800 == 0x3800: // subs
		e.add(opMove, low, low, -imm)
	case insn&0xf800 == 0x2000: // movs
		e.add(opConst, low, 0, imm)
	case insn&0xf800 == 0x9000:
		e.add(opStore, low, armSP, imm*4)
	case insn&0xf800 == 0x9800:
		e.add(opLoad, low, armSP, imm*4)
	case insn&0xfc00 == 0x4400:
		e.thumbHigh(insn)
	case insn&0xf800 == 0xe000:
		e.flow, e.target = flowJump, pc+4+uint64(signExtend(insn, 11)*2)
	case insn&0xf000 == 0xd000 && insn>>8&15 < 14:
		e.flow, e.target = flowBranch, pc+4+uint64(signExtend(insn, 8)*2)
	case insn&0xf500 == 0xb100: // cbz
		e.flow, e.target = flowBranch, pc+4+uint64(insn>>3&0x1f<<1|insn>>9&1<<6)
	case insn&0xff00 == 0xde00: // udf
		e.flow = flowEnd
	case insn&0xff00 == 0xbf00 && insn&15 != 0: // it
		e.guards = 4 - bits.TrailingZeros32(insn&15)
	case insn>>12 == 4 && insn&0x0800 != 0, insn>>11 == 0x14: // ldr of a literal; adr
		e.change(low)
	case insn>>13 == 0, insn&0xfc00 == 0x4000, // shifts and sums
		insn>>12 == 5 && insn>>9&7 >= 3, insn>>12 >= 6 && insn>>12 <= 8 && insn&0x800 != 0, // loads
		insn&0xf700 == 0xb200: // extensions
		e.change(cfi.Reg(insn & 7))
	}
}

// thumbHigh decodes ADD, MOV and BX of any registers.
func (e *effect) thumbHigh(insn uint32) {
	rm, rd := cfi.Reg(insn>>3&15), cfi.Reg(insn&7|insn>>4&8)
	switch op := insn >> 8 & 3; {
	case op == 3 && insn&0x80 != 0: // blx
		e.flow = flowCall
	case op == 3 && rm == armLR:
		e.flow = flowEnd
	case op == 3, op == 2 && rd == armPC && rm != armLR, op == 0 && rd == armPC:
		e.flow = flowTable
	case op == 2 && rd == armPC:
		e.flow = flowEnd
	case op == 2:
		e.add(opMove, rd, rm, 0)
	case op == 0 && rd == armSP:
		e.add(opLose, armSP, 0, 0)
	case op == 0:
		e.change(rd)
	}
}

// thumb32 decodes the instructions of 32 bits (Arm ARM F3.3).
func (e *effect) thumb32(insn uint32, pc uint64) {
	rn, rd := cfi.Reg(insn>>16&15), cfi.Reg(insn>>8&15)
	imm12 := insn>>15&0x800 | insn>>4&0x700 | insn&0xff
	switch {
	case insn>>28 == 0xe && e.multiple(insn):
	case insn&0xf800d000 == 0xf000d000, insn&0xf800d001 == 0xf000c000: // bl, blx
		e.flow = flowCall
	case insn&0xf800d000 == 0xf0009000: // b
		e.flow, e.target = flowJump, pc+4+uint64(thumbOffset(insn))
	case insn&0xf800d000 == 0xf0008000 && insn>>23&7 != 7: // b, conditional
		offset := insn>>26&1<<20 | insn>>11&1<<19 | insn>>13&1<<18 | insn>>16&0x3f<<12 | insn&0x7ff<<1
		e.flow, e.target = flowBranch, pc+4+uint64(signExtend(offset, 21))
	case insn&0xfff0ffe0 == 0xe8d0f000: // tbb, tbh
		e.flow = flowTable
	case insn&0xfbe08000 == 0xf1000000: // add, modified immediate
		e.add(opMove, rd, rn, thumbImmediate(imm12))
	case insn&0xfbe08000 == 0xf1a00000 && rd != armPC: // sub
		e.add(opMove, rd, rn, -thumbImmediate(imm12))
	case insn&0xfbf08000 == 0xf2000000: // addw
		e.add(opMove, rd, rn, int64(imm12))
	case insn&0xfbf08000 == 0xf2a00000: // subw
		e.add(opMove, rd, rn, -int64(imm12))
	case insn&0xfbf08000 == 0xf2400000: // movw
		e.add(opConst, rd, 0, int64(insn>>4&0xf000|imm12))
	case insn&0xfbef8000 == 0xf04f0000: // mov, modified immediate
		e.add(opConst, rd, 0, thumbImmediate(imm12))
	case insn&0xffe0f0f0 == 0xeba00000 && rd == rn: // sub rd, rd, rm
		e.add(opSub, rd, cfi.Reg(insn&15), 0)
	case insn&0xffe00800 == 0xf8400800: // ldr, str: 8 bits
		offset := int64(insn & 0xff)
		if insn>>9&1 == 0 {
			offset = -offset
		}
		e.single(access{insn>>20&1 != 0, insn>>10&1 != 0, insn>>8&1 != 0, rn, offset}, cfi.Reg(insn>>12&15))
	case insn&0xffe00000 == 0xf8c00000: // 12 bits
		e.single(access{insn>>20&1 != 0, true, false, rn, int64(insn & 0xfff)}, cfi.Reg(insn>>12&15))
	case insn&0xfe400000 == 0xe8400000 && insn&0x01200000 != 0: // ldrd, strd
		e.pair(armAccess(insn, int64(insn&0xff)*4), cfi.Reg(insn>>12&15), rd)
	case insn&0xfff0f000 == 0xf850f000: // ldr pc
		e.flow = flowTable
	case insn&0xfa008f00 == 0xf0000d00, insn&0xfe008f00 == 0xea000d00: // and sp, most of all
		e.add(opLose, armSP, 0, 0)
	case insn&0xfbf08000 == 0xf2c00000: // movt
		e.add(opInsert, rd, 16, int64(insn>>4&0xf000|imm12))
	case insn>>25 == 0x7c && insn&0x100000 != 0: // loads
		e.armChange(cfi.Reg(insn >> 12 & 15))
	case insn>>25 == 0x75, insn&0xf8008000 == 0xf0000000, insn>>24 == 0xfa, insn>>23 == 0x1f6: // sums, shifts, extensions, products
		e.armChange(rd)
	case insn>>23 == 0x1f7: // products of 64 bits, divisions
		e.armChange(rd, cfi.Reg(insn>>12&15))
	}
}

// thumbOffset returns the offset of a B.W or BL (Arm ARM F5.1, encoding T4).
func thumbOffset(insn uint32) int64 {
	s := insn >> 26 & 1
	i1, i2 := ^(insn>>13^s)&1, ^(insn>>11^s)&1
	return signExtend(s<<24|i1<<23|i2<<22|insn>>16&0x3ff<<12|insn&0x7ff<<1, 25)
}

// thumbImmediate expands a modified immediate (Arm ARM F1.6.2).
func thumbImmediate(imm12 uint32) int64 {
	b := imm12 & 0xff
	switch imm12 >> 8 {
	case 0:
		return int64(b)
	case 1:
		return int64(b<<16 | b)
	case 2:
		return int64(b<<24 | b<<8)
	case 3:
		return int64(b<<24 | b<<16 | b<<8 | b)
	}
	return int64(bits.RotateLeft32(0x80|imm12&0x7f, -int(imm12>>7)))
}
