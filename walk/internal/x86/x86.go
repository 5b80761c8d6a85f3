// Package x86 decodes machine code of x86 CPUs, with 32 and 64 bits. It builds on
// golang.org/x/arch/x86/x86asm and adds two features: the memory that an instruction
// accesses (Effect), and the text of the instruction in rust-minidump's spelling (Text).
package x86

import (
	"bytes"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"symkit/cfi"
)

// Inst is a decoded instruction.
type Inst struct {
	x86asm.Inst
	code []byte
	// modRM is the index of the ModRM byte after a VEX or EVEX prefix; 0: there is
	// no such prefix.
	modRM int
	// replaced: x86asm does not know the instruction. Its operands and its length
	// are right, its name is not.
	replaced bool
}

// MaxLen is the size in bytes of the longest instruction.
const MaxLen = 15

// Decode decodes the instruction that code begins with, of a CPU with addresses of
// mode bits. It returns false if the bytes are no instruction.
func Decode(code []byte, mode int) (in Inst, ok bool) {
	code = code[:min(len(code), MaxLen)]

	// x86asm misreads vzeroupper and vzeroall.
	if in, ok := zeroUpper(code, mode); ok {
		return in, true
	}

	known, replaced := replace(code, mode)
	// In place of an unknown instruction, x86asm decodes a known one of the same shape.
	inst, err := x86asm.Decode(known, mode)

	if err != nil || inst.Op == 0 {
		return in, false
	}

	inst.Mode = mode // x86asm leaves it out after a VEX or EVEX prefix
	in = Inst{Inst: inst, code: code[:inst.Len], replaced: replaced}
	// The ModRM byte follows the prefix and the opcode.

	for i, p := range in.Prefix {
		if p.IsVEX() || p.IsEVEX() {
			in.modRM = i + map[x86asm.Prefix]int{x86asm.PrefixVEX2Bytes: 3, x86asm.PrefixVEX3Bytes: 4, x86asm.PrefixEVEX: 5}[p&0xff]
			break
		}
	}

	in.addRIP()
	return in, true
}

// zeroUpper decodes vzeroupper and vzeroall: x86asm reads a ModRM byte after them,
// which they do not have.
func zeroUpper(code []byte, mode int) (in Inst, ok bool) {
	if len(code) < 3 || !isVEX(code[1], mode) {
		return in, false
	}
	// The prefix has two or three bytes, the opcode one.
	var last byte
	switch {
	case code[0] == 0xc5 && code[2] == 0x77:
		last, in.Len = code[1], 3
	case len(code) >= 4 && code[0] == 0xc4 && code[1]&0x1f == 1 && code[3] == 0x77:
		last, in.Len = code[2], 4
	default:
		return in, false
	}

	// Bit L of the prefix distinguishes the two instructions.
	in.Op = x86asm.VZEROUPPER
	if last&4 != 0 {
		in.Op = x86asm.VZEROALL
	}
	in.code = code[:in.Len]
	return in, true
}

// isVEX reports whether c4 or c5 before a byte is a VEX prefix. In 32-bit code the
// byte can be the ModRM byte of les and lds.
func isVEX(next byte, mode int) bool { return mode == 64 || next >= 0xc0 }

// replace replaces an instruction that x86asm does not know by another one with the
// same operands and of the same length.
func replace(code []byte, mode int) (known []byte, replaced bool) {
	// Legacy prefixes and REX come before the opcode.
	n := 0
	for n < len(code) && strings.IndexByte("\x66\x67\xf0\xf2\xf3\x26\x2e\x36\x3e\x64\x65", code[n]) >= 0 {
		n++
	}

	if mode == 64 && n < len(code) && code[n]&0xf0 == 0x40 {
		n++
	}
	if n == len(code) || code[n] != 0x0f && code[n] != 0xc4 {
		return code, false
	}

	// has reports whether an opcode comes next and the instruction has size bytes at least.
	has := func(opcode string, size int) bool {
		return bytes.HasPrefix(code[n:], []byte(opcode)) && len(code) >= n+size
	}
	// Each replacement is an instruction that x86asm knows.
	known = bytes.Clone(code)
	switch {
	case has("\x0f\x1e", 3): // endbr64, other nops
		known[n+1], known[n+2] = 0x1f, code[n+2]&^0x38
	case has("\x0f\x38\xf6", 3): // adcx (66), adox (f3): pshufb
		known = append(bytes.ReplaceAll(known[:n], []byte{0xf3}, []byte{0x66}), known[n:]...)
		known[n+2] = 0
	case has("\x0f\xc7", 3) && code[n+2] >= 0xf8: // rdseed: rdrand
		known[n+2] &^= 8
	case has("\x0f\x01", 3) && code[n+2]&^1 == 0xee: // rdpkru, wrpkru: xgetbv
		known[n+2] = 0xd0
	case has("\xc4", 4) && isVEX(code[n+1], mode) && code[n+1]&0x1f == 3 && code[n+3] >= 0x5c && code[n+3] < 0x80: // AMD's FMA4: vpalignr
		known[n+2], known[n+3] = code[n+2]&^0x80, 0x0f
	default:
		return code, false
	}
	return known, true
}

// addRIP adds the base register that x86asm leaves out of the operand in memory
// after a VEX or EVEX prefix.
func (in *Inst) addRIP() {
	// In 64-bit code, mod 0 with rm 5 in ModRM is an address relative to RIP.
	if in.modRM == 0 || in.modRM >= len(in.code) || in.Mode != 64 || in.code[in.modRM]&0xc7 != 5 {
		return
	}

	for i, arg := range in.Args {
		if m, ok := arg.(x86asm.Mem); ok {
			m.Base = x86asm.RIP
			in.Args[i] = m
		}
	}
}

// Memory returns the operand in memory, if there is one.
func (in *Inst) Memory() (m x86asm.Mem, ok bool) {
	for _, arg := range in.Args {
		if m, ok := arg.(x86asm.Mem); ok {
			return m, true
		}
	}
	return m, false
}

// Number returns the number that instructions have for a general register of 16, 32 or 64
// bits.
func Number(r x86asm.Reg) (n int, ok bool) {
	switch {
	case r >= x86asm.AX && r <= x86asm.R15W:
		n = int(r - x86asm.AX)
	case r >= x86asm.EAX && r <= x86asm.R15L:
		n = int(r - x86asm.EAX)
	case r >= x86asm.RAX && r <= x86asm.R15:
		n = int(r - x86asm.RAX)
	default:
		return 0, false
	}
	return n, true
}

// DWARF64 are the DWARF numbers of x86-64's registers by their numbers in
// instructions. 32-bit x86 has the same numbers in both.
var DWARF64 = [16]cfi.Reg{0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15}
