package cpu

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"symkit/cfi"
	"symkit/walk/internal/code"
)

// arm is 32-bit ARM (AAPCS32), ARM and Thumb code.
type arm struct {
	basic
	layouts []armFrame
	big     bool
}

func newARM(v variant) *CPU {
	m := arm{layouts: armFrames[:], big: v.big}
	if v.sys == Apple { // its compilers use r7 only
		m.layouts = armFrames[2:]
	}
	c := newCPU(m, v, "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 sp lr", "r11", 2).
		alias("fp", 11).alias("ip", 12).alias("r13", 13).alias("r14", 14).alias("r15", RegPC).
		handlers(&armRTSignal, &armSignal).
		restorer("\x4f\xf0\x77\x07\x00\xdf", "", &armSignal).                  // mov.w r7,#119; svc
		restorer("\x4f\xf0\xad\x07\x00\xdf", "", &armRTSignal).                // mov.w r7,#173; svc
		restorer("\x77\x27\x00\xdf", "", &armSignal).                          // movs r7,#119; svc
		restorer("\xad\x27\x00\xdf", "", &armRTSignal).                        // movs r7,#173; svc
		restorer("\x77\x70\xa0\xe3\x00\x00\x00\xef", armService, &armSignal).  // mov r7,#119; svc
		restorer("\xad\x70\xa0\xe3\x00\x00\x00\xef", armService, &armRTSignal) // mov r7,#173; svc
	c.Records, c.Evidence, c.CallTables, c.Tags = len(m.layouts), OrGenerated, true, 1
	return c
}

// armService is the mask of an instruction and SVC with any number.
const armService = "\xff\xff\xff\xff\x00\x00\x00\xff"

var armContext = append(regRange(0, 14), RegPC)

var (
	// struct sigframe: ucontext, whose sigcontext is at 20 and begins with
	// three other words (Linux arch/arm/include/uapi/asm/sigcontext.h).
	armSignal = Layout{inOrder(20+12, 4, armContext...)}
	// struct rt_sigframe: siginfo before it.
	armRTSignal = Layout{inOrder(128+20+12, 4, armContext...)}
)

// armFrame is a layout of frame records.
type armFrame struct {
	reg      cfi.Reg
	fp, lr   uint64 // offsets, modulo 2^32
	callerSP uint64
}

// armFrames are the layouts that compilers make on Linux: in GCC's ARM code, r11 points at the
// saved lr, with the caller's r11 below; in LLVM's code, r11, or r7 in Thumb code, points at the
// pair.
var armFrames = [...]armFrame{
	{11, 1<<32 - 4, 0, 4},
	{11, 0, 4, 8},
	{7, 0, 4, 8},
}

// Record implements machine: it reads a record of layout n. The other frame pointer register is
// assumed to be unchanged.
func (m arm) Record(s *Stack, r *Registers, n int) (out Registers, ok bool) {
	layout := m.layouts[n]
	fp, ok := r.Get(layout.reg)
	if !ok || fp == 0 || fp%4 != 0 || fp < s.SP(r) {
		return out, false
	}
	// The record holds the caller's frame pointer and the return address.
	next, ok1 := s.Word(s.Narrow(fp + layout.fp))
	pc, ok2 := s.Word(s.Narrow(fp + layout.lr))
	if !ok1 || !ok2 || next != 0 && next <= fp {
		return out, false
	}
	out = r.Keep([]cfi.Reg{7, 11})
	out.PC = pc
	out.Set(layout.reg, next)
	out.Set(s.Arch.SP, fp+layout.callerSP)
	return out, true
}

// callBefore decodes BL and BLX, whose offsets count from a PC that is 4 (Thumb) or 8 bytes
// after the start of the instruction (Arm ARM, BL, BLX).
func (arm) callBefore(insns []byte, ret uint64) Call {
	if ret&1 != 0 {
		return thumbCall(insns, ret&^1)
	}
	insn, ok := insn32(insns, 4, false)
	switch {
	case !ok:
		return Call{}
	case insn&0x0f000000 == 0x0b000000, insn>>25 == 0x7d: // BL, BLX
		return direct(ret + 4 + uint64(code.SignExtend(insn, 24)*4))
	}

	before, _ := insn32(insns, 8, false)
	return indirectIf(insn&0x0ffffff0 == 0x012fff30 || before == 0xe1a0e00f) // BLX register; mov lr,pc
}

// thumbCall is callBefore of Thumb code.
func thumbCall(insns []byte, ret uint64) Call {
	insn, _ := insn32(insns, 4, false)
	insn = bits.RotateLeft32(insn, 16) // the first halfword holds the upper bits
	if insn&0xf800c000 != 0xf000c000 {
		n := len(insns)
		return indirectIf(n >= 2 && binary.LittleEndian.Uint16(insns[n-2:])&0xff87 == 0x4780) // BLX register
	}

	if insn&0x1000 == 0 { // BLX
		ret &^= 3
	}
	return direct(ret + uint64(code.ThumbOffset(insn)))
}

// Stub reads two forms of an entry: sums of the program counter and immediates in ip, then
// ldr pc, [ip, #n]!; or ldr ip, [pc, #4]; add ip, ip, pc; ldr pc, [ip]. An entry that Thumb
// code calls begins with bx pc; nop (AAELF32, "PLT sequences"; GNU ld and LLD).
func (arm) Stub(code []byte, pc uint64) (slot uint64, ok bool) {
	// Thumb code reaches the entry through bx pc; nop.
	if bytes.HasPrefix(code, []byte{0x78, 0x47}) {
		code, pc = code[min(4, len(code)):], pc+4
	}
	ip := pc + 8
	for i := 0; i+4 <= len(code); i += 4 {
		insn := binary.LittleEndian.Uint32(code[i:])
		value := uint64(bits.RotateLeft32(insn&0xff, -int(insn>>8&15*2)))
		switch {
		case i == 0 && insn&0xfffff000 == 0xe28fc000, i > 0 && insn&0xfffff000 == 0xe28cc000: // add ip, pc, #n; add ip, ip, #n
			ip += value
		case i > 0 && insn&0xffdff000 == 0xe59cf000: // ldr pc, [ip, #n]
			return uint64(uint32(ip + uint64(insn&0xfff))), true
		case i == 0 && insn == 0xe59fc004 && len(code) >= 16 && // ldr ip, [pc, #4]; add ip, ip, pc; ldr pc, [ip]
			binary.LittleEndian.Uint32(code[4:]) == 0xe08cc00f && binary.LittleEndian.Uint32(code[8:]) == 0xe59cf000:
			return uint64(uint32(pc+12) + binary.LittleEndian.Uint32(code[12:])), true
		default:
			return 0, false
		}
	}
	return 0, false
}

// Decoder implements machine. The lowest bit of a return address marks Thumb code.
func (m arm) Decoder(s *Stack, start, saved uint64) code.Decoder {
	switch {
	case m.big:
		return nil
	case saved == 0:
		return code.GuessARM(s.Code(start, 64), start)
	case saved&1 != 0:
		return code.Thumb
	}
	return code.ARM
}
