package walk

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"symkit/cfi"
)

// arm is 32-bit ARM (AAPCS32), ARM and Thumb code.
type arm struct{}

var armCPU = newCPU(arm{}, "arm", "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 sp lr", "r11", 2).
	alias("fp", 11).alias("ip", 12).alias("r13", 13).alias("r14", 14).alias("r15", RegPC).
	handlers(&armRTSignal, &armSignal).
	restorer("\x4f\xf0\x77\x07\x00\xdf", "", &armSignal).                  // mov.w r7,#119; svc
	restorer("\x4f\xf0\xad\x07\x00\xdf", "", &armRTSignal).                // mov.w r7,#173; svc
	restorer("\x77\x27\x00\xdf", "", &armSignal).                          // movs r7,#119; svc
	restorer("\xad\x27\x00\xdf", "", &armRTSignal).                        // movs r7,#173; svc
	restorer("\x77\x70\xa0\xe3\x00\x00\x00\xef", armService, &armSignal).  // mov r7,#119; svc
	restorer("\xad\x70\xa0\xe3\x00\x00\x00\xef", armService, &armRTSignal) // mov r7,#173; svc

// armService is the mask of an instruction and SVC with any number.
const armService = "\xff\xff\xff\xff\x00\x00\x00\xff"

var armContext = append(regRange(0, 14), RegPC)

var (
	// struct sigframe: ucontext, whose sigcontext is at 20 and begins with
	// three other words (Linux arch/arm/include/uapi/asm/sigcontext.h).
	armSignal = sigframe{inOrder(20+12, 4, armContext...)}
	// struct rt_sigframe: siginfo before it.
	armRTSignal = sigframe{inOrder(128+20+12, 4, armContext...)}
)

// armFrame is a layout of frame records.
type armFrame struct {
	reg      cfi.Reg
	fp, lr   uint64 // offsets, modulo 2^32
	callerSP uint64
}

var armFrames = [...]armFrame{
	{11, 1<<32 - 4, 0, 4},
	{11, 0, 4, 8},
	{7, 0, 4, 8},
}

// framePointer tries the three layouts that compilers make on Linux: in GCC's ARM code, r11
// points at the saved lr, with the caller's r11 below; in LLVM's code, r11, or r7 in Thumb
// code, points at the pair. framePointer takes the layout whose return address follows a
// call, else a layout whose return address leads to generated code, and assumes that the
// other register is unchanged. Apple's compilers use r7 only.
func (arm) framePointer(w *walker, r *Registers) (out Registers, ok bool) {
	layouts := armFrames[:]
	if w.p.apple() {
		layouts = layouts[2:]
	}
	out, ok = w.armRecord(r, layouts, w.returnsToCode)
	if ok {
		return out, true
	}
	return w.armRecord(r, layouts, func(pc uint64) bool { return w.generated(w.returnAddr(pc), w.cpu.sp(r)) })
}

// armRecord reads the frame record of the first layout whose return address returns
// accepts.
func (w *walker) armRecord(r *Registers, layouts []armFrame, returns func(pc uint64) bool) (out Registers, ok bool) {
	for _, layout := range layouts {
		fp, ok := r.Get(layout.reg)
		if !ok || fp == 0 || fp%4 != 0 || fp < w.cpu.sp(r) {
			continue
		}
		// The record holds the caller's frame pointer and the return address.
		next, ok1 := w.eval.word(w.cpu.narrow(fp + layout.fp))
		pc, ok2 := w.eval.word(w.cpu.narrow(fp + layout.lr))
		if !ok1 || !ok2 || next != 0 && next <= fp || !returns(pc) {
			continue
		}
		// The other frame pointer register is assumed to be unchanged.
		for _, reg := range [...]cfi.Reg{7, 11} {
			if v, ok := r.Get(reg); ok {
				out.Set(reg, v)
			}
		}
		out.PC = pc
		out.Set(layout.reg, next)
		out.Set(w.cpu.arch.SP, fp+layout.callerSP)
		return out, true
	}
	return out, false
}

// callBefore decodes BL and BLX, whose offsets count from a PC that is 4 (Thumb) or 8 bytes
// after the start of the instruction (Arm ARM, BL, BLX).
func (arm) callBefore(code []byte, ret uint64) (callKind, uint64) {
	if ret&1 != 0 {
		return thumbCall(code, ret&^1)
	}
	insn, ok := insn32(code, 4, false)
	switch {
	case !ok:
		return noCall, 0
	case insn&0x0f000000 == 0x0b000000, insn>>25 == 0x7d: // BL, BLX
		return directCall, ret + 4 + uint64(signExtend(insn, 24)*4)
	}

	before, _ := insn32(code, 8, false)
	return indirectIf(insn&0x0ffffff0 == 0x012fff30 || before == 0xe1a0e00f), 0 // BLX register; mov lr,pc
}

// thumbCall is callBefore of Thumb code.
func thumbCall(code []byte, ret uint64) (callKind, uint64) {
	insn, _ := insn32(code, 4, false)
	insn = bits.RotateLeft32(insn, 16) // the first halfword holds the upper bits
	if insn&0xf800c000 != 0xf000c000 {
		n := len(code)
		return indirectIf(n >= 2 && binary.LittleEndian.Uint16(code[n-2:])&0xff87 == 0x4780), 0 // BLX register
	}

	if insn&0x1000 == 0 { // BLX
		ret &^= 3
	}
	return directCall, ret + uint64(thumbOffset(insn))
}

// stub reads two forms of an entry: sums of the program counter and immediates in ip, then
// ldr pc, [ip, #n]!; or ldr ip, [pc, #4]; add ip, ip, pc; ldr pc, [ip]. An entry that Thumb
// code calls begins with bx pc; nop (AAELF32, "PLT sequences"; GNU ld and LLD).
func (arm) stub(code []byte, pc uint64) (slot uint64, ok bool) {
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
