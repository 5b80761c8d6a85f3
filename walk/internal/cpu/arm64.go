package cpu

import (
	"bytes"
	"encoding/binary"

	"symkit/walk/internal/code"
)

// arm64 is AArch64 (AAPCS64).
type arm64 struct{ basic }

func newARM64(v variant) *CPU {
	c := newCPU(arm64{}, v,
		"x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 x16 x17 x18 x19 x20 x21 x22 x23 x24 x25 x26 x27 x28 x29 x30 sp", "x29", 4).
		alias("fp", 29).alias("lr", 30).handlers(&arm64Signal, &arm64Signal).
		restorer("\x68\x11\x80\xd2\x01\x00\x00\xd4", "", &arm64Signal) // mov x8,#139; svc #0
	c.LowSP, c.Authenticated, c.GoPushes = true, true, 16
	return c
}

// arm64Signal is struct rt_sigframe: siginfo, ucontext, whose mcontext is at
// 176 because it is aligned, the fault's address before the registers (Linux
// arch/arm64/include/uapi/asm/sigcontext.h).
var arm64Signal = Layout{append(inOrder(128+176+8, 8, regRange(0, 31)...), savedReg{RegPC, 128 + 176 + 8 + 32*8})}

// Record implements machine: it reads the frame record that x29 points at, x29 and x30 of the
// caller (AAPCS64 §6.4.6). The record does not have the caller's stack pointer. The end of the
// record is the lowest possible value.
func (arm64) Record(s *Stack, r *Registers, _ int) (Registers, bool) { return pairAt(s, r) }

func (arm64) callBefore(insns []byte, ret uint64) Call {
	insn, ok := insn32(insns, 4, false)
	if ok && insn>>26 == 0x25 { // BL
		return direct(ret - 4 + uint64(code.SignExtend(insn, 26)*4))
	}
	return indirectIf(insn&0xfffffc1f == 0xd63f0000 || // BLR
		insn&0xfefff800 == 0xd63f0800) // BLRAA, BLRAB, BLRAAZ, BLRABZ
}

// Stub reads adrp x16; ldr x17, [x16, #n], with or without bti c first (AAELF64, "PLT
// sequences").
func (arm64) Stub(insns []byte, pc uint64) (slot uint64, ok bool) {
	if bytes.HasPrefix(insns, []byte{0x5f, 0x24, 0x03, 0xd5}) {
		insns, pc = insns[4:], pc+4
	}
	if len(insns) < 8 {
		return 0, false
	}

	// The slot is at an offset from a page that is relative to the program counter.
	adrp, ldr := binary.LittleEndian.Uint32(insns), binary.LittleEndian.Uint32(insns[4:])
	if adrp&0x9f00001f != 0x90000010 || ldr&0xffc003ff != 0xf9400211 {
		return 0, false
	}
	page := code.SignExtend(adrp>>5<<2&0x1ffffc|adrp>>29&3, 21) << 12
	return pc&^4095 + uint64(page) + uint64(ldr>>10&0xfff)*8, true
}

// Decoder implements machine.
func (arm64) Decoder(*Stack, uint64, uint64) code.Decoder { return code.ARM64 }
