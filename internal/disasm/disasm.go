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
}

// Instruction is one instruction. Text is empty if the bytes are no known instruction.
type Instruction struct {
	Addr  uint64
	Bytes []byte
	Text  string
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
		text, n := guarded(decode, code, addr)
		if n <= 0 || n > len(code) {
			text, n = "", min(int(m.Aligned()), len(code))
		}
		out = append(out, Instruction{addr, code[:n], text})
		code, addr = code[n:], addr+uint64(n)
	}
	return out
}

// decoder returns the function that decodes one instruction: the text in the GNU assembler's
// syntax, and the length. It is nil for other machines. 32-bit ARM is not decoded, because its
// two kinds of code cannot be distinguished here.
func (m Machine) decoder() func(code []byte, addr uint64) (string, int, error) {
	switch m.Machine {
	case elf.EM_386:
		return x86(32)
	case elf.EM_X86_64:
		return x86(64)
	case elf.EM_AARCH64:
		return func(code []byte, addr uint64) (string, int, error) {
			in, err := arm64asm.Decode(code)
			return text(err, func() string { return arm64asm.GNUSyntax(in) }), 4, err
		}
	case elf.EM_PPC64:
		var order binary.ByteOrder = binary.LittleEndian
		if m.BigEndian {
			order = binary.BigEndian
		}
		return func(code []byte, addr uint64) (string, int, error) {
			in, err := ppc64asm.Decode(code, order)
			return text(err, func() string { return ppc64asm.GNUSyntax(in, addr) }), in.Len, err
		}
	case elf.EM_S390:
		return func(code []byte, addr uint64) (string, int, error) {
			in, err := s390xasm.Decode(code)
			return text(err, func() string { return s390xasm.GNUSyntax(in, addr) }), in.Len, err
		}
	case elf.EM_RISCV:
		if m.Class != elf.ELFCLASS64 {
			return nil
		}
		return func(code []byte, addr uint64) (string, int, error) {
			in, err := riscv64asm.Decode(code)
			return text(err, func() string { return riscv64asm.GNUSyntax(in) }), in.Len, err
		}
	case elf.EM_LOONGARCH:
		return func(code []byte, addr uint64) (string, int, error) {
			in, err := loong64asm.Decode(code)
			return text(err, func() string { return loong64asm.GNUSyntax(in) }), 4, err
		}
	}
	return nil
}

// x86 returns the decoder of 32-bit or 64-bit code.
func x86(mode int) func(code []byte, addr uint64) (string, int, error) {
	return func(code []byte, addr uint64) (string, int, error) {
		in, err := x86asm.Decode(code, mode)
		return text(err, func() string { return x86asm.GNUSyntax(in, addr, nil) }), in.Len, err
	}
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
func guarded(decode func([]byte, uint64) (string, int, error), code []byte, addr uint64) (text string, n int) {
	defer func() {
		if recover() != nil {
			text, n = "", 0
		}
	}()
	text, n, err := decode(code, addr)
	if err != nil {
		return "", 0
	}
	return text, n
}
