package cpu

import (
	"symkit/walk/internal/code"
)

// ppc is PowerPC: the SysV psABI with 32-bit words, ELFv1 and ELFv2 with 64-bit
// ones.
type ppc struct {
	basic
	big bool
	// lrSave is where a function saves its return address in its caller's
	// frame.
	lrSave uint64
}

const ppcShown = "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 r13 r14 r15 " +
	"r16 r17 r18 r19 r20 r21 r22 r23 r24 r25 r26 r27 r28 r29 r30 r31 lr ctr"

// ppcSignal is the frame of a handler: mcontext begins with r0 to r31, nip, msr,
// r3 of the system call, ctr, link (Linux arch/powerpc/include/uapi/asm/ptrace.h).
func ppcSignal(mcontext, word uint64) *Layout {
	at := func(i uint64) uint64 { return mcontext + i*word }
	return &Layout{append(inOrder(mcontext, word, regRange(0, 31)...),
		savedReg{RegPC, at(32)}, savedReg{66, at(35)}, savedReg{65, at(36)})}
}

func newPPC(v variant) *CPU {
	// 64 bytes and 16 more, siginfo, ucontext, whose mcontext is at 192. user is the frame in
	// qemu's user mode emulation.
	m, rt := ppc{big: v.big, lrSave: 4}, ppcSignal(64+16+128+192, 4)
	user := rt
	switch {
	case v.name == "ppc64":
		// ucontext, whose mcontext is at 232, lies above the 128 bytes that the
		// trampoline's first instruction takes off the stack; in qemu 16 higher.
		m.lrSave, rt, user = 16, ppcSignal(128+232, 8), ppcSignal(128+16+232, 8)
	case v.sys == Apple: // Breakpad expects Mach-O's frames everywhere
		m.lrSave = 8
	}

	// r0 is loaded with the number of rt_sigreturn, on ppc64 (not in qemu) after
	// the stack pointer was moved.
	const addi, li, sc = 0x38210080, 0x380000ac, 0x44000002 // addi r1,r1,128; li r0,172; sc
	c := newCPU(m, v, ppcShown, "", 4).handlers(rt, rt).
		restorer(code32(v.big, addi, li, sc), "", rt).restorer(code32(v.big, li, sc), "", user)
	c.Chained, c.LateStart, c.GoPushes = true, true, 32
	return c
}

// Record implements machine: it follows the back chain. The word at the stack pointer is the
// caller's stack pointer, above which is the return address (SysV psABI, "The Stack Frame";
// ELFv2 §2.2.3). The outermost frame has a zero there.
func (m ppc) Record(s *Stack, r *Registers, _ int) (out Registers, ok bool) {
	next, ok := s.Word(s.SP(r))
	if ok && next == 0 {
		return out, true
	}
	next, ok = m.FrameEnd(s, r)
	if !ok {
		return out, false
	}

	// The return address is in the caller's frame.
	pc, ok := s.Word(s.Narrow(next + m.lrSave))
	if !ok {
		return out, false
	}
	return s.caller(pc, 0, next), true
}

// FrameEnd implements machine: it reads the back chain.
func (m ppc) FrameEnd(s *Stack, r *Registers) (uint64, bool) {
	sp := s.SP(r)
	next, ok := s.Word(sp)
	return next, ok && next > sp && next%s.WordSize() == 0
}

// callBefore decodes branches with LK set, which are calls (Power ISA, Book I §2.4). On
// ppc64 the target of bl is the function's local entry point.
func (m ppc) callBefore(insns []byte, ret uint64) Call {
	insn, ok := insn32(insns, 4, m.big)
	switch {
	case !ok || insn&1 == 0:
		return Call{}
	case insn&0xfc000003 == 0x48000001: // bl
		return direct(ret - 4 + uint64(code.SignExtend(insn&^3, 26)))
	case insn>>26 == 18, insn>>26 == 16: // bla, bcl
		return Call{Kind: IndirectCall}
	}

	op := insn >> 1 & 0x3ff
	return indirectIf(insn>>26 == 19 && (op == 16 || op == 528 || op == 560)) // bclrl, bcctrl, bctarl
}
