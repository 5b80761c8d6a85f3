package walk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"symkit/cfi"
	"symkit/emit"
	"symkit/internal/quantity"
)

// walker walks one thread after the other.
type walker struct {
	ctx   context.Context
	p     *Process
	cpu   *cpu
	syms  *symbolizer
	pac   uint64
	limit int // frames
	eval  evaluator
	rules []emit.Rule

	named      *Generated
	codes      map[codeKey]codeFrame // the states found so far in this stack
	tails      map[tailKey]bool      // the results of tailCalled so far in this stack
	steps      int                   // instructions that may still be read for this stack
	saved      []cfi.Reg             // the registers that calls preserve
	extent     extent                // of the current frame
	lossy      bool                  // the dump lacks words of the frames so far
	callee     Frame                 // the callee of the current frame; without a module for the innermost frame
	scanned    int                   // frames found by scanning, in this stack
	maxScanned int
	signals    []uint64 // stack pointers of the frames that signals interrupted

	keepRegs     int    // of how many frames of a stack; Options.Registers
	keepContents bool   // Options.Contents
	looked       uint64 // bytes of this stack that contents went through
}

// index returns the symbols of m; nil if there are none.
func (w *walker) index(m *Module) *emit.Index {
	if m == nil {
		return nil
	}
	return w.syms.index(w.ctx, m)
}

// walk finds the frames of one thread.
func (w *walker) walk(t *Thread) (s Stack) {
	s.Thread = t
	if t.Writer || t.NoRegs {
		s.End = "the dump lacks the registers"
		if t.Writer {
			s.End = "the thread wrote the dump"
		}
		return s
	}

	// The limits count for each stack.
	w.scanned, w.callee, w.signals, w.looked, w.lossy = 0, Frame{}, w.signals[:0], 0, false
	w.steps = w.stepsOfStack()
	clear(w.codes)
	clear(w.tails)
	regs := t.Regs
	f := Frame{Saved: regs.PC, Exact: true, Trust: TrustContext}
	for {
		f.PC, f.SP = regs.PC, w.spOf(&regs)
		w.locate(&f)
		w.keep(&f, &regs, len(s.Frames))
		s.Frames = append(s.Frames, f)
		if n := len(s.Frames); w.keepContents && n > 1 {
			w.contents(s.Frames, n-2)
		}
		switch {
		case w.cpu == nil:
			s.End = "no unwinder for " + w.p.CPU
			return s
		case len(s.Frames) >= w.limit:
			s.End = "more than " + quantity.Count(w.limit, "frame", "frames")
			return s
		case w.ctx.Err() != nil:
			s.End = w.ctx.Err().Error()
			return s
		case w.syms.cost.over() != nil:
			s.End = w.syms.cost.over().Error()
			return s
		}
		// From here on the frame is complete, and its caller is looked for.
		next, nextRegs, end := w.caller(&f, &regs)
		if end != "" {
			s.End, s.Complete = end, end == endOfStack
			return s
		}
		w.callee, f, regs = f, next, nextRegs
	}
}

func (w *walker) spOf(r *Registers) uint64 {
	if w.cpu == nil {
		return 0
	}
	return w.cpu.sp(r)
}

// locate finds the module and the symbols of a frame.
func (w *walker) locate(f *Frame) {
	f.Module, f.Place = w.lookup(f.PC)
	if f.Module != nil {
		// Signal trampolines and entries are known by the symbol at PC itself.
		exact := f.Place
		f.Signal = exact.isTrampoline(f.PC)
		if exact.Public && !w.p.code(f.PC) {
			f.Place = noPlace // data above the last function
		}
		if !f.Exact && f.Trust > TrustCFIScan && exact.FuncAddr == f.PC && entries[exact.Func] {
			f.Exact, f.entry = true, true // no call pushed this return address
		}
	}

	// Go has goroutines return to the second instruction of goexit: on MIPS, fewer bytes from its
	// beginning than a call and its delay slot have.
	if n := f.PC - f.Place.FuncAddr; f.isEntry() && n > 0 && n < f.call {
		f.call = n
	}

	// A trampoline without a symbol is known by its code.
	if !f.Signal && w.cpu != nil && (f.Place.Func == "" || !f.Exact) {
		f.Signal = w.cpu.trampoline(w.code(f.PC, 16)) != nil
	}
	if f.Exact || f.Signal {
		return
	}

	// A return address is named by the call before it. Entries are in assembly, often without a size.
	f.Module, f.Place = w.lookup(f.Lookup())
	if f.Place.After && f.isEntry() && f.PC-f.Place.FuncAddr <= entrySize {
		place := *f.Place
		place.After = false
		f.Place = &place
	}
}

// isTrampoline reports whether the symbols at pc are those of a signal trampoline.
func (p *Place) isTrampoline(pc uint64) bool {
	return p.signal || p.FuncAddr == pc && restorers[p.Func]
}

// isTrampoline reports whether a signal trampoline is at pc, by its symbols or its code.
func (w *walker) isTrampoline(pc uint64, place *Place) bool {
	return place.isTrampoline(pc) || w.cpu.trampoline(w.code(pc, 16)) != nil
}

// lookup finds the module and the place of an address.
func (w *walker) lookup(addr uint64) (*Module, *Place) {
	if m := w.p.ModuleAt(addr); m != nil {
		return m, w.syms.place(w.ctx, m, addr)
	}
	return nil, w.named.place(addr)
}

// technique is a method to find the caller.
type technique struct {
	name  string
	trust Trust
	try   func(*walker, *Frame, *Registers) (Registers, verdict, error)
}

var (
	normalOrder = []technique{
		{"STACK WIN", TrustCFI, (*walker).byWin},
		{"CFI", TrustCFI, (*walker).byCFI},
		{"code", TrustCode, (*walker).byCode},
		{"leaf", TrustLeaf, (*walker).byLeaf},
		{"frame pointer", TrustFramePointer, (*walker).byFramePointer},
		{"prologue", TrustCode, (*walker).byPrologue},
		{"scan", TrustScan, (*walker).byScan},
	}
	// The frame of a known trampoline has more registers than unwind rules may restore.
	signalOrder = []technique{
		{"signal frame", TrustSignal, (*walker).bySignal},
		{"CFI", TrustCFI, (*walker).byCFI},
		{"scan", TrustScan, (*walker).byScan},
	}
)

var (
	// Between the start and the return of clone, the stack pointer is that of the new
	// thread, while the frame pointer is still that of the old one.
	errNotCalled  = errors.New("the return address follows no call of the function")
	errCantUnwind = errors.New("the rules know no caller")
	errNullReturn = errors.New("the return address is null")
	errChainEnd   = errors.New("zeros end the chain of frame records")
)

// caller finds the frame that called f, and that frame's registers. It tries the techniques
// from the most to the least certain, and takes the first plausible result. next.Why has
// the reasons that the techniques before it failed. If there is no caller, end is the
// reason: endOfStack, or the reasons that all techniques failed.
func (w *walker) caller(f *Frame, r *Registers) (next Frame, regs Registers, end string) {
	if w.isOutermost(f, r) {
		return next, regs, endOfStack
	}

	order := normalOrder
	if f.Signal {
		order = signalOrder
	}

	var why strings.Builder
	w.extent = extent{}
	proven := f.isEntry()
	for _, t := range order {
		if t.trust == TrustLeaf && !f.Exact || t.name == "STACK WIN" && w.p.CPU != "x86" {
			continue
		}
		out, v, err := t.try(w, f, r)

		// Some results deserve less trust than their technique.
		trust := t.trust
		switch v {
		case searched:
			v, trust = found, TrustCFIScan
		case unmoved:
			v, trust = found, TrustLeaf
		}

		// A frame that should have no caller needs proof of one.
		if v == found && proven && t.trust < TrustSignal && !w.provesCaller(f, out.PC, w.cpu.sp(r), &t) {
			v, err = notFound, errNotCalled
		}

		// The word that was saved can have other bits than the address.
		saved := out.PC
		if v == found {
			if t.trust == TrustSignal {
				out.PC = w.codeAddr(out.PC)
			} else {
				out.PC = w.returnAddr(out.PC)
			}
			v, err = w.judge(f, r, &out, t.trust)
		}

		switch {
		case v == found:
			injected := f.isInjected() && t.trust >= TrustFramePointer
			if injected && t.trust >= TrustCode {
				w.interrupted(&out)
			}
			exact := injected || f.Signal && t.trust != TrustScan
			next = Frame{Saved: saved, Trust: trust, Why: why.String(), Exact: exact, call: w.cpu.call}
			return next, out, ""
		case v == stackEnd && w.begins(f), v == stackEnd && err == errCantUnwind && w.marksStart(f):
			return next, regs, endOfStack
		case v == stackEnd && err == errCantUnwind:
			// A call of the function proves that it has a caller.
			proven = true
		}

		// The reason goes into Why, except errNothing, which explains nothing.
		if err == errNothing {
			continue
		}
		if why.Len() > 0 {
			why.WriteString("; ")
		}
		fmt.Fprintf(&why, "%s: %v", t.name, err)
		if err == errNullReturn || err == errChainEnd || f.Signal && w.extent.least > 0 {
			break // no rules have registers that the signal frame lacks
		}
	}
	return next, regs, why.String()
}

// maxSignals bounds the signal frames of one stack.
const maxSignals = 256

// judge decides whether out can be the caller of the frame with registers r.
func (w *walker) judge(f *Frame, r, out *Registers, trust Trust) (verdict, error) {
	sp, caller := w.cpu.sp(r), w.cpu.sp(out)
	switch {
	case out.PC < lowestPC && (trust == TrustCFI || trust == TrustFramePointer):
		if f.Signal { // a call through a null pointer was interrupted
			break
		}
		return stackEnd, errNullReturn
	case caller <= w.extent.least && w.extent.least > 0 && !f.Signal:
		return notFound, fmt.Errorf("stack pointer %#x is not above the frame, which ends at %#x", caller, w.extent.least)
	case f.Signal:
	case !w.p.code(out.PC-1) && !w.p.code(out.PC): // a trampoline may begin its mapping
		return notFound, fmt.Errorf("return address %#x is not code", out.PC)
	case caller < sp, caller == sp && !(f.Exact && w.cpu.lr != RegPC && out.PC != r.PC):
		return notFound, fmt.Errorf("stack pointer %#x is not above %#x", caller, sp)
	}

	if caller%uint64(w.cpu.arch.WordSize) != 0 {
		return notFound, fmt.Errorf("stack pointer %#x is not aligned", caller)
	}
	if !f.Signal || trust == TrustScan {
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
