package walk

import (
	"bytes"
	"encoding/binary"
)

// amd64 is x86-64 (System V psABI; x32 has the same registers).
type amd64 struct{}

var amd64CPU = newCPU(amd64{}, "x86_64",
	"$rax $rdx $rcx $rbx $rsi $rdi $rbp $rsp $r8 $r9 $r10 $r11 $r12 $r13 $r14 $r15", "$rbp", 1).
	handlers(&amd64Signal, &amd64Signal).
	restorer("\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", "", &amd64Signal). // mov $15,%rax; syscall
	restorer("\xb8\x0f\x00\x00\x00\x0f\x05", "", &amd64Signal)          // mov $15,%eax; syscall

// amd64Signal is struct rt_sigframe without pretcode: ucontext first, whose
// mcontext begins at 40 (Linux arch/x86/include/uapi/asm/sigcontext.h).
var amd64Signal = sigframe{inOrder(40, 8, 8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, RegPC)}

func (amd64) framePointer(w *walker, r *Registers) (out Registers, ok bool) {
	if !w.p.windows() {
		return chainedPair(w, r)
	}
	// On Windows %rbp points up to 240 bytes below the pair, a multiple of 16
	// ("x64 exception handling", UNWIND_INFO: frame register offset). Only the
	// function's unwind rules have the distance, so each possible one is tried.
	fp, ok := r.Get(w.cpu.fp)
	if !ok || fp%8 != 0 || fp < w.cpu.sp(r) {
		return out, false
	}

	for at := fp; at <= fp+240; at += 16 {
		next, ok1 := w.eval.word(at)
		pc, ok2 := w.eval.word(at + 8)
		if ok1 && ok2 && next >= at+16 && w.sameStack(at, next) && w.scanHit(pc) {
			return pair(w, at, next, pc), true
		}
	}
	return out, false
}

// chainedPair follows the layout "caller's frame pointer, return address" at
// the frame pointer; the caller's stack is above.
func chainedPair(w *walker, r *Registers) (out Registers, ok bool) {
	fp, ok := r.Get(w.cpu.fp)
	word := uint64(w.cpu.arch.WordSize)
	if !ok || fp == 0 || fp%word != 0 || fp < w.cpu.sp(r) {
		return out, false
	}

	// A frame record above the stack pointer leads further up, or ends in zero.
	next, ok1 := w.eval.word(fp)
	next &^= w.pac
	pc, ok2 := w.eval.word(fp + word)
	if !ok1 || !ok2 || next != 0 && next <= fp {
		return out, false
	}
	return pair(w, fp, next, pc), true
}

// pair returns the registers of the caller whose frame pointer and return address
// are at addr. Other registers may be saved anywhere.
func pair(w *walker, addr, fp, pc uint64) (out Registers) {
	out.PC = pc
	out.Set(w.cpu.fp, fp)
	out.Set(w.cpu.arch.SP, w.cpu.narrow(addr+2*uint64(w.cpu.arch.WordSize)))
	return out
}

func (amd64) callBefore(code []byte, ret uint64) (callKind, uint64) { return x86Call(code, ret) }

// x86Call recognizes call rel32 and the forms of call r/m (Intel SDM vol. 2A, CALL; table
// 2-2 for the lengths that ModRM and SIB give).
func x86Call(code []byte, ret uint64) (callKind, uint64) {
	at := func(back int) (op, modrm byte) {
		if len(code) < back {
			return 0, 0
		}
		return code[len(code)-back], code[len(code)-back+1]
	}
	if op, _ := at(5); op == 0xe8 {
		return directCall, ret + uint64(int64(int32(binary.LittleEndian.Uint32(code[len(code)-4:]))))
	}

	// The lengths of the indirect forms follow from ModRM and SIB.
	for _, form := range [...]struct {
		back             int
		mask, want, not4 byte
	}{
		{2, 0xf8, 0xd0, 0xff}, // register
		{2, 0xf8, 0x10, 4},    // [register]
		{3, 0xf8, 0x50, 4},    // [register+disp8]
		{3, 0xff, 0x14, 0xff}, // [SIB]
		{4, 0xff, 0x54, 0xff}, // [SIB+disp8]
		{6, 0xff, 0x15, 0xff}, // [rip+disp32], [disp32]
		{6, 0xf8, 0x90, 4},    // [register+disp32]
		{7, 0xff, 0x94, 0xff}, // [SIB+disp32]
		{7, 0xff, 0x14, 0xff}, // [index*scale+disp32]
	} {
		if op, modrm := at(form.back); op == 0xff && modrm&form.mask == form.want && modrm&7 != form.not4 {
			return indirectCall, 0
		}
	}
	return noCall, 0
}

// stub reads jmp *disp(%rip). With control-flow enforcement, endbr64 and a bnd prefix come
// first (x86-64 psABI 5.2, 12.1).
func (amd64) stub(code []byte, pc uint64) (slot uint64, ok bool) {
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
