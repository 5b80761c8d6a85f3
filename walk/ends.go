package walk

import (
	"strings"

	"symkit/walk/internal/cpu"
)

// isOutermost reports whether c is known to have no caller, without a look at its rules.
func (v *view) isOutermost(c *callee) bool {
	switch {
	case c.entry:
		return true
	case c.Exact:
		return false
	case c.Place.Func == "" && v.p.inStart(c.PC):
		return true
	case !c.isEntry(), c.Place.Public && c.PC-c.Place.FuncAddr > entrySize:
		return false
	}
	return c.Place.Func == "_start" || !v.isCalled(c)
}

// isCalled reports whether the rules of c, which bears the name of an entry, lead to a call of c. A
// function of the program can have the name too, as in the manual page of pthread_create.
func (v *view) isCalled(c *callee) bool {
	attempt := *c
	out, result, _ := byCFI(v, &attempt)
	c.lossy = attempt.lossy
	if result != found || v.Code(v.ReturnAddr(out.PC)-1, 1) == nil || !v.returnsToCode(out.PC) {
		return false
	}
	kind := v.calls(out.PC, c.Frame)
	return (kind == isCallee || kind == isUnknown) && v.SP(&out) > v.SP(c.regs)
}

// begins reports whether a process or thread can begin in f's function, which a return address that
// is null or undefined then confirms.
func (v *view) begins(f *Frame) bool {
	name := f.Place.Func
	switch {
	case f.Signal:
		return false
	case f.isEntry(), name == "" && v.p.inStart(f.PC):
		return true
	case v.p.windows():
		return windowsStarts[name]
	case v.p.apple():
		return appleStarts[name]
	case v.LateStart && lateStarts[name]:
		return true
	case !goStarts[strings.TrimSuffix(name, ".abi0")]:
		return false
	}
	// In a program with C code, C's startup code and threads call Go's.
	_, entry := v.at(v.p.Entry)
	return strings.HasPrefix(entry.Func, "_rt0_")
}

// marksStart reports whether rules that know no caller of f mark the outermost function: such a rule
// is written by hand (DWARF: an undefined return address), but by arm's compilers, and by Go's
// linker, which does so for each function that switches stacks.
func (v *view) marksStart(f *Frame) bool {
	return !f.Signal && !v.CallTables && !strings.HasPrefix(f.Place.Func, "runtime.")
}

// interrupted corrects the registers of the caller of an injected function. Where calls write a link
// register, the handler pushes the interrupted one before it sets the register (signal_arm64.go,
// preparePanic and pushCall).
func (v *view) interrupted(out *cpu.Registers) {
	if !v.hasLR() {
		return
	}
	sp := v.SP(out)
	lr, ok := v.Word(sp)
	if ok {
		out.Set(v.LR, lr)
	} else {
		out.Clear(v.LR)
	}
	v.SetSP(out, sp+v.GoPushes)
}
