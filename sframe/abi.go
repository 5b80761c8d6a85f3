package sframe

import (
	"debug/elf"

	"symkit/cfi"
)

// ABI identifies machine and byte order (SFrame V3 §2.2.1).
type ABI uint8

// The ABIs that the format defines; S390X since version 2.
const (
	AArch64BE ABI = 1
	AArch64LE ABI = 2
	AMD64     ABI = 3
	S390X     ABI = 4
)

// ABIOf returns the ABI of an ELF file; ok is false if SFrame has no ABI for the file.
func ABIOf(m elf.Machine, bigEndian bool) (a ABI, ok bool) {
	switch {
	case m == elf.EM_X86_64 && !bigEndian:
		return AMD64, true
	case m == elf.EM_S390 && bigEndian:
		return S390X, true
	case m == elf.EM_AARCH64 && bigEndian:
		return AArch64BE, true
	case m == elf.EM_AARCH64:
		return AArch64LE, true
	}
	return 0, false
}

// isBigEndian reports whether the ABI is big-endian.
func (a ABI) isBigEndian() bool { return a == AArch64BE || a == S390X }

func (a ABI) isAArch64() bool { return a == AArch64BE || a == AArch64LE }

func (a ABI) String() string {
	switch a {
	case AArch64BE:
		return "AArch64 big-endian"
	case AArch64LE:
		return "AArch64 little-endian"
	case AMD64:
		return "AMD64"
	case S390X:
		return "s390x"
	}
	return "unknown ABI"
}

// SP returns the DWARF number of the stack pointer. SP, FP and RA return 0 if the ABI is
// not defined.
func (a ABI) SP() cfi.Reg { return conventions[a&7].sp }

// FP returns the DWARF number of the frame pointer: rbp, x29, r11.
func (a ABI) FP() cfi.Reg { return conventions[a&7].fp }

// RA returns the column of the return address: rip, x30, r14.
func (a ABI) RA() cfi.Reg { return conventions[a&7].ra }

// convention has the properties of an ABI that the decoding of rows needs. s390x scales the words of
// a CFA and has a rule for the stack pointer.
type convention struct {
	sp, fp, ra  cfi.Reg
	bases       [2]cfi.Reg // of the CFA: FP, SP
	raSlot      int        // of RA's rule in a row; SP's, if any, comes next
	scale, bias int64      // of a CFA's word
}

var conventions = [8]convention{
	AArch64BE: {31, 29, 30, [2]cfi.Reg{29, 31}, 2, 1, 0},
	AArch64LE: {31, 29, 30, [2]cfi.Reg{29, 31}, 2, 1, 0},
	AMD64:     {7, 6, 16, [2]cfi.Reg{6, 7}, 2, 1, 0},
	S390X:     {15, 11, 14, [2]cfi.Reg{11, 15}, 1, 8, s390xCFABias},
}

const (
	// s390xCFABias is the distance from the stack pointer to the CFA at function entry:
	// the register save area. The CFA words of an FRE count from it in units of 8.
	s390xCFABias = 160
	// s390xSPOffset is the distance from the CFA to the caller's stack pointer.
	s390xSPOffset = -160
)
