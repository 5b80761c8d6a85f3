package walk

import "encoding/binary"

// mips is MIPS: the o32 psABI with 32-bit words, n64 with 64-bit ones. It has
// no frame record: where there are no rules, frames are found by scanning.
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
	c.call = 8 // the instruction in the delay slot follows the call
	c.scan = mipsFrame / uint64(c.arch.WordSize)
	return c
}

// mipsFrame is how many bytes of the stack are scanned for any frame (as in
// Breakpad's walker): an o32 frame has room for arguments at its bottom, and
// the return address at its top.
const mipsFrame = 1024

var (
	mipsCPU, mipsBigCPU     = newMIPS("mips", false, false), newMIPS("mips", false, true)
	mips64CPU, mips64BigCPU = newMIPS("mips64", true, false), newMIPS("mips64", true, true)
)

func (*mips) framePointer(*walker, *Registers) (out Registers, ok bool) { return out, false }

// insn is the instruction that begins back bytes before the end of the code.
func (m *mips) insn(code []byte, back int) (uint32, bool) { return insn32(code, back, m.big) }

// insn32 is the 32-bit instruction that begins back bytes before the end of
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

// endsInCall: a call is before the instruction in its delay slot; the compact
// ones of Release 6 have none (MIPS64 Instruction Set Manual).
func (m *mips) endsInCall(code []byte, _ uint64) bool {
	if insn, ok := m.insn(code, 4); ok &&
		(insn>>26 == 0x3a || insn>>21 == 0x3e<<5) { // balc, jialc
		return true
	}
	insn, ok := m.insn(code, 8)
	return ok && (insn>>26 == 3 || // jal
		insn&0xfc00003f == 9 && insn>>11&31 == 31 || // jalr $ra
		insn>>26 == 1 && insn>>18&7 == 4) // bltzal, bgezal and their likely forms, bal
}

// callTarget is that of jal, in the same 256 MiB as its delay slot, of bal and
// balc.
func (m *mips) callTarget(code []byte, ret uint64) (uint64, bool) {
	if insn, ok := m.insn(code, 4); ok && insn>>26 == 0x3a {
		return ret + uint64(int64(int32(insn<<6))>>6*4), true
	}
	insn, ok := m.insn(code, 8)
	switch {
	case !ok:
	case insn>>26 == 3:
		return (ret-4)&^(1<<28-1) | uint64(insn&(1<<26-1))<<2, true
	case insn>>16 == 0x0411: // bal
		return ret - 4 + uint64(int64(int16(insn))*4), true
	}
	return 0, false
}

// trampoline: the number of the system call is loaded into $v0.
func (m *mips) trampoline(code []byte) *sigframe {
	if len(code) < 8 {
		return nil
	}
	load, _ := m.insn(code[:4], 4)
	call, _ := m.insn(code[:8], 4)
	switch {
	case call != 0x0000000c: // syscall
	case m.wide && load == 0x2402145b, // li $v0,5211
		!m.wide && load == 0x24021061: // li $v0,4193
		return &m.rt
	case !m.wide && load == 0x24021017: // li $v0,4119
		return &m.plain
	}
	return nil
}

// setSignals: the frames begin with 24 bytes for arguments, then siginfo and
// ucontext, or struct sigcontext alone. o32 stores registers in 64 bits, after
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
	low := uint64(0) // where the low word of 64 bits is
	if m.big {
		low = 4
	}
	layout := func(context uint64) sigframe {
		return sigframe{append(inOrder(context+24+low, 8, regRange(1, 31)...), sigreg{RegPC, context + 8 + low})}
	}
	m.rt, m.plain = layout(args+siginfo+24), layout(args)
}
