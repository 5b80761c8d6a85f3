package walk

import "encoding/binary"

// mips is MIPS: the o32 psABI with 32-bit words, n64 with 64-bit ones. MIPS has no frame
// record: without unwind rules, frames are found by scanning.
type mips struct {
	wide, big bool
	rt, plain sigframe
}

const mipsShown = "$zero $at $v0 $v1 $a0 $a1 $a2 $a3 $t0 $t1 $t2 $t3 $t4 $t5 $t6 $t7 " +
	"$s0 $s1 $s2 $s3 $s4 $s5 $s6 $s7 $t8 $t9 $k0 $k1 $gp $sp $fp $ra"

func newMIPS(name string, wide, big bool) *cpu {
	m := &mips{wide: wide, big: big}
	m.setSignals()
	c := newCPU(m, name, mipsShown, "", 4).
		alias("$s8", 30).alias("$to", 8). // as Breakpad spells $t0
		handlers(&m.rt, &m.plain)
	const syscall = 0x0000000c
	if wide {
		c.restorer(code32(big, 0x2402145b, syscall), "", &m.rt) // li $v0,5211
	} else {
		c.restorer(code32(big, 0x24021061, syscall), "", &m.rt)    // li $v0,4193
		c.restorer(code32(big, 0x24021017, syscall), "", &m.plain) // li $v0,4119
	}

	c.call = 8 // the instruction in the delay slot follows the call
	c.scan = mipsFrame / uint64(c.arch.WordSize)
	return c
}

// mipsFrame is the number of bytes of the stack that are scanned for any frame (as in
// Breakpad's walker): an o32 frame has space for arguments at its bottom, and the return
// address at its top.
const mipsFrame = 1024

var (
	mipsCPU, mipsBigCPU     = newMIPS("mips", false, false), newMIPS("mips", false, true)
	mips64CPU, mips64BigCPU = newMIPS("mips64", true, false), newMIPS("mips64", true, true)
)

func (*mips) framePointer(*walker, *Registers) (out Registers, ok bool) { return out, false }

// code32 returns the bytes of 32-bit instructions.
func code32(big bool, insns ...uint32) string {
	var code []byte
	for _, insn := range insns {
		if big {
			code = binary.BigEndian.AppendUint32(code, insn)
		} else {
			code = binary.LittleEndian.AppendUint32(code, insn)
		}
	}
	return string(code)
}

// insn returns the instruction that begins back bytes before the end of the code.
func (m *mips) insn(code []byte, back int) (uint32, bool) { return insn32(code, back, m.big) }

// insn32 returns the 32-bit instruction that begins back bytes before the end of
// the code.
func insn32(code []byte, back int, big bool) (uint32, bool) {
	if len(code) < back {
		return 0, false
	}
	code = code[len(code)-back:]
	if big {
		return binary.BigEndian.Uint32(code), true
	}
	return binary.LittleEndian.Uint32(code), true
}

// callBefore decodes a call and the instruction in its delay slot after it; the compact
// calls of Release 6 have no delay slot. The target of jal is in the same 256 MiB as the
// delay slot (MIPS64 Instruction Set Manual).
func (m *mips) callBefore(code []byte, ret uint64) (callKind, uint64) {
	compact, ok := m.insn(code, 4)
	switch {
	case ok && compact>>26 == 0x3a: // balc
		return directCall, ret + uint64(signExtend(compact, 26)*4)
	case ok && compact>>21 == 0x3e<<5: // jialc
		return indirectCall, 0
	}

	insn, ok := m.insn(code, 8)
	switch {
	case !ok:
		return noCall, 0
	case insn>>26 == 3: // jal
		return directCall, (ret-4)&^(1<<28-1) | uint64(insn&(1<<26-1))<<2
	case insn>>16 == 0x0411: // bal
		return directCall, ret - 4 + uint64(signExtend(insn, 16)*4)
	}

	return indirectIf(insn&0xfc00003f == 9 && insn>>11&31 == 31 || // jalr $ra
		insn>>26 == 1 && insn>>18&7 == 4), 0 // bltzal, bgezal and their likely forms
}

// setSignals sets the frames of handlers. They begin with 24 bytes for arguments, then
// siginfo and ucontext, or struct sigcontext alone. o32 stores registers in 64 bits, after
// two words of flags and the PC; n64 has the PC at the end (Linux
// arch/mips/include/uapi/asm/sigcontext.h).
func (m *mips) setSignals() {
	const args, siginfo = 24, 128
	if m.wide {
		const context = args + siginfo + 40
		m.rt = sigframe{append(inOrder(context+8, 8, regRange(1, 31)...), sigreg{RegPC, context + 72*8})}
		m.plain = m.rt
		return
	}

	// The low word of 64 bits comes second on big-endian CPUs.
	low := uint64(0)
	if m.big {
		low = 4
	}
	layout := func(context uint64) sigframe {
		return sigframe{append(inOrder(context+24+low, 8, regRange(1, 31)...), sigreg{RegPC, context + 8 + low})}
	}
	m.rt, m.plain = layout(args+siginfo+24), layout(args)
}
