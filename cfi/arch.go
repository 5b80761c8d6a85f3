package cfi

import (
	"debug/elf"
)

// ArchOf returns the architecture of an ELF machine, or nil if symkit does not know the
// machine. x32 is x86_64.
func ArchOf(machine elf.Machine, class elf.Class) *Arch {
	if a := archOf(machine, class); a != nil {
		return a.ready()
	}
	return nil
}

func archOf(machine elf.Machine, class elf.Class) *Arch {
	wide := class == elf.ELFCLASS64
	pick := func(narrow, wideArch *Arch) *Arch {
		if wide {
			return wideArch
		}
		return narrow
	}

	// Where one e_machine stands for both widths, the class of the file decides.
	switch machine {
	case elf.EM_386:
		return &x86
	case elf.EM_X86_64:
		return &x86_64
	case elf.EM_ARM:
		return &arm
	case elf.EM_AARCH64:
		return &arm64
	case elf.EM_PPC:
		return &ppc
	case elf.EM_PPC64:
		return &ppc64
	case elf.EM_MIPS, elf.EM_MIPS_RS3_LE:
		return pick(&mips, &mips64)
	case elf.EM_RISCV:
		return pick(&riscv, &riscv64)
	case elf.EM_S390:
		return pick(&s390, &s390x)
	case elf.EM_SPARC, elf.EM_SPARC32PLUS:
		return &sparc
	case elf.EM_SPARCV9:
		return &sparcv9
	case elf.EM_LOONGARCH:
		return pick(nil, &loongarch64)
	}
	return nil
}

// ArchByName returns the architecture with a name in MODULE records, or nil.
func ArchByName(name string) *Arch {
	for _, a := range archs {
		if a.Name == name {
			return a.ready()
		}
	}
	return nil
}

// ReturnColumn returns the column of the return address in row; the row's CIE names
// column ra. If row restores the program counter as one register of many, the column is
// that of the program counter: in the frame of a signal handler on 32-bit ARM (glibc's
// sigreturn saves both lr and pc), lr is an ordinary register.
func (a *Arch) ReturnColumn(ra Reg, row *Row) Reg {
	if a.pc == a.RA || ra == a.pc {
		return ra
	}

	// A rule that does not recover the program counter says nothing of the return
	// address.
	switch row.Rule(a.pc).Kind {
	case KindNone, KindUndefined, KindSame:
		return ra
	}
	return a.pc
}
