package cpu

import (
	"encoding/binary"
)

// pairAt returns the caller whose frame pointer and return address are a pair at the frame
// pointer; the caller's stack is above. Other registers may be saved anywhere.
func pairAt(s *Stack, r *Registers) (out Registers, ok bool) {
	fp, ok := r.Get(s.FP)
	word := s.WordSize()
	if !ok || fp == 0 || fp%word != 0 || fp < s.SP(r) {
		return out, false
	}

	// A frame record above the stack pointer leads further up, or ends in zero.
	next, ok1 := s.Word(fp)
	next &^= s.PAC
	pc, ok2 := s.Word(fp + word)
	if !ok1 || !ok2 || next != 0 && next <= fp {
		return out, false
	}
	return s.caller(pc, next, fp+2*word), true
}

// caller returns the registers of a caller with a frame pointer.
func (c *CPU) caller(pc, fp, sp uint64) (out Registers) {
	out.PC = pc
	out.Set(c.FP, fp)
	c.SetSP(&out, sp)
	return out
}

// x86Call recognizes call rel32 and the forms of call r/m (Intel SDM vol. 2A, CALL; table
// 2-2 for the lengths that ModRM and SIB give).
func x86Call(code []byte, ret uint64) Call {
	at := func(back int) (op, modrm byte) {
		if len(code) < back {
			return 0, 0
		}
		return code[len(code)-back], code[len(code)-back+1]
	}
	if op, _ := at(5); op == 0xe8 {
		return direct(ret + uint64(int64(int32(binary.LittleEndian.Uint32(code[len(code)-4:])))))
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
			return Call{Kind: IndirectCall}
		}
	}
	return Call{}
}
