package peers

import (
	"slices"

	"symkit/walk"
)

// The texts of other programs have the same frames, but each program keeps other registers from a
// frame to its caller. In the functions below, callee has the registers that the program shows of
// the preceding frame; it is nil for the innermost frame.

// inRustMinidump returns the registers that rust-minidump shows of a frame.
func inRustMinidump(cpu string, f *walk.Frame, callee []walk.NamedRegister) []walk.NamedRegister {
	switch {
	case f.Trust == walk.TrustContext:
	case cpu == "x86_64" && (f.Trust == walk.TrustScan || f.Trust == walk.TrustLeaf):
		keepsFP := scanKeepsFP(callee, f.SP)
		return slices.DeleteFunc(slices.Clone(f.Registers), func(r walk.NamedRegister) bool {
			return r.Name != "rip" && r.Name != "rsp" && (r.Name != "rbp" || !keepsFP)
		})
	case cpu == "x86" && f.Trust == walk.TrustCFI:
		// STACK WIN rules name few registers; the others are taken from the callee.
		return withCallees(f.Registers, callee, "ebx", "esi", "edi")
	}
	return f.Registers
}

// scanKeepsFP reports whether rust-minidump knows %rbp of a frame that it found by scanning: sp is
// the frame's stack pointer. The callee has pushed %rbp below the return address, or has left it
// alone.
func scanKeepsFP(callee []walk.NamedRegister, sp uint64) bool {
	fp, known := register(callee, "rbp")
	calleeSP, _ := register(callee, "rsp")
	return known && sp-8 != calleeSP && (fp == sp-16 || fp >= sp)
}

// inBreakpad returns the registers that Breakpad shows of a frame.
func inBreakpad(cpu string, f *walk.Frame, callee []walk.NamedRegister) []walk.NamedRegister {
	if cpu != "x86_64" || f.Trust != walk.TrustLeaf {
		return f.Registers
	}

	// The caller of a leaf function has all of its registers.
	var all []string
	for _, r := range callee {
		all = append(all, r.Name)
	}
	return withCallees(f.Registers, callee, all...)
}

// withCallees returns registers and those of the callee that have one of the names and are not
// among them.
func withCallees(registers, callee []walk.NamedRegister, names ...string) []walk.NamedRegister {
	out := slices.Clone(registers)
	for _, name := range names {
		v, known := register(callee, name)
		if _, have := register(registers, name); known && !have {
			out = append(out, walk.NamedRegister{Name: name, Value: v})
		}
	}
	return out
}

// register returns the value of a register.
func register(registers []walk.NamedRegister, name string) (uint64, bool) {
	for _, r := range registers {
		if r.Name == name {
			return r.Value, true
		}
	}
	return 0, false
}
