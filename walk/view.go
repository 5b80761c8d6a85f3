package walk

import (
	"symkit/emit"
	"symkit/walk/internal/code"
	"symkit/walk/internal/cpu"
	"symkit/walk/internal/rules"
)

// view is what the search for a caller reads: the memory of the process as its machine reads
// it, and names. A worker has one, with buffers and results that are used again.
type view struct {
	cpu.Stack
	lookup
	noScan bool
	eval   rules.Evaluator
	rules  []emit.Rule // buffer of readRules
	reader *code.Reader
}

func newView(l lookup, noScan bool) *view {
	v := &view{Stack: l.p.stack(), lookup: l, noScan: noScan}
	v.eval.Stack = &v.Stack
	if v.CPU == nil {
		return v
	}
	lr := code.None
	if v.hasLR() {
		lr = v.LR
	}
	v.reader = code.NewReader(v.Memory, code.Machine{SP: v.Arch.SP, LR: lr, Saved: v.Saved})
	return v
}

// hasLR reports whether calls write a link register.
func (v *view) hasLR() bool { return v.LR != cpu.RegPC }

// callee is a frame whose caller is looked for.
type callee struct {
	*Frame
	regs   *cpu.Registers
	called *Frame // the frame that it called; without a module for the innermost frame
	scans  int    // frames that scans may still find in this stack
	extent        // what techniques that failed found out
}

// technique is a method to find the caller of a frame.
type technique struct {
	name  string
	trust Trust
	try   func(*view, *callee) (cpu.Registers, verdict, error)
}

// verdict is the result of a technique for a frame.
type verdict uint8

const (
	notFound verdict = iota
	found
	searched // found, where the stack was searched for the return address
	unmoved  // found, where a call put the return address
	stackEnd // there is no caller
)

// isTrampoline reports whether a signal trampoline is at pc, by its symbols or its code.
func (v *view) isTrampoline(pc uint64, place *Place) bool {
	return place.isTrampoline(pc) || v.Signal(v.Code(pc, 16)) != nil
}

// sameMapping reports whether a frame at sp can end at cfa.
func (v *view) sameMapping(sp, cfa uint64) bool {
	return cfa%v.WordSize() == 0 && v.p.sameMapping(sp, cfa)
}
