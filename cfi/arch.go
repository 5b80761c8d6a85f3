package cfi

import (
	"debug/elf"
	"sync"
)

// Arch has the facts about one machine that unwinding needs. All callers share the values
// and must not change them.
type Arch struct {
	// Name is the architecture in a MODULE record.
	Name string
	// WordSize is the size in bytes of the stack's words, which `^` reads.
	WordSize int
	// SP is the stack pointer. PC is the name of the program counter in rules, or "" if
	// rules have no name for the program counter.
	SP Reg
	PC string
	// RA is the usual column of the return address. LinkRegister means that calls write
	// the return address into register RA: in a function that has not saved the register,
	// the return address is still there.
	RA           Reg
	LinkRegister bool
	// SPOffset is the distance from the CFA to the caller's stack pointer: CFA +
	// SPOffset.
	SPOffset int64
	// End is the constant that stands for `.ra` if the return address is undefined. Every
	// known stack walker stops at End, also those for MIPS, which subtract from the
	// address first.
	End int64
	// CalleeSaved are the registers that a call leaves unchanged, in ascending order,
	// without the stack pointer.
	CalleeSaved []Reg

	pc          Reg       // column of the program counter, or RA if the counter has no column
	once        sync.Once // of ready
	calleeSaved string    // see regs
	lists       []string  // see names
	names       []string
	order       []uint16 // rank of each name, byte order
}

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

// RegName returns the name of register r in rules, or "" if rules have no name for r:
// parts of vector registers, pseudo registers.
func (a *Arch) RegName(r Reg) string {
	if uint64(r) < uint64(len(a.names)) {
		return a.names[r]
	}
	return ""
}

// Reg returns the register with a name in rules. If two registers have the name, Reg
// returns the one with the lower number.
func (a *Arch) Reg(name string) (Reg, bool) {
	for i, n := range a.names {
		if n == name && n != "" {
			return Reg(i), true
		}
	}
	return 0, false
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
