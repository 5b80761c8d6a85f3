package cpu

import (
	"encoding/binary"

	"symkit/cfi"
)

// s390x is 64-bit IBM Z (s390x ELF ABI supplement). GCC saves general registers
// of leaf functions in floating-point registers, so these take part in
// unwinding.
type s390x struct{ basic }

func newS390X(v variant) *CPU {
	c := newCPU(s390x{}, v, "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 r13 r14 r15", "", 2).
		handlers(&s390xSignal, &s390xSignal).
		restorer("\x0a\xad", "", &s390xSignal).restorer("\x0a\x77", "", &s390xSignal) // svc 173, svc 119
	c.Evidence = AfterCall
	return c
}

// S390FPRs gives the DWARF numbers of f0 to f15, which are in another order.
var S390FPRs = [16]cfi.Reg{16, 20, 17, 21, 18, 22, 19, 23, 24, 28, 25, 29, 26, 30, 27, 31}

// s390xSignal: the register save area, siginfo (aligned, after the old system
// call instruction), ucontext, whose _sigregs are at 40: PSW, general, access
// and floating-point registers (Linux arch/s390/include/uapi/asm/sigcontext.h).
var s390xSignal = func() Layout {
	const regs = 160 + 8 + 128 + 40
	s := Layout{inOrder(regs+16, 8, regRange(0, 15)...)}
	s.regs = append(s.regs, savedReg{RegPC, regs + 8})
	return Layout{append(s.regs, inOrder(regs+16+128+64+8, 8, S390FPRs[:]...)...)}
}()

// Record implements machine: it follows the back chain. With -mbackchain the word at the stack
// pointer is the caller's stack pointer, and r6 to r15 are saved from 48 bytes above the word
// (ABI, "The Stack Frame"). Without -mbackchain the word can have any value.
func (s390x) Record(s *Stack, r *Registers, _ int) (out Registers, ok bool) {
	sp := s.SP(r)
	next, ok := s.Word(sp)
	if !ok || next <= sp || next%8 != 0 {
		return out, false
	}
	pc, ok := s.Word(next + 14*8)
	if !ok {
		return out, false
	}
	return s.caller(pc, 0, next), true
}

// callBefore decodes the instructions that set r14, the return address. The offset of brasl
// counts halfwords.
func (s390x) callBefore(code []byte, ret uint64) Call {
	n := len(code)
	if n >= 6 && code[n-6] == 0xc0 && code[n-5] == 0xe5 { // brasl %r14
		return direct(ret - 6 + uint64(int64(int32(binary.BigEndian.Uint32(code[n-4:])))*2))
	}
	return indirectIf(n >= 4 && code[n-4] == 0xa7 && code[n-3] == 0xe5 || // bras %r14
		n >= 4 && code[n-4] == 0x4d && code[n-3]>>4 == 0xe || // bas %r14
		n >= 2 && code[n-2] == 0x0d && code[n-1]>>4 == 0xe) // basr %r14
}
