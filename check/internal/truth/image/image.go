// Package image reads what decides about a whole image: the contents of its MODULE record, where its
// code lies, the versions of its symbols, and the fields of a relocatable object.
package image

import (
	"debug/elf"
	"fmt"

	"symkit/check/internal/pcs"
	"symkit/elfx"
)

// Recovered turns a panic of a library into an error. A fault in the mapped file panics again:
// mem.Guard handles it.
func Recovered(library string, r any) error {
	if _, ok := r.(interface{ Addr() uintptr }); ok {
		panic(r)
	}
	return fmt.Errorf("%s: %v", library, r)
}

// CodeOf returns where a file's machine code lies: its executable sections or, without section
// headers, its executable segments. (A segment may also hold the ELF header, and with it address 0,
// which marks discarded code.)
func CodeOf(f *elfx.File) pcs.Set {
	var r pcs.Set
	for i := range f.Sections {
		if s := &f.Sections[i]; s.Flags&elf.SHF_EXECINSTR != 0 && s.Flags&elf.SHF_ALLOC != 0 {
			r = append(r, pcs.Range{Lo: s.Addr, Hi: s.Addr + s.Size})
		}
	}

	// Without section headers.
	if len(r) == 0 {
		for _, x := range f.ExecRanges() {
			r = append(r, pcs.Range{Lo: x.Lo, Hi: x.Hi})
		}
	}
	return pcs.Union(r)
}

// efMIPSABI2 is the flag of MIPS n32 (MIPS64 ELF, "e_flags"): 32-bit addresses on a 64-bit
// machine.
const efMIPSABI2 = 0x20

// ArchName returns the name of a machine in MODULE records, as Breakpad writes it where it knows
// the machine. MIPS n32 is mips64, as x32 is x86_64: its unwind rules are about 64-bit registers,
// for which Breakpad's walker tests whether the dump is of mips64 (stackwalker_mips.cc). Breakpad's
// dump_syms writes mips for every MIPS, which no reader rejects.
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

// TextHash returns the exclusive or of the 16-byte blocks of the first 4096 bytes of .text. The
// last block goes on after the section's end in the file, as Breakpad's does. A file without a byte
// of .text has the hash of its other code, section after section.
func TextHash(f *elfx.File) []byte {
	var code []byte
	for _, name := range []string{".text", "text"} {
		text := f.Section(name)
		if text == nil || text.Size == 0 || len(code) > 0 {
			continue
		}

		// Whole blocks are read: the last block goes on after the section's end, and may be short
		// at the end of the file.
		n := min(text.Size, 4096)
		code = make([]byte, (n+15)&^15)
		got := copy(code, f.FileBytes(text.Offset, uint64(len(code))))
		if !text.Present() || uint64(got) < n {
			return nil
		}
	}
	if len(code) == 0 {
		code = otherCode(f)
	}
	if len(code) == 0 {
		return nil
	}

	// Each byte goes to its place in the block.
	h := make([]byte, 16)
	for i, b := range code {
		h[i%16] ^= b
	}
	return h
}

// otherCode returns the first 4096 bytes of all code sections, nil if a part of them is not in the
// file.
func otherCode(f *elfx.File) (code []byte) {
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Flags&(elf.SHF_ALLOC|elf.SHF_EXECINSTR) != elf.SHF_ALLOC|elf.SHF_EXECINSTR || s.Size == 0 {
			continue
		}

		n := min(s.Size, 4096-uint64(len(code)))
		part := f.FileBytes(s.Offset, n)
		if !s.Present() || uint64(len(part)) < n {
			return nil
		}
		code = append(code, part...)
	}
	return code
}
