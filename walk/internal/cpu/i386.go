package cpu

import (
	"bytes"
	"encoding/binary"

	"symkit/cfi"
	"symkit/walk/internal/code"
)

// i386 is 32-bit x86.
type i386 struct{ basic }

func newI386(v variant) *CPU {
	c := newCPU(i386{}, v, "$eax $ecx $edx $ebx $esp $ebp $esi $edi $eflags", "$ebp", 1).
		handlers(&x86RTSignal, &x86Signal).
		restorer("\xb8\xad\x00\x00\x00\xcd\x80", "", &x86RTSignal).  // mov $173,%eax; int $0x80
		restorer("\x58\xb8\x77\x00\x00\x00\xcd\x80", "", &x86Signal) // pop %eax; mov $119,%eax; int $0x80
	c.Win, c.PushesFP, c.Chained = true, true, v.sys == Windows
	return c
}

// x86Context is the order of struct sigcontext_32 (Linux
// arch/x86/include/uapi/asm/sigcontext.h), four segment registers first; the
// esp among the general registers is the interrupted one.
var x86Context = []cfi.Reg{RegNone, RegNone, RegNone, RegNone, 7, 6, 5, 4, 3, 2, 1, 0, RegNone, RegNone, RegPC}

var (
	// sigframe_ia32 without pretcode: the signal, the context. The trampoline
	// pops the signal before it returns.
	x86Signal = Layout{inOrder(4, 4, x86Context...)}
	// rt_sigframe_ia32 without pretcode: 12 bytes of arguments, siginfo,
	// ucontext, whose context begins at 20.
	x86RTSignal = Layout{inOrder(12+128+20, 4, x86Context...)}
)

// Record implements machine.
func (i386) Record(s *Stack, r *Registers, _ int) (Registers, bool) { return pairAt(s, r) }

func (i386) callBefore(code []byte, ret uint64) Call { return x86Call(code, ret) }

// Stub reads jmp *address, after endbr32. In position-independent code the address is
// relative to %ebx (i386 psABI 5.2), whose value is not known.
func (i386) Stub(code []byte, _ uint64) (slot uint64, ok bool) {
	code = bytes.TrimPrefix(code, []byte{0xf3, 0x0f, 0x1e, 0xfb})
	if len(code) < 6 || code[0] != 0xff || code[1] != 0x25 {
		return 0, false
	}
	return uint64(binary.LittleEndian.Uint32(code[2:])), true
}

// Decoder implements machine.
func (i386) Decoder(*Stack, uint64, uint64) code.Decoder { return code.I386 }
