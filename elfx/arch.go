package elfx

import (
	"debug/elf"
	"errors"
	"fmt"

	"symkit/internal/wire"
)

// ErrMachine: the file is for a machine that symbol files have no name for.
var ErrMachine = errors.New("unsupported machine")

const (
	machineAt = 18 // offset of e_machine in the ELF header
	// efMIPSABI2 marks the n32 ABI (MIPS64 ELF, "e_flags").
	efMIPSABI2 = 0x20
)

// arches are the machines whose name depends on nothing else.
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

// wide are the machines that the class splits in two. An empty name is a
// machine that symbol files do not know.
var wide = map[elf.Machine][2]string{
	elf.EM_MIPS:        {"mips", "mips64"},
	elf.EM_MIPS_RS3_LE: {"mips", "mips64"},
	elf.EM_RISCV:       {"riscv", "riscv64"},
	elf.EM_S390:        {"s390", "s390x"},
	elf.EM_LOONGARCH:   {"", "loongarch64"},
}

// Arch is the CPU name of the MODULE record. A 32-bit ABI of a 64-bit machine
// (x32, n32) has the machine's name, as its registers have 64 bits. The error
// is ErrMachine, with the machine's name and number.
func (f *File) Arch() (string, error) {
	if name := arches[f.Machine]; name != "" {
		return name, nil
	}
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
	return "", fmt.Errorf("%s: %w", f.path, &wire.Error{Section: headerName, Offset: machineAt, Err: err})
}
