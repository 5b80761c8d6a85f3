package corefile

import (
	"debug/elf"

	"symkit/cfi"
	"symkit/elfx"
	"symkit/walk/internal/cpu"
)

// layout has the offsets of the fields in a machine's notes (Linux
// include/uapi/linux/elfcore.h and each machine's asm/elf.h).
type layout struct {
	cpu  string
	word int
	// Of NT_PRSTATUS:
	pid, regs int
	// order is the DWARF numbers of the registers there, one word each; pc stands for the
	// program counter, other for registers that are not kept.
	order []cfi.Reg
	// tls is the place among the registers of the one that points to the thread's control
	// block; 0: there is none.
	tls int
	// Of NT_PRPSINFO:
	psPid, psName, psArgs int
	// siUnion is where the union of NT_SIGINFO begins.
	siUnion int
	// signals translates the numbers of signals, where they are not those of
	// most machines; there si_code is before si_errno, too.
	signals []uint8
	// fprs is where NT_FPREGSET has the registers of fprOrder; 0: unused.
	fprs     int
	fprOrder []cfi.Reg
}

const (
	pc    = cpu.RegPC
	other = cpu.RegNone
)

// count returns the registers from first to last.
func count(first, last cfi.Reg) (out []cfi.Reg) {
	for r := first; r <= last; r++ {
		out = append(out, r)
	}
	return out
}

// with appends registers to a list.
func with(list []cfi.Reg, more ...cfi.Reg) []cfi.Reg { return append(list, more...) }

var (
	amd64Regs = []cfi.Reg{15, 14, 13, 12, 6, 3, 11, 10, 9, 8, 0, 2, 1, 4, 5, other, pc, other, other, 7}

	layout64 = layout{word: 8, pid: 32, regs: 112, psPid: 24, psName: 40, psArgs: 56, siUnion: 16}
	layout32 = layout{word: 4, pid: 24, regs: 72, psPid: 12, psName: 28, psArgs: 44, siUnion: 12}
	// layout32Wide is for machines whose user ids have 32 bits.
	layout32Wide = layout{word: 4, pid: 24, regs: 72, psPid: 16, psName: 32, psArgs: 48, siUnion: 12}

	amd64Layout   = layout64.pointing(21).of("x86_64", amd64Regs)
	arm64Layout   = layout64.of("arm64", with(count(0, 31), pc))
	riscv64Layout = layout64.of("riscv64", with([]cfi.Reg{pc}, count(1, 31)...))
	x86Layout     = layout32.of("x86", []cfi.Reg{3, 1, 2, 6, 7, 5, 0, other, other, other, other, other, pc, other, other, 4})
	armLayout     = layout32.of("arm", with(count(0, 14), pc))
	s390xLayout   = func() *layout {
		// psw mask, psw address, general registers
		l := layout64.of("s390x", with([]cfi.Reg{other, pc}, count(0, 15)...))
		l.fprs, l.fprOrder = 8, cpu.S390FPRs[:]
		return l
	}()
	// r0 to r31, nip, msr, r3 of the system call, ctr, lr
	ppcRegs     = with(count(0, 31), pc, other, other, 66, 65)
	ppc64Layout = layout64.of("ppc64", ppcRegs)
	ppcLayout   = layout32Wide.of("ppc", ppcRegs)
	// r0 to r31, lo, hi, cp0_epc; o32 has six words of arguments before
	mipsRegs     = with(count(0, 31), 65, 64, pc)
	mips64Layout = layout64.of("mips64", mipsRegs).numbered(mipsSignals)
	mipsLayout   = layout32Wide.of("mips", with([]cfi.Reg{other, other, other, other, other, other}, mipsRegs...)).numbered(mipsSignals)
	// x32 has the registers of x86-64 after the header of a 32-bit process.
	x32Layout = func() *layout {
		l := layout32.of("x86_64", amd64Regs)
		l.word = 8
		return l
	}()
)

// of returns a copy of the layout for a CPU with these registers.
func (l layout) of(cpu string, order []cfi.Reg) *layout {
	l.cpu, l.order = cpu, order
	return &l
}

// pointing returns a copy of the layout with the place of the thread pointer.
func (l layout) pointing(tls int) layout {
	l.tls = tls
	return l
}

// numbered sets the numbers that the machine's signals have elsewhere.
func (l *layout) numbered(signals []uint8) *layout {
	l.signals = signals
	return l
}

// signal returns the number that the machine's signal n has on most machines.
func (l *layout) signal(n int) int {
	if n > 0 && n < len(l.signals) {
		return int(l.signals[n])
	}
	return n
}

// mipsSignals follows Linux arch/mips/include/uapi/asm/signal.h. SIGEMT (7) is on no other
// machine and never raised.
var mipsSignals = []uint8{0, 1, 2, 3, 4, 5, 6, 0, 8, 9, 7, 11, 31, 13, 14, 15, 10, 12, 17, 30, 28, 23, 29, 19, 20, 18, 21, 22, 26, 27, 24, 25}

// layoutOf returns the layout of a core file, or nil if the machine is unknown.
func layoutOf(f *elfx.File) *layout {
	// The ELF class distinguishes the processes of both word sizes that some machines run.
	wide := f.Class == elf.ELFCLASS64
	switch {
	case f.Machine == elf.EM_X86_64 && wide:
		return amd64Layout
	case f.Machine == elf.EM_X86_64:
		return x32Layout
	case f.Machine == elf.EM_386:
		return x86Layout
	case f.Machine == elf.EM_AARCH64 && wide:
		return arm64Layout
	case f.Machine == elf.EM_ARM:
		return armLayout
	case f.Machine == elf.EM_RISCV && wide:
		return riscv64Layout
	case f.Machine == elf.EM_S390 && wide:
		return s390xLayout
	case f.Machine == elf.EM_PPC64:
		return ppc64Layout
	case f.Machine == elf.EM_PPC:
		return ppcLayout
	case f.Machine == elf.EM_MIPS && wide:
		return mips64Layout
	case f.Machine == elf.EM_MIPS:
		return mipsLayout
	}
	return nil
}
