package code

import (
	"encoding/binary"

	"symkit/cfi"
)

// ARM64 is the instruction set of AArch64.
var ARM64 Decoder = arm64{}

type arm64 struct{}

// step decodes the instructions of prologues and epilogues (Arm ARM C6.2): stores and loads
// of single registers and of pairs, additions and subtractions, branches.
func (arm64) step(code []byte, pc uint64, e *effect) bool {
	if len(code) < 4 {
		return false
	}
	insn := binary.LittleEndian.Uint32(code)
	e.size = 4
	if insn>>16 == 0 { // udf
		return false
	}
	if !e.arm64Branch(insn, pc) {
		e.arm64Data(insn)
	}
	return true
}

// arm64Branch decodes branches, exception and system instructions. It returns false for any
// other instruction.
func (e *effect) arm64Branch(insn uint32, pc uint64) bool {
	switch {
	case insn>>26 == 5: // b
		e.flow, e.target = flowJump, pc+uint64(SignExtend(insn, 26)*4)
	case insn>>26 == 0x25, insn&0xfffffc1f == 0xd63f0000, insn&0xfefff800 == 0xd63f0800: // bl, blr, blraa
		e.flow = flowCall
	case insn>>24 == 0x54, insn&0x7e000000 == 0x34000000: // b.cond, cbz
		e.flow, e.target = flowBranch, pc+uint64(SignExtend(insn>>5, 19)*4)
	case insn&0x7e000000 == 0x36000000: // tbz
		e.flow, e.target = flowBranch, pc+uint64(SignExtend(insn>>5, 14)*4)
	case insn&0xfffff81f == 0xd65f0000 || insn&0xfffffbff == 0xd65f0bff: // ret, retaa
		e.flow = flowEnd
	case insn&0xfe000000 == 0xd6000000: // br
		e.flow = flowTable
	case insn&0xffe0001f == 0xd4200000: // brk
		e.flow = flowEnd
	default:
		return false
	}
	return true
}

// The number 31 stands for the stack pointer or for the zero register.
const arm64SP, arm64Zero = cfi.Reg(31), cfi.Reg(31)

// arm64Data decodes sums, loads and stores.
func (e *effect) arm64Data(insn uint32) {
	rd, rn := cfi.Reg(insn&31), cfi.Reg(insn>>5&31)
	imm := int64(insn >> 10 & 0xfff)
	switch {
	case insn&0xbf800000 == 0x91000000, insn&0xff800000 == 0xd1000000: // add, sub: immediate
		if insn>>31 == 0 {
			e.change(notZero(rd))
			return
		}
		if insn>>22&1 != 0 {
			imm <<= 12
		}
		if insn>>30&1 != 0 {
			imm = -imm
		}
		e.add(opMove, rd, rn, imm)
	case insn&0xffe00000 == 0xcb200000 && rd == arm64SP && rn == arm64SP: // sub sp, sp, xN
		e.add(opSub, rd, cfi.Reg(insn>>16&31), 0)
	case insn&0xffe00000 == 0x8b200000 && rd == arm64SP, insn&0xff800000 == 0x92000000 && rd == arm64SP, insn&0xff800000 == 0xb2000000 && rd == arm64SP:
		e.add(opLose, rd, 0, 0) // add sp, xN, xM; and sp, ...
	case insn&0xff800000 == 0xd2800000, insn&0xff800000 == 0x52800000: // movz
		e.add(opConst, rd, 0, int64(insn>>5&0xffff)<<(insn>>21&3*16))
	case insn&0x7f800000 == 0x72800000: // movk
		e.add(opInsert, rd, cfi.Reg(insn>>21&3*16), int64(insn>>5&0xffff))
	case insn&0x3a000000 == 0x28000000: // ldp, stp
		e.arm64Pair(insn, rd, rn)
	case insn&0x3b200000 == 0x38000000, insn&0x3b000000 == 0x39000000:
		e.arm64Single(insn, rd, rn)
	case insn>>25&14 == 8, insn>>25&7 == 5, insn&0x3b000000 == 0x18000000, insn&0x3b600c00 == 0x38600800:
		// Other arithmetic, loads of literals and from the sum of two registers.
		e.change(notZero(rd))
	}
}

// arm64Pair decodes LDP and STP. Only two general registers of 64 bits are recorded.
func (e *effect) arm64Pair(insn uint32, rt, rn cfi.Reg) {
	rt2, vector, mode := cfi.Reg(insn>>10&31), insn>>26&1 != 0, insn>>23&3
	scale := 2 + insn>>31&1
	if vector {
		scale = 2 + insn>>30
	}
	if vector || insn>>30 != 2 {
		if !vector && insn>>22&1 != 0 {
			e.change(notZero(rt), notZero(rt2))
		}
		rt, rt2 = arm64Zero, arm64Zero
	}

	a := access{insn>>22&1 != 0, mode != 1, mode == 3, rn, SignExtend(insn>>15, 7) << scale}
	e.access(a, 8, notZero(rt), notZero(rt2))
}

// arm64Single decodes LDR and STR with an immediate offset. Only a general register of 64
// bits is recorded.
func (e *effect) arm64Single(insn uint32, rt, rn cfi.Reg) {
	offset, mode := SignExtend(insn>>12, 9), insn>>10&3
	if insn>>24&1 != 0 {
		offset, mode = int64(insn>>10&0xfff)<<3, 0
	}
	if mode == 2 { // unprivileged
		return
	}
	if insn>>25 != 0xf8>>1 || insn>>23&1 != 0 {
		if insn>>26&1 == 0 && insn>>22&3 != 0 {
			e.change(notZero(rt))
		}
		rt = arm64Zero
	}
	e.access(access{insn>>22&3 == 1, mode != 1, mode == 3, rn, offset}, 8, notZero(rt))
}

// notZero returns None instead of the zero register, which has the number of the
// stack pointer.
func notZero(reg cfi.Reg) cfi.Reg {
	if reg == arm64Zero {
		return None
	}
	return reg
}
