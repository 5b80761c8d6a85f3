package cfi

import (
	"debug/elf"
	"sync"
)

// Arch is what unwinding has to know of one machine. The values are shared;
// do not change them.
type Arch struct {
	// Name is the architecture in a MODULE record.
	Name string
	// WordSize is the size in bytes of the stack's words, which `^` reads.
	WordSize int
	// SP is the stack pointer, PC the name that the program counter has in
	// rules, empty where it has none.
	SP Reg
	PC string
	// RA is the usual column of the return address. LinkRegister: that column
	// is a register that calls write, so that a function which has not saved it
	// still has its return address there.
	RA           Reg
	LinkRegister bool
	// SPOffset: the caller's stack pointer is CFA + SPOffset.
	SPOffset int64
	// End is the constant written as `.ra` where the return address is
	// undefined: it makes every known walker stop, those of MIPS after they
	// have subtracted.
	End int64
	// CalleeSaved are the registers that a call leaves unchanged, ascending,
	// without the stack pointer.
	CalleeSaved []Reg

	pc          Reg       // column of the program counter; RA if it has none
	once        sync.Once // of ready
	calleeSaved string    // see regs
	lists       []string  // see names
	names       []string
	order       []uint16 // rank of each name, byte order
}

// ArchOf returns the architecture of an ELF machine, or nil for one that
// symkit does not know. x32 is x86_64.
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

// ArchByName returns the architecture that a MODULE record calls name, or nil.
func ArchByName(name string) *Arch {
	for _, a := range archs {
		if a.Name == name {
			return a.ready()
		}
	}
	return nil
}

// RegName is register r as rules spell it, or "" for one that has no name
// there: parts of vector registers, pseudo registers.
func (a *Arch) RegName(r Reg) string {
	if uint64(r) < uint64(len(a.names)) {
		return a.names[r]
	}
	return ""
}

// Reg is the register that rules spell name. The first number wins where two
// have the same.
func (a *Arch) Reg(name string) (Reg, bool) {
	for i, n := range a.names {
		if n == name && n != "" {
			return Reg(i), true
		}
	}
	return 0, false
}

// ReturnColumn returns the column of the return address in row, of a CIE that names
// column ra: that of the program counter, where row restores the program counter as
// one register of many. The frame of a signal handler on 32-bit ARM is such a
// one (glibc's sigreturn, lr and pc both saved): lr is only a register there.
func (a *Arch) ReturnColumn(ra Reg, row *Row) Reg {
	if a.pc == a.RA || ra == a.pc {
		return ra
	}

	switch row.Rule(a.pc).Kind {
	case KindNone, KindUndefined, KindSame:
		return ra
	}
	return a.pc
}
