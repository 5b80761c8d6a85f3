package truth

import (
	"debug/elf"
)

// efMIPSABI2 is the flag of MIPS n32 (MIPS64 ELF, "e_flags"): 32-bit addresses on a 64-bit
// machine.
const efMIPSABI2 = 0x20

// ArchName is the name of a machine in MODULE records, as Breakpad writes it
// where it knows the machine. MIPS n32 is mips64, as x32 is x86_64: its unwind rules are of
// 64-bit registers, for which Breakpad's walker asks whether the dump is of mips64
// (stackwalker_mips.cc); its dump_syms calls every MIPS mips, which no reader minds.
func ArchName(m elf.Machine, class elf.Class, flags uint32) string {
	wide := class == elf.ELFCLASS64 || m == elf.EM_MIPS && flags&efMIPSABI2 != 0
	pick := func(a, b string) string {
		if wide {
			return b
		}
		return a
	}
	switch m {
	case elf.EM_386:
		return "x86"
	case elf.EM_X86_64:
		return "x86_64"
	case elf.EM_ARM:
		return "arm"
	case elf.EM_AARCH64:
		return "arm64"
	case elf.EM_PPC:
		return "ppc"
	case elf.EM_PPC64:
		return "ppc64"
	case elf.EM_MIPS, elf.EM_MIPS_RS3_LE:
		return pick("mips", "mips64")
	case elf.EM_RISCV:
		return pick("riscv", "riscv64")
	case elf.EM_S390:
		return pick("s390", "s390x")
	case elf.EM_SPARC, elf.EM_SPARC32PLUS:
		return "sparc"
	case elf.EM_SPARCV9:
		return "sparcv9"
	case elf.EM_LOONGARCH:
		return pick("", "loongarch64")
	}
	return ""
}
