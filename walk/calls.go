package walk

import "symkit/walk/internal/cpu"

// relation is the relation of a call to a function.
type relation uint8

const (
	isOther   relation = iota // a direct call of another function
	isCallee                  // a call of the function, at once or through a linkage table
	isHidden                  // the dump lacks the code of the call, of its target, or the linkage table's slot
	isUnknown                 // the call is indirect
)

// calls returns the relation of the call before ra to f's function. Functions of other
// modules are called through an entry of a linkage table (PLT).
func (v *view) calls(ra uint64, f *Frame) relation {
	target, kind := v.callTarget(ra)
	if kind != isCallee {
		return kind
	}

	// A direct call reaches the function itself or an entry of a linkage table.
	if f.Place.Func != "" && target == f.Place.FuncAddr {
		return isCallee
	}
	start, kind := v.stubTarget(target)
	if kind == isCallee && !v.beginsFunction(start, f) {
		return isOther
	}
	return kind
}

// callTarget returns the target of the direct call before ra, and isCallee; isUnknown if
// the call is indirect, isHidden if the dump lacks the code.
func (v *view) callTarget(ra uint64) (target uint64, kind relation) {
	before := v.Before(ra)
	if before == nil {
		return 0, isHidden
	}
	call := v.CallBefore(before, ra)
	if call.Kind != cpu.DirectCall {
		return 0, isUnknown
	}
	return v.CodeAddr(call.Target), isCallee
}

// stubTarget returns where the entry of a linkage table at target jumps to, and
// isCallee; isOther if target is other code, isHidden if the dump lacks bytes.
func (v *view) stubTarget(target uint64) (start uint64, kind relation) {
	code := v.Code(target, 16)
	if code == nil {
		return 0, isHidden
	}
	// The entry jumps to the address in a slot, which relocation has filled in.
	slot, ok := v.Stub(code, target)
	if !ok {
		return 0, isOther
	}
	start, ok = v.Word(slot)
	if !ok {
		return 0, isHidden
	}
	return v.CodeAddr(start), isCallee
}

// maxUnnamed bounds the size of a function without a symbol.
const maxUnnamed = 4096

// beginsFunction reports whether f's function can begin at start. If the function's own
// symbol was stripped, start and f.PC must have the same nearest symbol below them.
func (v *view) beginsFunction(start uint64, f *Frame) bool {
	if f.Place.Func != "" && start == f.Place.FuncAddr {
		return true
	}
	if f.Module == nil || v.p.ModuleAt(start) != f.Module || start > f.PC || f.PC-start > maxUnnamed {
		return false
	}
	// Both addresses are then above the same symbol.
	place := v.place(f.Module, start)
	return (place.Func == "" || place.Public) && (f.Place.Func == "" || f.Place.Public) && place.below == f.Place.below
}
