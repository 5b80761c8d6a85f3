// Package disasm decodes machine code for people: the instructions around an address.
package disasm

import (
	"debug/elf"
	"encoding/binary"

	"golang.org/x/arch/arm64/arm64asm"
	"golang.org/x/arch/loong64/loong64asm"
	"golang.org/x/arch/ppc64/ppc64asm"
	"golang.org/x/arch/riscv64/riscv64asm"
	"golang.org/x/arch/s390x/s390xasm"
	"golang.org/x/arch/x86/x86asm"
)

// Machine says how to decode code.
type Machine struct {
	Machine   elf.Machine
	Class     elf.Class
	BigEndian bool
	// Intel selects Intel's syntax for x86 instead of that of the GNU assembler.
	Intel bool
}

// Instruction is one instruction. Text is empty if the bytes are no known instruction.
type Instruction struct {
	Addr  uint64
	Bytes []byte
	Text  string
	// Target is where a branch of x86 or ARM64 leads, whose address is in the instruction; 0: nowhere.
	Target uint64
}

// Known reports whether instructions of the machine are decoded.
func (m Machine) Known() bool { return m.decoder() != nil }

// Aligned returns the distance of instructions whose addresses are multiples of it, 1 on
// machines with instructions of several lengths.
func (m Machine) Aligned() uint64 {
	switch m.Machine {
	case elf.EM_AARCH64, elf.EM_PPC64, elf.EM_LOONGARCH:
		return 4
	case elf.EM_S390, elf.EM_RISCV:
		return 2
	}
	return 1
}

// Decode decodes code, which begins at addr, to its end. Bytes that are no instruction are
// skipped by the machine's alignment.
func (m Machine) Decode(code []byte, addr uint64) (out []Instruction) {
	decode := m.decoder()
	if decode == nil {
		return nil
	}

	for len(code) > 0 {
		text, n, target := guarded(decode, code, addr)
		if n <= 0 || n > len(code) {
			text, n, target = "", min(int(m.Aligned()), len(code)), 0
		}
		out = append(out, Instruction{addr, code[:n], text, target})
		code, addr = code[n:], addr+uint64(n)
	}
	return out
}

// decoder decodes one instruction: its text, its length, and where it leads if it is a branch.
type decoder func(code []byte, addr uint64) (text string, n int, target uint64, err error)

// decoder returns the decoder of the machine. It is nil for other machines. 32-bit ARM is not decoded, because its
// two kinds of code cannot be distinguished here.
func (m Machine) decoder() decoder {
	switch m.Machine {
	case elf.EM_386:
		return m.x86(32)
	case elf.EM_X86_64:
		return m.x86(64)
	case elf.EM_AARCH64:
		return func(code []byte, addr uint64) (string, int, uint64, error) {
			in, err := arm64asm.Decode(code)
			return text(err, func() string { return arm64asm.GNUSyntax(in) }), 4, arm64Target(in, addr), err
		}
	case elf.EM_PPC64:
		var order binary.ByteOrder = binary.LittleEndian
		if m.BigEndian {
			order = binary.BigEndian
		}
		return func(code []byte, addr uint64) (string, int, uint64, error) {
			in, err := ppc64asm.Decode(code, order)
			return text(err, func() string { return ppc64asm.GNUSyntax(in, addr) }), in.Len, 0, err
		}
	case elf.EM_S390:
		return func(code []byte, addr uint64) (string, int, uint64, error) {
			in, err := s390xasm.Decode(code)
			return text(err, func() string { return s390xasm.GNUSyntax(in, addr) }), in.Len, 0, err
		}
	case elf.EM_RISCV:
		if m.Class != elf.ELFCLASS64 {
			return nil
		}
		return func(code []byte, addr uint64) (string, int, uint64, error) {
			in, err := riscv64asm.Decode(code)
			return text(err, func() string { return riscv64asm.GNUSyntax(in) }), in.Len, 0, err
		}
	case elf.EM_LOONGARCH:
		return func(code []byte, addr uint64) (string, int, uint64, error) {
			in, err := loong64asm.Decode(code)
			return text(err, func() string { return loong64asm.GNUSyntax(in) }), 4, 0, err
		}
	}
	return nil
}

// x86 returns the decoder of 32-bit or 64-bit code.
func (m Machine) x86(mode int) decoder {
	syntax := x86asm.GNUSyntax
	if m.Intel {
		syntax = x86asm.IntelSyntax
	}
	return func(code []byte, addr uint64) (string, int, uint64, error) {
		in, err := x86asm.Decode(code, mode)
		target := uint64(0)
		rel, ok := in.Args[0].(x86asm.Rel)
		if ok {
			target = addr + uint64(in.Len) + uint64(rel)
		}
		return text(err, func() string { return syntax(in, addr, nil) }), in.Len, target, err
	}
}

// arm64Target returns where a branch leads. ADR and ADRP have the address of data.
func arm64Target(in arm64asm.Inst, addr uint64) uint64 {
	if in.Op == arm64asm.ADR || in.Op == arm64asm.ADRP || in.Op == arm64asm.LDR || in.Op == arm64asm.LDRSW || in.Op == arm64asm.PRFM {
		return 0
	}
	for _, arg := range in.Args {
		rel, ok := arg.(arm64asm.PCRel)
		if ok {
			return addr + uint64(rel)
		}
	}
	return 0
}

// text returns the text of an instruction that was decoded without an error.
func text(err error, syntax func() string) string {
	if err != nil {
		return ""
	}
	return syntax()
}

// guarded decodes one instruction. The packages of golang.org/x/arch can panic on bytes that no
// assembler writes, and at the end of code; such bytes are no instruction.
func guarded(decode decoder, code []byte, addr uint64) (text string, n int, target uint64) {
	defer func() {
		if recover() != nil {
			text, n, target = "", 0, 0
		}
	}()
	text, n, target, err := decode(code, addr)
	if err != nil {
		return "", 0, 0
	}
	return text, n, target
}
