package walk

import (
	"errors"
	"fmt"
	"strings"
)

// verdict is the result of a technique for a frame.
type verdict uint8

const (
	notFound verdict = iota
	found
	searched // found, where the stack was searched for the return address
	unmoved  // found, where a call put the return address
	stackEnd // there is no caller
)

var (
	errNoRules     = errors.New("no rules")
	errNoEssential = errors.New("no rule for .cfa or .ra")
)

// keepSaved returns the registers of r that calls preserve.
func (w *walker) keepSaved(r *Registers) (out Registers) {
	for _, reg := range w.saved {
		if v, ok := r.Get(reg); ok {
			out.Set(reg, v)
		}
	}
	return out
}

// byCFI applies the STACK CFI rules at the frame.
func (w *walker) byCFI(f *Frame, r *Registers) (out Registers, v verdict, err error) {
	u := w.rulesAt(f.Module, f.Lookup())
	if u == nil || u.cfi == nil {
		return out, notFound, errNoRules
	}

	// A constant return address below the first page stands for an undefined one.
	p := u.cfi
	handler := p.end && f.isGoHandler()
	if p.end && !handler {
		return out, stackEnd, errCantUnwind
	}
	cfaRule, raRule := p.rule(".cfa"), p.returnRule(w.cpu)
	if cfaRule == nil || raRule == nil {
		return out, notFound, errNoEssential
	}

	// All rules see the registers of the callee.
	w.syms.cost.terms(p.terms)
	e := &w.eval
	e.begin(p, r)
	e.cfa, err = e.eval(cfaRule.terms)
	if err != nil {
		w.reachesLost(f, r, err, cfaRule)
		return out, notFound, fmt.Errorf(".cfa: %w", err)
	}
	e.hasCFA = true
	if f.Trust == TrustFramePointer && w.cpu == arm64CPU {
		w.cfaOfRecord(r, p)
	}

	// The other rules can refer to the CFA, so they are evaluated after it.
	ra, err := e.eval(raRule.terms)
	if handler {
		ra, err = w.handlerReturn(r)
	}
	w.ruleExtent(f, r, cfaRule, err)
	switch {
	case err == errCantUnwind:
		return out, stackEnd, err
	case err != nil:
		return out, notFound, fmt.Errorf(".ra: %w", err)
	}
	out = w.keepSaved(r)
	out.Set(w.cpu.arch.SP, w.cpu.narrow(e.cfa+uint64(w.cpu.arch.SPOffset)))
	w.restore(p, r, &out)
	out.PC = ra
	return out, found, nil
}

// restore applies the rules of the registers. All rules see r, the registers of the callee. A rule
// that fails makes its register unknown, but the stack pointer, which follows from the CFA.
func (w *walker) restore(p *program, r, out *Registers) {
	for i := range p.rules {
		rule := &p.rules[i]
		if !rule.known || rule.slot == RegPC {
			continue
		}
		v, err := w.eval.eval(rule.terms)
		switch {
		case err == nil:
			out.Set(rule.slot, v)
			continue
		case err == ErrMemory:
			w.loses(w.cpu.sp(r), w.eval.lost)
		}
		if rule.slot != w.cpu.arch.SP {
			out.Clear(rule.slot)
		}
	}
}

// bySignal reads the registers that the kernel saved for a handler.
func (w *walker) bySignal(f *Frame, r *Registers) (out Registers, v verdict, err error) {
	layout := w.cpu.trampoline(w.code(f.PC, 16))
	// A trampoline whose code is not known has a known name.
	if layout == nil && f.Place.FuncAddr == f.PC && restorers[f.Place.Func] {
		layout = w.cpu.plain
		if strings.Contains(f.Place.Func, "rt") {
			layout = w.cpu.rt
		}
	}
	if layout == nil {
		return out, notFound, errors.New("unknown trampoline")
	}

	out, ok := layout.load(w, w.cpu.sp(r))
	if !ok {
		w.reaches(r, w.eval.lost+uint64(w.cpu.arch.WordSize), true)
		return out, notFound, ErrMemory
	}
	return out, found, nil
}

// byLeaf takes the return address from the place to which a call writes it, for a function
// that has not moved it. That place is the link register. On x86 it is the top of the
// stack, if the PC itself is no code, as after a call through a bad pointer, or if the word
// there follows a call of this very function: 64-bit Windows has no rules for functions
// that leave the stack pointer alone.
func (w *walker) byLeaf(f *Frame, r *Registers) (out Registers, v verdict, err error) {
	out = w.keepSaved(r)
	sp := w.cpu.sp(r)
	if w.cpu.lr == RegPC {
		ra, ok := w.eval.word(sp)
		if !ok {
			return out, notFound, ErrMemory
		}
		if w.p.code(f.PC) && w.calls(ra, f) != isCallee && !(w.cpu == amd64CPU && w.p.windows() && w.scanHit(ra)) {
			return out, notFound, errors.New("the frame may have moved the stack pointer")
		}
		out.PC = ra
		out.Set(w.cpu.arch.SP, sp+uint64(w.cpu.arch.WordSize))
	} else {
		lr, ok := r.Get(w.cpu.lr)
		switch {
		case !ok:
			return out, notFound, ErrUndefined
		case w.stale(f, lr, r):
			return out, notFound, errors.New("the link register was used for a call since")
		}
		out.PC = lr
		out.Set(w.cpu.arch.SP, sp)
	}

	if !w.returnsToCode(out.PC) {
		return out, notFound, errNoCall
	}
	return out, found, nil
}

var errNoCall = errors.New("no call before the return address")

// stale reports whether the link register cannot be the frame's return address:
// it leads into the same function, or the frame record has it already.
func (w *walker) stale(f *Frame, lr uint64, r *Registers) bool {
	lr = w.returnAddr(lr)
	if !w.p.code(f.PC) {
		return false // called through a bad pointer
	}

	// A link register that leads into the same function comes from a call made there.
	if m := w.p.ModuleAt(lr - 1); m != nil && m == f.Module && f.Place.Func != "" {
		p := w.syms.place(w.ctx, m, lr-1)
		if p.Func == f.Place.Func && p.FuncAddr == f.Place.FuncAddr {
			return true
		}
	}
	// A link register that the frame record holds was saved, and may be overwritten.
	if next, ok := w.cpu.framePointer(w, r); ok && w.returnAddr(next.PC) == lr {
		return true
	}
	return false
}

// byFramePointer follows the chain of frame pointers. The chain ends in zeros, which are
// accepted if the chain led to them, or if all code of the system has the chain.
//
// Generated code may push a return address and jump (HotSpot's interpreter), so that no call
// precedes the return address. A record that leads to such code is accepted if the next
// records lead up the stack as well.
func (w *walker) byFramePointer(f *Frame, r *Registers) (out Registers, v verdict, err error) {
	out, ok := w.cpu.framePointer(w, r)
	if !ok {
		w.chainExtent(r)
		return out, notFound, errors.New("no frame record")
	}

	// Zeros end the chain.
	if next, _ := out.Get(w.cpu.fp); out.PC == 0 && next == 0 &&
		(f.Trust == TrustFramePointer || w.cpu.chained(w.p)) {
		return out, stackEnd, errChainEnd
	}
	if !w.returnsTo(f, out.PC) && !(w.generated(w.returnAddr(out.PC), w.cpu.sp(r)) && w.chainGoesOn(out)) {
		return out, notFound, errNoCall
	}
	return out, found, nil
}

// returnAddr returns the address that a function returns to, from the value that the
// call saved.
func (w *walker) returnAddr(saved uint64) uint64 {
	return w.cpu.narrow(w.codeAddr(saved) + w.cpu.toReturn)
}

// codeAddr returns the address of the instruction that a pointer to code leads to,
// without the pointer authentication code and the Thumb bit.
func (w *walker) codeAddr(pc uint64) uint64 {
	pc = w.cpu.narrow(pc) &^ w.pac
	if w.p.CPU == "arm" {
		pc &^= 1
	}
	return pc
}

// code returns n bytes of code at addr, or as many as the dump has.
func (w *walker) code(addr, n uint64) []byte {
	for ; n > 0; n-- {
		if b := w.p.Memory.Bytes(addr, n); b != nil {
			return b
		}
	}
	return nil
}

// returnsToCode reports whether pc can be a return address: code, after a call instruction
// as far as the bytes are known, or a signal trampoline.
func (w *walker) returnsToCode(pc uint64) bool {
	addr := w.returnAddr(pc)
	if addr%w.cpu.insnAlign != 0 || !w.p.code(addr-1) && !w.p.code(addr) {
		return false
	}

	for n := uint64(8); n > 0; n -= 2 {
		if b := w.p.Memory.Bytes(addr-n, n); b != nil {
			kind, _ := w.cpu.callBefore(b, pc+w.cpu.toReturn)
			return kind != noCall || w.cpu.trampoline(w.code(addr, 16)) != nil
		}
	}
	return w.p.code(addr-1) || w.cpu.trampoline(w.code(addr, 16)) != nil
}
