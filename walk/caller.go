package walk

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"symkit/walk/internal/code"
	"symkit/walk/internal/cpu"
)

var (
	normalOrder = []technique{
		{"STACK WIN", TrustCFI, byWin},
		{"CFI", TrustCFI, byCFI},
		{"code", TrustCode, byCode},
		{"leaf", TrustLeaf, byLeaf},
		{"frame pointer", TrustFramePointer, byFramePointer},
		{"prologue", TrustCode, byPrologue},
		{"scan", TrustScan, byScan},
	}
	// The frame of a known trampoline has more registers than unwind rules may restore.
	signalOrder = []technique{
		{"signal frame", TrustSignal, bySignal},
		{"CFI", TrustCFI, byCFI},
		{"scan", TrustScan, byScan},
	}
)

var (
	// Between the start and the return of clone, the stack pointer is that of the new
	// thread, while the frame pointer is still that of the old one.
	errNotCalled  = errors.New("the return address follows no call of the function")
	errNullReturn = errors.New("the return address is null")
)

// caller finds the frame that called c, and that frame's registers. It tries the techniques
// from the most to the least certain, and takes the first plausible result. next.Why has
// the reasons that the techniques before it failed. If there is no caller, end is the
// reason: endOfStack, or the reasons that all techniques failed.
func (w *walker) caller(c *callee) (next Frame, regs cpu.Registers, end string) {
	v := w.view
	if v.isOutermost(c) {
		return next, regs, endOfStack
	}

	order := normalOrder
	if c.Signal {
		order = signalOrder
	}

	var why strings.Builder
	proven := c.isEntry()
	for _, t := range order {
		if t.trust == TrustLeaf && !c.Exact || t.name == "STACK WIN" && !v.Win {
			continue
		}
		out, result, err := t.try(v, c)

		// Some results deserve less trust than their technique.
		trust := t.trust
		switch result {
		case searched:
			result, trust = found, TrustCFIScan
		case unmoved:
			result, trust = found, TrustLeaf
		}
		if result == found && (trust == TrustScan || trust == TrustCFIScan) {
			c.scans--
		}

		// A frame that should have no caller needs proof of one.
		if result == found && proven && t.trust < TrustSignal && !v.provesCaller(c, out.PC, &t) {
			result, err = notFound, errNotCalled
		}

		// The word that was saved can have other bits than the address.
		saved := out.PC
		if result == found {
			if t.trust == TrustSignal {
				out.PC = v.CodeAddr(out.PC)
			} else {
				out.PC = v.ReturnAddr(out.PC)
			}
			result, err = w.judge(c, &out, t.trust)
		}

		switch {
		case result == found:
			injected := c.isInjected() && t.trust >= TrustFramePointer
			if injected && t.trust >= TrustCode {
				v.interrupted(&out)
			}
			exact := injected || c.Signal && t.trust != TrustScan
			next = Frame{Saved: saved, Trust: trust, Why: why.String(), Exact: exact, call: v.Call}
			return next, out, ""
		case result == stackEnd && v.begins(c.Frame), result == stackEnd && err == errCantUnwind && v.marksStart(c.Frame):
			return next, regs, endOfStack
		case result == stackEnd && err == errCantUnwind:
			// A call of the function proves that it has a caller.
			proven = true
		}

		// The reason goes into Why, except ErrNothing, which explains nothing.
		if err == code.ErrNothing {
			continue
		}
		if why.Len() > 0 {
			why.WriteString("; ")
		}
		fmt.Fprintf(&why, "%s: %v", t.name, err)
		if err == errNullReturn || err == errChainEnd || c.Signal && c.least > 0 {
			break // no rules have registers that the signal frame lacks
		}
	}
	return next, regs, why.String()
}

// provesCaller reports whether the return address ra proves that c has a caller, although
// nothing calls c's function (entries), or the rules know no caller. ARM's tables mark
// functions that throw nothing as functions without a caller. Such a mark does not outweigh
// the function's code, nor a link register that leads to generated code, which jumps as well as
// calls; nor does the mark outweigh a link register that leads to another module, if the dump
// lacks the code that would show a call of another function.
func (v *view) provesCaller(c *callee, ra uint64, t *technique) bool {
	leaf := t.trust == TrustLeaf && !c.isEntry()
	if leaf && v.isGenerated(v.ReturnAddr(ra), v.SP(c.regs)) {
		return true
	}

	switch v.calls(ra, c.Frame) {
	case isCallee:
		return true
	case isHidden:
		if leaf && !v.p.inStart(c.PC+1) {
			m := v.p.ModuleAt(v.ReturnAddr(ra) - 1)
			return m != nil && m != c.Module
		}
	}
	return t.trust == TrustCode && !c.isEntry()
}

// maxSignals bounds the signal frames of one stack.
const maxSignals = 256

// judge decides whether out can be the caller of c.
func (w *walker) judge(c *callee, out *cpu.Registers, trust Trust) (verdict, error) {
	v := w.view
	sp, caller := v.SP(c.regs), v.SP(out)
	switch {
	case out.PC < lowestPC && (trust == TrustCFI || trust == TrustFramePointer):
		if c.Signal { // a call through a null pointer was interrupted
			break
		}
		return stackEnd, errNullReturn
	case caller <= c.least && c.least > 0 && !c.Signal:
		return notFound, fmt.Errorf("stack pointer %#x is not above the frame, which ends at %#x", caller, c.least)
	case c.Signal:
	case !v.p.code(out.PC-1) && !v.p.code(out.PC): // a trampoline may begin its mapping
		return notFound, fmt.Errorf("return address %#x is not code", out.PC)
	case caller < sp, caller == sp && !(c.Exact && v.hasLR() && out.PC != c.regs.PC):
		return notFound, fmt.Errorf("stack pointer %#x is not above %#x", caller, sp)
	}

	if caller%v.WordSize() != 0 {
		return notFound, fmt.Errorf("stack pointer %#x is not aligned", caller)
	}
	if !c.Signal || trust == TrustScan {
		return found, nil
	}

	// The stack pointer may go anywhere, so that stacks could form a ring.
	if slices.Contains(w.signals, caller) {
		return notFound, fmt.Errorf("stack pointer %#x was seen before", caller)
	}
	if len(w.signals) == maxSignals {
		return notFound, fmt.Errorf("more than %d signal frames", maxSignals)
	}

	w.signals = append(w.signals, caller)
	return found, nil
}
