package walk

// linker is a machine whose linkage tables (PLT) are read.
type linker interface {
	// stub returns the address of the slot from which an entry of a linkage table loads
	// its target. The entry is at pc and begins with code, which has at most 16 bytes. ok
	// is false for other code.
	stub(code []byte, pc uint64) (slot uint64, ok bool)
}

// callKind is the kind of instruction before a return address.
type callKind uint8

const (
	noCall callKind = iota
	indirectCall
	directCall
)

// indirectIf returns the kind of an instruction that is an indirect call or none.
func indirectIf(call bool) callKind {
	if call {
		return indirectCall
	}
	return noCall
}

// callee is the relation of a call to a function.
type callee uint8

const (
	isOther   callee = iota // a direct call of another function
	isCallee                // a call of the function, at once or through a linkage table
	isHidden                // the dump lacks the code of the call, of its target, or the linkage table's slot
	isUnknown               // the call is indirect
)

// calls returns the relation of the call before ra to f's function. Functions of other
// modules are called through an entry of a linkage table (PLT).
func (w *walker) calls(ra uint64, f *Frame) callee {
	target, kind := w.callTarget(ra)
	if kind != isCallee {
		return kind
	}

	// A direct call reaches the function itself or an entry of a linkage table.
	if f.Place.Func != "" && target == f.Place.FuncAddr {
		return isCallee
	}
	return w.stubLeads(target, f)
}

// callTarget returns the target of the direct call before ra, and isCallee; isUnknown if
// the call is indirect, isHidden if the dump lacks the code.
func (w *walker) callTarget(ra uint64) (target uint64, kind callee) {
	addr := w.returnAddr(ra)
	for n := uint64(8); n > 0; n -= 2 {
		b := w.p.Memory.Bytes(addr-n, n)
		if b == nil {
			continue
		}
		kind, target := w.cpu.callBefore(b, ra+w.cpu.toReturn)
		if kind != directCall {
			return 0, isUnknown
		}
		return w.codeAddr(target), isCallee
	}
	return 0, isHidden
}

// stubLeads returns isCallee if the code at target is the entry of a linkage table that
// jumps to f's function.
func (w *walker) stubLeads(target uint64, f *Frame) callee {
	start, kind := w.stubTarget(target)
	if kind == isCallee && !w.beginsFunction(start, f) {
		return isOther
	}
	return kind
}

// stubTarget returns where the entry of a linkage table at target jumps to, and
// isCallee; isOther if target is other code, isHidden if the dump lacks bytes.
func (w *walker) stubTarget(target uint64) (start uint64, kind callee) {
	code := w.code(target, 16)
	if code == nil {
		return 0, isHidden
	}

	m, ok := w.cpu.machine.(linker)
	if !ok {
		return 0, isOther
	}
	// The entry jumps to the address in a slot, which relocation has filled in.
	slot, ok := m.stub(code, target)
	if !ok {
		return 0, isOther
	}
	start, ok = w.eval.word(slot)
	if !ok {
		return 0, isHidden
	}
	return w.codeAddr(start), isCallee
}

// maxUnnamed bounds the size of a function without a symbol.
const maxUnnamed = 4096

// beginsFunction reports whether f's function can begin at start. If the function's own
// symbol was stripped, start and f.PC must have the same nearest symbol below them.
func (w *walker) beginsFunction(start uint64, f *Frame) bool {
	if f.Place.Func != "" && start == f.Place.FuncAddr {
		return true
	}
	if f.Module == nil || w.p.ModuleAt(start) != f.Module || start > f.PC || f.PC-start > maxUnnamed {
		return false
	}
	// Both addresses are then above the same symbol.
	place := w.syms.place(w.ctx, f.Module, start)
	return (place.Func == "" || place.Public) && (f.Place.Func == "" || f.Place.Public) && place.below == f.Place.below
}

// provesCaller reports whether the return address ra proves that f has a caller, although
// nothing calls f's function (entries), or the rules know no caller. ARM's tables mark
// functions that throw nothing as functions without a caller. Such a mark does not outweigh
// the function's code, nor a link register that leads to generated code, which jumps as well as
// calls; nor does the mark outweigh a link register that leads to another module, if the dump
// lacks the code that would show a call of another function. sp is the stack pointer of f.
func (w *walker) provesCaller(f *Frame, ra, sp uint64, t *technique) bool {
	if t.trust == TrustLeaf && !f.isEntry() && w.generated(w.returnAddr(ra), sp) {
		return true
	}

	switch w.calls(ra, f) {
	case isCallee:
		return true
	case isHidden:
		if t.trust == TrustLeaf && !f.isEntry() && !w.p.inStart(f.PC+1) {
			m := w.p.ModuleAt(w.returnAddr(ra) - 1)
			return m != nil && m != f.Module
		}
	}
	return t.trust == TrustCode && !f.isEntry()
}
