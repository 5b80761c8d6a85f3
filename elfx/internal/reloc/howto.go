package reloc

import (
	"debug/elf"
	"fmt"
	"strings"
)

// calc is the calculation of a relocation. As in the psABIs, S is the symbol's address,
// A the addend, and P the address of the field.
type calc uint8

const (
	calcUnknown calc = iota
	calcNone         // a hint or a mark: the field is unchanged
	calcAbs          // S + A
	calcRel          // S + A − P
	calcTLS          // A + the symbol's offset in its thread-local section − dtvOffset
	calcAdd          // the field + S + A
	calcSub          // the field − (S + A)
	calcSize         // the symbol's size + A
)

// field is the field that a relocation writes: 1, 2, 3, 4 or 8 whole bytes, or one of
// these.
type field uint8

const (
	fieldLow6  field = 0x80 + iota // the low 6 bits of a byte
	fieldLow31                     // the low 31 bits of a word
	fieldULEB                      // a ULEB128, which keeps its length
)

// howto is the calculation and the field of one type of relocation.
type howto struct {
	calc  calc
	field field
}

// The tables hold the types that occur in sections with debug information, CFI,
// SFrame and ARM unwind tables; each machine's psABI numbers them.
var (
	x86Howtos = []howto{
		elf.R_386_NONE: {calcNone, 0}, elf.R_386_32: {calcAbs, 4}, elf.R_386_16: {calcAbs, 2}, elf.R_386_8: {calcAbs, 1},
		elf.R_386_PC32: {calcRel, 4}, elf.R_386_PLT32: {calcRel, 4}, elf.R_386_PC16: {calcRel, 2}, elf.R_386_PC8: {calcRel, 1},
		elf.R_386_TLS_LDO_32: {calcTLS, 4}, elf.R_386_SIZE32: {calcSize, 4},
	}
	x86_64Howtos = []howto{
		elf.R_X86_64_NONE: {calcNone, 0}, elf.R_X86_64_64: {calcAbs, 8}, elf.R_X86_64_32: {calcAbs, 4},
		elf.R_X86_64_32S: {calcAbs, 4}, elf.R_X86_64_16: {calcAbs, 2}, elf.R_X86_64_8: {calcAbs, 1},
		elf.R_X86_64_PC64: {calcRel, 8}, elf.R_X86_64_PC32: {calcRel, 4}, elf.R_X86_64_PLT32: {calcRel, 4},
		elf.R_X86_64_PC16: {calcRel, 2}, elf.R_X86_64_PC8: {calcRel, 1},
		elf.R_X86_64_DTPOFF64: {calcTLS, 8}, elf.R_X86_64_DTPOFF32: {calcTLS, 4},
		elf.R_X86_64_SIZE32: {calcSize, 4}, elf.R_X86_64_SIZE64: {calcSize, 8},
	}
	armHowtos = []howto{
		elf.R_ARM_NONE: {calcNone, 0}, elf.R_ARM_ABS32: {calcAbs, 4}, elf.R_ARM_ABS16: {calcAbs, 2}, elf.R_ARM_ABS8: {calcAbs, 1},
		elf.R_ARM_REL32: {calcRel, 4}, elf.R_ARM_PREL31: {calcRel, fieldLow31}, elf.R_ARM_TLS_LDO32: {calcTLS, 4},
		// TARGET1 is ABS32 on Linux. TARGET2 (a type info for the personality routine)
		// refers to the GOT, which an object does not have.
		elf.R_ARM_TARGET1: {calcAbs, 4}, elf.R_ARM_TARGET2: {calcNone, 0},
	}
	// The first type in a row is the one of ILP32 (class 32).
	arm64Howtos = []howto{
		elf.R_AARCH64_NONE: {calcNone, 0}, 256: {calcNone, 0}, elf.R_AARCH64_ABS64: {calcAbs, 8},
		elf.R_AARCH64_P32_ABS32: {calcAbs, 4}, elf.R_AARCH64_ABS32: {calcAbs, 4},
		elf.R_AARCH64_P32_ABS16: {calcAbs, 2}, elf.R_AARCH64_ABS16: {calcAbs, 2},
		elf.R_AARCH64_P32_PREL32: {calcRel, 4}, elf.R_AARCH64_PREL32: {calcRel, 4},
		elf.R_AARCH64_P32_PREL16: {calcRel, 2}, elf.R_AARCH64_PREL16: {calcRel, 2},
		elf.R_AARCH64_PREL64: {calcRel, 8}, 314: {calcRel, 4}, // R_AARCH64_PLT32
		elf.R_AARCH64_TLS_DTPREL64: {calcTLS, 8},
	}
	riscvHowtos = []howto{
		elf.R_RISCV_NONE: {calcNone, 0}, elf.R_RISCV_RELAX: {calcNone, 0}, elf.R_RISCV_ALIGN: {calcNone, 0},
		elf.R_RISCV_32: {calcAbs, 4}, elf.R_RISCV_64: {calcAbs, 8}, elf.R_RISCV_32_PCREL: {calcRel, 4}, 59: {calcRel, 4}, // R_RISCV_PLT32
		elf.R_RISCV_TLS_DTPREL32: {calcTLS, 4}, elf.R_RISCV_TLS_DTPREL64: {calcTLS, 8},
		elf.R_RISCV_ADD8: {calcAdd, 1}, elf.R_RISCV_ADD16: {calcAdd, 2}, elf.R_RISCV_ADD32: {calcAdd, 4}, elf.R_RISCV_ADD64: {calcAdd, 8},
		elf.R_RISCV_SUB8: {calcSub, 1}, elf.R_RISCV_SUB16: {calcSub, 2}, elf.R_RISCV_SUB32: {calcSub, 4}, elf.R_RISCV_SUB64: {calcSub, 8},
		elf.R_RISCV_SET8: {calcAbs, 1}, elf.R_RISCV_SET16: {calcAbs, 2}, elf.R_RISCV_SET32: {calcAbs, 4},
		elf.R_RISCV_SET6: {calcAbs, fieldLow6}, elf.R_RISCV_SUB6: {calcSub, fieldLow6},
		60: {calcAbs, fieldULEB}, 61: {calcSub, fieldULEB}, // R_RISCV_SET_ULEB128, R_RISCV_SUB_ULEB128
	}
	loongHowtos = []howto{
		elf.R_LARCH_NONE: {calcNone, 0}, elf.R_LARCH_RELAX: {calcNone, 0}, elf.R_LARCH_ALIGN: {calcNone, 0},
		elf.R_LARCH_32: {calcAbs, 4}, elf.R_LARCH_64: {calcAbs, 8}, elf.R_LARCH_32_PCREL: {calcRel, 4}, elf.R_LARCH_64_PCREL: {calcRel, 8},
		elf.R_LARCH_TLS_DTPREL32: {calcTLS, 4}, elf.R_LARCH_TLS_DTPREL64: {calcTLS, 8},
		elf.R_LARCH_ADD6: {calcAdd, fieldLow6}, elf.R_LARCH_SUB6: {calcSub, fieldLow6},
		elf.R_LARCH_ADD8: {calcAdd, 1}, elf.R_LARCH_ADD16: {calcAdd, 2}, elf.R_LARCH_ADD24: {calcAdd, 3}, elf.R_LARCH_ADD32: {calcAdd, 4}, elf.R_LARCH_ADD64: {calcAdd, 8},
		elf.R_LARCH_SUB8: {calcSub, 1}, elf.R_LARCH_SUB16: {calcSub, 2}, elf.R_LARCH_SUB24: {calcSub, 3}, elf.R_LARCH_SUB32: {calcSub, 4}, elf.R_LARCH_SUB64: {calcSub, 8},
		elf.R_LARCH_ADD_ULEB128: {calcAdd, fieldULEB}, elf.R_LARCH_SUB_ULEB128: {calcSub, fieldULEB},
	}
	s390Howtos = []howto{
		elf.R_390_NONE: {calcNone, 0}, elf.R_390_8: {calcAbs, 1}, elf.R_390_16: {calcAbs, 2}, elf.R_390_32: {calcAbs, 4}, elf.R_390_64: {calcAbs, 8},
		elf.R_390_PC16: {calcRel, 2}, elf.R_390_PC32: {calcRel, 4}, elf.R_390_PC64: {calcRel, 8},
		elf.R_390_PLT32: {calcRel, 4}, elf.R_390_PLT64: {calcRel, 8},
		elf.R_390_TLS_LDO32: {calcTLS, 4}, elf.R_390_TLS_LDO64: {calcTLS, 8},
	}
	// PowerPC's 32-bit types have the same numbers in both classes.
	ppc64Howtos = []howto{
		elf.R_PPC64_NONE: {calcNone, 0}, elf.R_PPC64_ADDR16: {calcAbs, 2}, elf.R_PPC64_ADDR32: {calcAbs, 4}, elf.R_PPC64_ADDR64: {calcAbs, 8},
		elf.R_PPC64_UADDR16: {calcAbs, 2}, elf.R_PPC64_UADDR32: {calcAbs, 4}, elf.R_PPC64_UADDR64: {calcAbs, 8},
		elf.R_PPC64_REL32: {calcRel, 4}, elf.R_PPC64_REL64: {calcRel, 8}, elf.R_PPC64_DTPREL64: {calcTLS, 8},
		elf.R_PPC64_TOC: {calcNone, 0}, // in .opd: the TOC base, which the linker chooses
	}
	ppcHowtos = []howto{
		elf.R_PPC_NONE: {calcNone, 0}, elf.R_PPC_ADDR16: {calcAbs, 2}, elf.R_PPC_ADDR32: {calcAbs, 4},
		elf.R_PPC_UADDR16: {calcAbs, 2}, elf.R_PPC_UADDR32: {calcAbs, 4}, elf.R_PPC_REL32: {calcRel, 4}, elf.R_PPC_DTPREL32: {calcTLS, 4},
	}
	mipsHowtos = []howto{
		elf.R_MIPS_NONE: {calcNone, 0}, elf.R_MIPS_16: {calcAbs, 2}, elf.R_MIPS_32: {calcAbs, 4}, elf.R_MIPS_64: {calcAbs, 8},
		elf.R_MIPS_PC32: {calcRel, 4}, elf.R_MIPS_TLS_DTPREL32: {calcTLS, 4}, elf.R_MIPS_TLS_DTPREL64: {calcTLS, 8},
	}
	sparcHowtos = []howto{
		elf.R_SPARC_NONE: {calcNone, 0}, elf.R_SPARC_8: {calcAbs, 1}, elf.R_SPARC_16: {calcAbs, 2}, elf.R_SPARC_32: {calcAbs, 4}, elf.R_SPARC_64: {calcAbs, 8},
		elf.R_SPARC_UA16: {calcAbs, 2}, elf.R_SPARC_UA32: {calcAbs, 4}, elf.R_SPARC_UA64: {calcAbs, 8},
		elf.R_SPARC_DISP8: {calcRel, 1}, elf.R_SPARC_DISP16: {calcRel, 2}, elf.R_SPARC_DISP32: {calcRel, 4}, elf.R_SPARC_DISP64: {calcRel, 8},
	}
)

// otherHowtos are the tables of machines without a name in symbol files, whose objects symaddr reads.
var otherHowtos = map[elf.Machine][]howto{
	elf.EM_68K:    {{calcNone, 0}, {calcAbs, 4}, {calcAbs, 2}, {calcAbs, 1}, {calcRel, 4}, {calcRel, 2}, {calcRel, 1}},
	elf.EM_ALPHA:  {0: {calcNone, 0}, 1: {calcAbs, 4}, 2: {calcAbs, 8}, 9: {calcRel, 2}, 10: {calcRel, 4}, 11: {calcRel, 8}},
	elf.EM_AMDGPU: {0: {calcNone, 0}, 3: {calcAbs, 8}, 4: {calcRel, 4}, 5: {calcRel, 8}, 6: {calcAbs, 4}},
	elf.EM_AVR:    {0: {calcNone, 0}, 1: {calcAbs, 4}, 4: {calcAbs, 2}, 26: {calcAbs, 1}, 36: {calcRel, 4}},
	elf.EM_BPF:    {0: {calcNone, 0}, 2: {calcAbs, 8}, 3: {calcAbs, 4}, 4: {calcAbs, 4}},
	elf.EM_MSP430: {0: {calcNone, 0}, 1: {calcAbs, 4}, 5: {calcAbs, 2}, 9: {calcAbs, 1}},
	elf.EM_PARISC: {0: {calcNone, 0}, 1: {calcAbs, 4}, 9: {calcRel, 4}, 65: {calcAbs, 4}, 72: {calcRel, 8}, 80: {calcAbs, 8}},
	elf.EM_QDSP6:  {0: {calcNone, 0}, 6: {calcAbs, 4}, 7: {calcAbs, 2}, 8: {calcAbs, 1}, 31: {calcRel, 4}},
	elf.EM_SH:     {{calcNone, 0}, {calcAbs, 4}, {calcRel, 4}},
	elf.EM_XTENSA: {0: {calcNone, 0}, 1: {calcAbs, 4}, 14: {calcRel, 4}},
}

// machine has the relocation types of a machine.
type machine struct {
	howtos []howto // by type
	name   func(kind uint32) string
}

// machineOf returns the relocation types of a machine; the zero value if the machine is
// not known.
func machineOf(m elf.Machine) machine {
	switch m {
	case elf.EM_386:
		return machine{x86Howtos, nameOf[elf.R_386]}
	case elf.EM_X86_64:
		return machine{x86_64Howtos, nameOf[elf.R_X86_64]}
	case elf.EM_ARM:
		return machine{armHowtos, nameOf[elf.R_ARM]}
	case elf.EM_AARCH64:
		return machine{arm64Howtos, nameOf[elf.R_AARCH64]}
	case elf.EM_RISCV:
		return machine{riscvHowtos, nameOf[elf.R_RISCV]}
	case elf.EM_LOONGARCH:
		return machine{loongHowtos, nameOf[elf.R_LARCH]}
	case elf.EM_S390:
		return machine{s390Howtos, nameOf[elf.R_390]}
	case elf.EM_PPC64:
		return machine{ppc64Howtos, nameOf[elf.R_PPC64]}
	case elf.EM_PPC:
		return machine{ppcHowtos, nameOf[elf.R_PPC]}
	case elf.EM_MIPS, elf.EM_MIPS_RS3_LE: // nameOf has no name for a triple of types
		return machine{mipsHowtos, nameOf[elf.R_MIPS]}
	case elf.EM_SPARC, elf.EM_SPARC32PLUS, elf.EM_SPARCV9:
		return machine{sparcHowtos, nameOf[elf.R_SPARC]}
	}
	return machine{howtos: otherHowtos[m]}
}

// nameOf returns debug/elf's text for a relocation type.
func nameOf[T interface {
	~int
	String() string
}](kind uint32) string {
	return T(kind).String()
}

// Name returns the name of a relocation type in debug/elf, or the machine and the number
// if debug/elf has no name.
func Name(m elf.Machine, kind uint32) string {
	var name string
	if known := machineOf(m); known.name != nil {
		name = known.name(kind)
	}

	// For a number without a name, String returns "R_NEAREST+3".
	if !strings.HasPrefix(name, "R_") || strings.Contains(name, "+") {
		return fmt.Sprintf("%v type %#x", m, kind)
	}
	return name
}
