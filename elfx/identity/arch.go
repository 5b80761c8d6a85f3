package identity

import (
	"debug/elf"
	"errors"
	"fmt"
	"strings"

	"symkit/elfx"
	"symkit/internal/filename"
	"symkit/located"
)

// ErrMachine: symbol files have no name for the file's machine.
var ErrMachine = errors.New("unsupported machine")

const (
	machineAt = 18 // offset of e_machine in the ELF header
	// efMIPSABI2 marks the n32 ABI (MIPS64 ELF, "e_flags").
	efMIPSABI2 = 0x20
)

// arches are the names of machines that do not depend on the class.
var arches = map[elf.Machine]string{
	elf.EM_386:         "x86",
	elf.EM_X86_64:      "x86_64", // x32 too
	elf.EM_ARM:         "arm",
	elf.EM_AARCH64:     "arm64",
	elf.EM_PPC:         "ppc",
	elf.EM_PPC64:       "ppc64",
	elf.EM_SPARC:       "sparc",
	elf.EM_SPARC32PLUS: "sparc",
	elf.EM_SPARCV9:     "sparcv9",
}

// wide are the names of machines for a 32-bit and a 64-bit class. An empty name means
// that symbol files have none.
var wide = map[elf.Machine][2]string{
	elf.EM_MIPS:        {"mips", "mips64"},
	elf.EM_MIPS_RS3_LE: {"mips", "mips64"},
	elf.EM_RISCV:       {"riscv", "riscv64"},
	elf.EM_S390:        {"s390", "s390x"},
	elf.EM_LOONGARCH:   {"", "loongarch64"},
}

// Arch returns the CPU name of the MODULE record. A 32-bit ABI of a 64-bit machine
// (x32, n32) has the name of the 64-bit machine, because its registers have 64 bits.
// The error is ErrMachine, with the machine's name and number.
func Arch(f *elfx.File) (string, error) {
	if name := arches[f.Machine]; name != "" {
		return name, nil
	}

	// The n32 ABI has the class of a 32-bit file and the registers of a 64-bit machine.
	n32 := f.Machine == elf.EM_MIPS && f.Flags&efMIPSABI2 != 0
	names := wide[f.Machine]
	name := names[0]
	if f.Class == elf.ELFCLASS64 || n32 {
		name = names[1]
	}
	if name != "" {
		return name, nil
	}

	err := fmt.Errorf("%w %v (%d, %v)", ErrMachine, f.Machine, uint16(f.Machine), f.Class)
	if strings.Contains(f.Machine.String(), "+") { // debug/elf has no name for the machine
		err = fmt.Errorf("%w %d (%v)", ErrMachine, uint16(f.Machine), f.Class)
	}
	return "", &filename.Error{Path: f.Path(), Err: &located.Error{Section: "ELF header", Offset: machineAt, Err: err}}
}
