package walk

import (
	"strings"

	"symkit/walk/internal/cpu"
)

// returnsToCode reports whether pc can be a return address: code, after a call instruction
// as far as the bytes are known, or a signal trampoline.
func (v *view) returnsToCode(pc uint64) bool {
	addr := v.ReturnAddr(pc)
	if addr%v.Align != 0 || !v.p.code(addr-1) && !v.p.code(addr) {
		return false
	}

	before := v.Before(pc)
	if before != nil {
		return v.CallBefore(before, pc).Kind != cpu.NoCall || v.Signal(v.Code(addr, 16)) != nil
	}
	return v.p.code(addr-1) || v.Signal(v.Code(addr, 16)) != nil
}

// returnsTo reports whether pc can be the return address of f: that of a call, or, in Go, one that no call
// pushed: what an injected function interrupted, or an instruction of runtime.goexit, to which the
// first function of a goroutine returns.
func (v *view) returnsTo(f *Frame, pc uint64) bool {
	if v.returnsToCode(pc) {
		return true
	}
	addr := v.ReturnAddr(pc)
	if f.isInjected() {
		return v.p.code(addr)
	}
	m, place := v.at(addr)
	return m != nil && strings.TrimSuffix(place.Func, ".abi0") == "runtime.goexit" && addr-place.FuncAddr <= entrySize
}

// isReturn reports whether a word of the stack counts as a return address: the word points
// into a module, after a call, and into a function if the module has symbols. In a stripped file, the
// call itself must be known instead.
func (v *view) isReturn(ra uint64) bool {
	addr := v.ReturnAddr(ra)
	if addr < lowestPC || !v.returnsToCode(ra) {
		return false
	}
	// No call is known to be before _start; startup code keeps the address of _start on
	// the stack.
	if addr == v.p.Entry && v.Memory.Bytes(addr-1, 1) == nil {
		return false
	}

	m := v.p.ModuleAt(addr - 1)
	if m == nil {
		return len(v.p.Modules) == 0
	}
	idx := v.index(m)
	if idx == nil || v.place(m, addr-1).Func != "" {
		return true
	}
	// Most functions of a stripped file have no symbol.
	funcs, _, _ := idx.Counts()
	_, kind := v.callTarget(ra)
	return funcs == 0 && kind != isHidden
}
