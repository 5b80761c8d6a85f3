package cpu

import "symkit/walk/internal/code"

// mips is MIPS: the o32 psABI with 32-bit words, n64 with 64-bit ones. MIPS has no frame
// record: without unwind rules, frames are found by scanning.
type mips struct {
	basic
	big bool
}

const mipsShown = "$zero $at $v0 $v1 $a0 $a1 $a2 $a3 $t0 $t1 $t2 $t3 $t4 $t5 $t6 $t7 " +
	"$s0 $s1 $s2 $s3 $s4 $s5 $s6 $s7 $t8 $t9 $k0 $k1 $gp $sp $fp $ra"

func newMIPS(v variant) *CPU {
	wide := v.name == "mips64"
	rt, plain := mipsSignals(wide, v.big)
	c := newCPU(mips{big: v.big}, v, mipsShown, "", 4).
		alias("$s8", 30).alias("$to", 8). // as Breakpad spells $t0
		handlers(rt, plain)
	const syscall = 0x0000000c
	if wide {
		c.restorer(code32(v.big, 0x2402145b, syscall), "", rt) // li $v0,5211
	} else {
		c.restorer(code32(v.big, 0x24021061, syscall), "", rt)    // li $v0,4193
		c.restorer(code32(v.big, 0x24021017, syscall), "", plain) // li $v0,4119
	}

	c.Call = 8 // the instruction in the delay slot follows the call
	c.ScanWords = mipsFrame / c.WordSize()
	return c
}

// mipsFrame is the number of bytes of the stack that are scanned for any frame (as in
// Breakpad's walker): an o32 frame has space for arguments at its bottom, and the return
// address at its top.
const mipsFrame = 1024

// callBefore decodes a call and the instruction in its delay slot after it; the compact
// calls of Release 6 have no delay slot. The target of jal is in the same 256 MiB as the
// delay slot (MIPS64 Instruction Set Manual).
func (m mips) callBefore(insns []byte, ret uint64) Call {
	compact, ok := insn32(insns, 4, m.big)
	switch {
	case ok && compact>>26 == 0x3a: // balc
		return direct(ret + uint64(code.SignExtend(compact, 26)*4))
	case ok && compact>>21 == 0x3e<<5: // jialc
		return Call{Kind: IndirectCall}
	}

	insn, ok := insn32(insns, 8, m.big)
	switch {
	case !ok:
		return Call{}
	case insn>>26 == 3: // jal
		return direct((ret-4)&^(1<<28-1) | uint64(insn&(1<<26-1))<<2)
	case insn>>16 == 0x0411: // bal
		return direct(ret - 4 + uint64(code.SignExtend(insn, 16)*4))
	}

	return indirectIf(insn&0xfc00003f == 9 && insn>>11&31 == 31 || // jalr $ra
		insn>>26 == 1 && insn>>18&7 == 4) // bltzal, bgezal and their likely forms
}

// mipsSignals returns the frames of handlers. They begin with 24 bytes for arguments, then
// siginfo and ucontext, or struct sigcontext alone. o32 stores registers in 64 bits, after
// two words of flags and the PC; n64 has the PC at the end (Linux
// arch/mips/include/uapi/asm/sigcontext.h).
func mipsSignals(wide, big bool) (rt, plain *Layout) {
	const args, siginfo = 24, 128
	if wide {
		const context = args + siginfo + 40
		rt = &Layout{append(inOrder(context+8, 8, regRange(1, 31)...), savedReg{RegPC, context + 72*8})}
		return rt, rt
	}

	// The low word of 64 bits comes second on big-endian CPUs.
	low := uint64(0)
	if big {
		low = 4
	}
	layout := func(context uint64) *Layout {
		return &Layout{append(inOrder(context+24+low, 8, regRange(1, 31)...), savedReg{RegPC, context + 8 + low})}
	}
	return layout(args + siginfo + 24), layout(args)
}
