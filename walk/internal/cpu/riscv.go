package cpu

import (
	"encoding/binary"

	"symkit/cfi"
	"symkit/walk/internal/code"
)

// riscv is RISC-V with words of 32 or 64 bits (psABI; RISC-V ISA manual for the
// instructions).
type riscv struct{ basic }

const riscvShown = "ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6"

func newRISCV(v variant) *CPU {
	signal := riscvSignal(160, 4)
	if v.name == "riscv64" {
		signal = riscvSignal(176, 8)
	}
	c := newCPU(riscv{}, v, riscvShown, "s0", 2).alias("fp", 8).handlers(signal, signal).
		restorer("\x93\x08\xb0\x08\x73\x00\x00\x00", "", signal) // li a7,139; ecall
	return c
}

// riscvSignal is struct rt_sigframe: siginfo, ucontext, whose mcontext is
// aligned to 16: pc, x1 to x31 (Linux arch/riscv/include/uapi/asm/ptrace.h).
func riscvSignal(mcontext, word uint64) *Layout {
	return &Layout{inOrder(128+mcontext, word, append([]cfi.Reg{RegPC}, regRange(1, 31)...)...)}
}

// Record implements machine: it reads the record below the address in s0, which is the stack
// pointer at the function's entry: ra and the caller's s0 (psABI, "Frame Pointer Convention"). A
// leaf function saves only s0, in the upper word; that word is then no return address.
func (riscv) Record(s *Stack, r *Registers, _ int) (out Registers, ok bool) {
	fp, ok := r.Get(s.FP)
	word := s.WordSize()
	if !ok || fp < 2*word || fp%word != 0 || fp <= s.SP(r) {
		return out, false
	}

	pc, ok1 := s.Word(fp - word)
	next, ok2 := s.Word(fp - 2*word)
	if !ok1 || !ok2 || next != 0 && next <= fp {
		return out, false
	}
	return s.caller(pc, next, fp), true
}

// callBefore decodes a call, which links to ra or, for out-of-line prologues, to t0. The
// instruction may be compressed. A far call is auipc and jalr.
func (riscv) callBefore(insns []byte, ret uint64) Call {
	insn, ok := insn32(insns, 4, false)
	if ok && insn&0xfff == 0x0ef { // jal ra
		offset := insn>>31<<20 | insn>>12&0xff<<12 | insn>>20&1<<11 | insn>>21&0x3ff<<1
		return direct(ret - 4 + uint64(code.SignExtend(offset, 21)))
	}

	auipc, _ := insn32(insns, 8, false)
	if insn&0xfffff == 0x080e7 && auipc&0xfff == 0x097 { // auipc ra; jalr ra,imm(ra)
		return direct(ret - 8 + uint64(int64(int32(auipc&^0xfff))) + uint64(int64(int32(insn)>>20)))
	}

	if n := len(insns); n >= 2 {
		if short := binary.LittleEndian.Uint16(insns[n-2:]); short&0xf07f == 0x9002 && short>>7&31 != 0 { // c.jalr
			return Call{Kind: IndirectCall}
		}
	}

	// Only ra and t0 are link registers.
	link := insn>>7&31 == 1 || insn>>7&31 == 5
	return indirectIf(link && (insn&0x7f == 0x6f || insn&0x707f == 0x67)) // jal t0, jalr
}
