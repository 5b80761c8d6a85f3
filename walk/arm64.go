package walk

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// arm64 is AArch64 (AAPCS64).
type arm64 struct{}

var arm64CPU = newCPU(arm64{}, "arm64",
	"x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 x16 x17 x18 x19 x20 x21 x22 x23 x24 x25 x26 x27 x28 x29 x30 sp", "x29", 4).
	alias("fp", 29).alias("lr", 30).handlers(&arm64Signal, &arm64Signal).
	restorer("\x68\x11\x80\xd2\x01\x00\x00\xd4", "", &arm64Signal) // mov x8,#139; svc #0

// arm64Signal is struct rt_sigframe: siginfo, ucontext, whose mcontext is at
// 176 because it is aligned, the fault's address before the registers (Linux
// arch/arm64/include/uapi/asm/sigcontext.h).
var arm64Signal = sigframe{append(inOrder(128+176+8, 8, regRange(0, 31)...), sigreg{RegPC, 128 + 176 + 8 + 32*8})}

// framePointer reads the frame record that x29 points at: x29 and x30 of the caller
// (AAPCS64 §6.4.6). The record does not have the caller's stack pointer. The end of the
// record is the lowest possible value.
func (arm64) framePointer(w *walker, r *Registers) (Registers, bool) {
	return chainedPair(w, r)
}

// cfaOfRecord corrects the CFA of a frame that was found by the frame pointer, and whose
// stack pointer may therefore be too low. If the rules say that the frame record is saved at
// a distance below the CFA, the CFA is the frame pointer plus the distance, provided that the
// return address found with this CFA leads to code.
func (w *walker) cfaOfRecord(r *Registers, p *program) {
	e, fp := &w.eval, arm64CPU.fp
	at, ok := r.Get(fp)
	saved, ok2 := p.savedBelow("x29")
	if !ok || !ok2 || at+saved <= e.cfa {
		return
	}

	// The new CFA is kept if its return address leads to code.
	guess := e.cfa
	e.cfa = at + saved
	if ra, err := e.eval(p.returnRule(w.cpu).terms); err != nil || !w.returnsToCode(ra) {
		e.cfa = guess
	}
}

// savedBelow reads the rule of a register that is saved n bytes below the CFA.
func (p *program) savedBelow(reg string) (n uint64, ok bool) {
	r := p.rule(reg)
	if r == nil || len(r.terms) != 4 {
		return 0, false
	}
	cfa, below := &r.terms[0], &r.terms[1]
	return -below.v, cfa.op == termName && string(p.names[cfa.v]) == ".cfa" &&
		below.op == termNumber && int64(below.v) < 0 && r.terms[2].op == '+' && r.terms[3].op == '^'
}

func (arm64) callBefore(code []byte, ret uint64) (callKind, uint64) {
	insn, ok := insn32(code, 4, false)
	if ok && insn>>26 == 0x25 { // BL
		return directCall, ret - 4 + uint64(signExtend(insn, 26)*4)
	}
	return indirectIf(insn&0xfffffc1f == 0xd63f0000 || // BLR
		insn&0xfefff800 == 0xd63f0800), 0 // BLRAA, BLRAB, BLRAAZ, BLRABZ
}

// stub reads adrp x16; ldr x17, [x16, #n], with or without bti c first (AAELF64, "PLT
// sequences").
func (arm64) stub(code []byte, pc uint64) (slot uint64, ok bool) {
	if bytes.HasPrefix(code, []byte{0x5f, 0x24, 0x03, 0xd5}) {
		code, pc = code[4:], pc+4
	}
	if len(code) < 8 {
		return 0, false
	}

	// The slot is at an offset from a page that is relative to the program counter.
	adrp, ldr := binary.LittleEndian.Uint32(code), binary.LittleEndian.Uint32(code[4:])
	if adrp&0x9f00001f != 0x90000010 || ldr&0xffc003ff != 0xf9400211 {
		return 0, false
	}
	page := signExtend(adrp>>5<<2&0x1ffffc|adrp>>29&3, 21) << 12
	return pc&^4095 + uint64(page) + uint64(ldr>>10&0xfff)*8, true
}

// pacMask returns the mask of the bits in a code address that hold a pointer authentication
// code. The kernel reports the mask. Otherwise the mask has the bits above all modules and
// stacks, and above the 47 bits of the smallest usual address space. Saved frame pointers
// lose these bits, too.
func (p *Process) pacMask() uint64 {
	if p.CPU != "arm64" {
		return 0
	}
	if p.PACMask != 0 {
		return p.PACMask
	}

	top := uint64(1)<<47 - 1
	if n := len(p.Modules); n > 0 {
		top = max(top, p.Modules[n-1].End)
	}
	for i := range p.Threads {
		top = max(top, arm64CPU.sp(&p.Threads[i].Regs))
	}
	return ^uint64(0) << bits.Len64(top)
}
