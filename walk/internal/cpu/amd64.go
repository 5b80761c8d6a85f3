package cpu

import (
	"bytes"
	"encoding/binary"

	"symkit/cfi"
	"symkit/walk/internal/code"
)

// amd64 is x86-64 (System V psABI; x32 has the same registers).
type amd64 struct{ basic }

// amd64Windows is x86-64 with the frames of Windows.
type amd64Windows struct{ amd64 }

// amd64Signal is struct rt_sigframe without pretcode: ucontext first, whose
// mcontext begins at 40 (Linux arch/x86/include/uapi/asm/sigcontext.h).
var amd64Signal = Layout{inOrder(40, 8, 8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, RegPC)}

func newAMD64(v variant) *CPU {
	var m machine = amd64{}
	if v.sys == Windows {
		m = amd64Windows{}
	}
	c := newCPU(m, v, "$rax $rdx $rcx $rbx $rsi $rdi $rbp $rsp $r8 $r9 $r10 $r11 $r12 $r13 $r14 $r15", "$rbp", 1).
		handlers(&amd64Signal, &amd64Signal).
		restorer("\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", "", &amd64Signal). // mov $15,%rax; syscall
		restorer("\xb8\x0f\x00\x00\x00\x0f\x05", "", &amd64Signal)          // mov $15,%eax; syscall
	if v.sys == Windows {
		c.Records, c.Evidence, c.BareLeaves = 16, InFunction, true
		c.Saved = append([]cfi.Reg{4, 5}, c.Saved...) // rsi, rdi
	}
	return c
}

// Record implements machine.
func (amd64) Record(s *Stack, r *Registers, _ int) (Registers, bool) { return pairAt(s, r) }

// Record implements machine. On Windows %rbp points up to 240 bytes below the pair, a multiple
// of 16 ("x64 exception handling", UNWIND_INFO: frame register offset). Only the function's
// unwind rules have the distance, so each possible one is a candidate.
func (amd64Windows) Record(s *Stack, r *Registers, n int) (out Registers, ok bool) {
	fp, ok := r.Get(s.FP)
	if !ok || fp%8 != 0 || fp < s.SP(r) {
		return out, false
	}
	at := fp + 16*uint64(n)
	next, ok1 := s.Word(at)
	pc, ok2 := s.Word(at + 8)
	if !ok1 || !ok2 || next < at+16 || !s.Connected(at, next) {
		return out, false
	}
	return s.caller(pc, next, at+16), true
}

func (amd64) callBefore(code []byte, ret uint64) Call { return x86Call(code, ret) }

// Stub reads jmp *disp(%rip). With control-flow enforcement, endbr64 and a bnd prefix come
// first (x86-64 psABI 5.2, 12.1).
func (amd64) Stub(code []byte, pc uint64) (slot uint64, ok bool) {
	// The distance counts from the end of the whole sequence.
	n := len(code)
	code = bytes.TrimPrefix(code, []byte{0xf3, 0x0f, 0x1e, 0xfa})
	code = bytes.TrimPrefix(code, []byte{0xf2})
	if len(code) < 6 || code[0] != 0xff || code[1] != 0x25 {
		return 0, false
	}
	next := pc + uint64(n-len(code)) + 6
	return next + uint64(int64(int32(binary.LittleEndian.Uint32(code[2:])))), true
}

// Decoder implements machine.
func (amd64) Decoder(*Stack, uint64, uint64) code.Decoder { return code.AMD64 }
