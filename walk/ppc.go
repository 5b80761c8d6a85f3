package walk

// ppc is PowerPC: the SysV psABI with 32-bit words, ELFv1 and ELFv2 with 64-bit
// ones.
type ppc struct {
	big bool
	// lrSave is where a function saves its return address in its caller's
	// frame.
	lrSave uint64
	// rt is the frame of a handler, user that of qemu's user mode emulation.
	rt, user sigframe
}

const ppcShown = "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 r13 r14 r15 " +
	"r16 r17 r18 r19 r20 r21 r22 r23 r24 r25 r26 r27 r28 r29 r30 r31 lr ctr"

// ppcSignal is the frame of a handler: mcontext begins with r0 to r31, nip, msr,
// r3 of the system call, ctr, link (Linux arch/powerpc/include/uapi/asm/ptrace.h).
func ppcSignal(mcontext, word uint64) sigframe {
	at := func(i uint64) uint64 { return mcontext + i*word }
	return sigframe{append(inOrder(mcontext, word, regRange(0, 31)...),
		sigreg{RegPC, at(32)}, sigreg{66, at(35)}, sigreg{65, at(36)})}
}

var (
	ppcCPU, ppcBigCPU     = newPPC("ppc", false), newPPC("ppc", true)
	ppc64CPU, ppc64BigCPU = newPPC("ppc64", false), newPPC("ppc64", true)
)

func newPPC(name string, big bool) *cpu {
	// 64 bytes and 16 more, siginfo, ucontext, whose mcontext is at 192.
	rt := ppcSignal(64+16+128+192, 4)
	m := &ppc{big, 4, rt, rt}
	if name == "ppc64" {
		// ucontext, whose mcontext is at 232, lies above the 128 bytes that the
		// trampoline's first instruction takes off the stack; in qemu 16 higher.
		m = &ppc{big, 16, ppcSignal(128+232, 8), ppcSignal(128+16+232, 8)}
	}

	// r0 is loaded with the number of rt_sigreturn, on ppc64 (not in qemu) after
	// the stack pointer was moved.
	const addi, li, sc = 0x38210080, 0x380000ac, 0x44000002 // addi r1,r1,128; li r0,172; sc
	return newCPU(m, name, ppcShown, "", 4).handlers(&m.rt, &m.rt).
		restorer(code32(big, addi, li, sc), "", &m.rt).restorer(code32(big, li, sc), "", &m.user)
}

// framePointer follows the back chain: the word at the stack pointer is the caller's stack
// pointer, above which is the return address (SysV psABI, "The Stack Frame"; ELFv2 §2.2.3).
// Breakpad expects Mach-O's frames everywhere, which have the return address at 8 if words
// have 32 bits.
func (m *ppc) framePointer(w *walker, r *Registers) (out Registers, ok bool) {
	next, ok := w.eval.word(w.cpu.sp(r))
	if ok && next == 0 { // the outermost frame
		return out, true
	}
	next, ok = m.frameEnd(w, r)
	if !ok {
		return out, false
	}

	// The return address is in the caller's frame.
	save := m.lrSave
	if w.p.apple() && save == 4 {
		save = 8
	}
	pc, ok := w.eval.word(w.cpu.narrow(next + save))
	if !ok {
		return out, false
	}

	out.PC = pc
	out.Set(w.cpu.arch.SP, next)
	return out, true
}

// frameEnd reads the back chain.
func (m *ppc) frameEnd(w *walker, r *Registers) (uint64, bool) {
	sp := w.cpu.sp(r)
	next, ok := w.eval.word(sp)
	return next, ok && next > sp && next%uint64(w.cpu.arch.WordSize) == 0
}

// callBefore decodes branches with LK set, which are calls (Power ISA, Book I §2.4). On
// ppc64 the target of bl is the function's local entry point.
func (m *ppc) callBefore(code []byte, ret uint64) (callKind, uint64) {
	insn, ok := insn32(code, 4, m.big)
	switch {
	case !ok || insn&1 == 0:
		return noCall, 0
	case insn&0xfc000003 == 0x48000001: // bl
		return directCall, ret - 4 + uint64(signExtend(insn&^3, 26))
	case insn>>26 == 18, insn>>26 == 16: // bla, bcl
		return indirectCall, 0
	}

	op := insn >> 1 & 0x3ff
	return indirectIf(insn>>26 == 19 && (op == 16 || op == 528 || op == 560)), 0 // bclrl, bcctrl, bctarl
}
