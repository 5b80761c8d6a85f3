package cpu

// sparc is 32-bit SPARC V8 (SysV psABI, SPARC supplement). A call saves its own address, 8
// bytes before the return address.
type sparc struct{ basic }

func newSPARC(v variant) *CPU {
	c := newCPU(sparc{}, v,
		"g0 g1 g2 g3 g4 g5 g6 g7 o0 o1 o2 o3 o4 o5 o6 o7 l0 l1 l2 l3 l4 l5 l6 l7 i0 i1 i2 i3 i4 i5 i6 i7", "i6", 4).
		alias("sp", 14).alias("fp", 30)
	c.Call, c.toReturn = 8, 8
	return c
}

// window is the caller's window, at its stack pointer.
var window = Layout{inOrder(0, 4, regRange(16, 31)...)}

// Record implements machine: it reads %i6, the caller's stack pointer, and %i7, the address of
// the call. The caller's own window, %l0 to %l7 and %i0 to %i7, is saved at the caller's stack
// pointer (psABI, "The Stack Frame"). Breakpad's walker takes %i7 from the saved window and
// misses the first caller.
func (m sparc) Record(s *Stack, r *Registers, _ int) (out Registers, ok bool) {
	fp, ok1 := m.FrameEnd(s, r)
	call, ok2 := r.Get(31)
	if !ok1 || !ok2 {
		return out, false
	}

	out, _, _ = s.Load(&window, fp)
	_, ok = out.Get(30)
	out.PC = call
	out.Set(14, fp)
	return out, ok
}

// FrameEnd implements machine: it returns %i6, which no function uses otherwise.
func (sparc) FrameEnd(s *Stack, r *Registers) (uint64, bool) {
	fp, ok := r.Get(30)
	return fp, ok && fp%4 == 0 && fp > s.SP(r)
}

// callBefore decodes call, or jmpl that writes %o7, before the instruction in its delay slot
// (SPARC V8, B.24, B.25).
func (sparc) callBefore(code []byte, ret uint64) Call {
	insn, ok := insn32(code, 8, true)
	if ok && insn>>30 == 1 {
		return direct(ret - 8 + uint64(int64(int32(insn<<2))))
	}
	return indirectIf(insn&0xfff80000 == 0x9fc00000)
}
