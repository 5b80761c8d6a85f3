package code

import (
	"encoding/binary"
	"math/bits"

	"symkit/cfi"
)

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
		e.flow, e.target = flowJump, pc+4+uint64(SignExtend(insn, 11)*2)
	case insn&0xf000 == 0xd000 && insn>>8&15 < 14:
		e.flow, e.target = flowBranch, pc+4+uint64(SignExtend(insn, 8)*2)
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
		e.flow, e.target = flowJump, pc+4+uint64(ThumbOffset(insn))
	case insn&0xf800d000 == 0xf0008000 && insn>>23&7 != 7: // b, conditional
		offset := insn>>26&1<<20 | insn>>11&1<<19 | insn>>13&1<<18 | insn>>16&0x3f<<12 | insn&0x7ff<<1
		e.flow, e.target = flowBranch, pc+4+uint64(SignExtend(offset, 21))
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

// ThumbOffset returns the offset of a B.W or BL (Arm ARM F5.1, encoding T4).
func ThumbOffset(insn uint32) int64 {
	s := insn >> 26 & 1
	i1, i2 := ^(insn>>13^s)&1, ^(insn>>11^s)&1
	return SignExtend(s<<24|i1<<23|i2<<22|insn>>16&0x3ff<<12|insn&0x7ff<<1, 25)
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
