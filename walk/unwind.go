package walk

import (
	"errors"
	"fmt"
	"strings"
)

// verdict is what a technique makes of a frame.
type verdict uint8

const (
	notFound verdict = iota
	found
	stackEnd // there is no caller
)

var (
	errNoRules     = errors.New("no rules")
	errNoEssential = errors.New("no rule for .cfa or .ra")
)

// keepSaved is the caller's registers as far as a call leaves them alone.
func (w *walker) keepSaved(r *Registers) (out Registers) {
	for _, reg := range w.cpu.arch.CalleeSaved {
		if v, ok := r.Get(reg); ok {
			out.Set(reg, v)
		}
	}
	return out
}

// byCFI applies the STACK CFI rules at the frame.
func (w *walker) byCFI(f *Frame, r *Registers) (out Registers, v verdict, err error) {
	idx := w.index(f.Module)
	if idx == nil {
		return out, notFound, errNoRules
	}
	_, rules, ok := idx.CFI(f.Lookup()-f.Module.Base, w.rules[:0])
	w.rules = rules
	if !ok {
		return out, notFound, errNoRules
	}
	e := &w.eval
	e.regs, e.hasCFA, e.vars = r, false, e.vars[:0]
	cfaRule, raRule := w.rule(".cfa"), w.rule(".ra")
	if raRule == nil {
		raRule = w.rule(w.cpu.arch.PC) // as some writers have it
	}
	if raRule != nil && w.isEnd(raRule) {
		return out, stackEnd, nil
	}
	if cfaRule == nil || raRule == nil {
		return out, notFound, errNoEssential
	}
	if e.cfa, err = e.eval(cfaRule); err != nil {
		return out, notFound, fmt.Errorf(".cfa: %w", err)
	}
	e.hasCFA = true
	ra, err := e.eval(raRule)
	if err != nil {
		return out, notFound, fmt.Errorf(".ra: %w", err)
	}
	out = w.keepSaved(r)
	out.Set(w.cpu.arch.SP, w.cpu.narrow(e.cfa+uint64(w.cpu.arch.SPOffset)))
	w.restore(&out)
	out.PC = ra
	return out, found, nil
}

// rule is the expression of a register's rule, or nil.
func (w *walker) rule(name string) []byte {
	for i := range w.rules {
		if string(w.rules[i].Reg) == name {
			return w.rules[i].Expr
		}
	}
	return nil
}

// isEnd tells whether a return address rule is a constant below the first
// page: the function has no caller.
func (w *walker) isEnd(rule []byte) bool {
	v, ok := number(rule)
	return ok && v < lowestPC
}

// restore applies the rules of the registers, which all see those of the
// callee. One that fails makes its register unknown.
func (w *walker) restore(out *Registers) {
	for i := range w.rules {
		rule := &w.rules[i]
		slot, ok := w.cpu.slots[string(rule.Reg)]
		if !ok || slot == RegPC {
			continue
		}
		if v, err := w.eval.eval(rule.Expr); err == nil {
			out.Set(slot, v)
		} else {
			out.Clear(slot)
		}
	}
}

// bySignal reads the registers that the kernel saved for a handler.
func (w *walker) bySignal(f *Frame, r *Registers) (out Registers, v verdict, err error) {
	layout := w.cpu.trampoline(w.code(f.PC, 16))
	if layout == nil && f.Place.FuncAddr == f.PC && restorers[f.Place.Func] {
		rt, plain := w.cpu.sigframes()
		if layout = plain; strings.Contains(f.Place.Func, "rt") {
			layout = rt
		}
	}
	if layout == nil {
		return out, notFound, errors.New("unknown trampoline")
	}
	out, ok := layout.load(w, w.cpu.sp(r))
	if !ok {
		return out, notFound, ErrMemory
	}
	return out, found, nil
}

// byLeaf takes the return address from where a call puts it, for a function
// that has not moved it: the link register, or on x86 the top of the stack when
// the PC itself is no code, as after a call through a bad pointer.
func (w *walker) byLeaf(f *Frame, r *Registers) (out Registers, v verdict, err error) {
	out = w.keepSaved(r)
	sp := w.cpu.sp(r)
	if w.cpu.lr == RegPC {
		if w.p.code(f.PC) {
			return out, notFound, errors.New("the frame may have moved the stack pointer")
		}
		ra, ok := w.eval.word(sp)
		if !ok {
			return out, notFound, ErrMemory
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

// stale tells whether the link register cannot be the frame's return address:
// it leads into the same function, or the frame record has it already.
func (w *walker) stale(f *Frame, lr uint64, r *Registers) bool {
	lr = w.codeAddr(lr)
	if !w.p.code(f.PC) {
		return false // called through a bad pointer
	}
	if m := w.p.ModuleAt(lr - 1); m != nil && m == f.Module && f.Place.Func != "" {
		p := w.syms.place(w.ctx, m, lr-1)
		if p.Func == f.Place.Func && p.FuncAddr == f.Place.FuncAddr {
			return true
		}
	}
	if next, ok := w.cpu.framePointer(w, r); ok && w.codeAddr(next.PC) == lr {
		return true
	}
	return false
}

// byFramePointer follows the chain of frame pointers.
func (w *walker) byFramePointer(_ *Frame, r *Registers) (out Registers, v verdict, err error) {
	out, ok := w.cpu.framePointer(w, r)
	if !ok {
		return out, notFound, errors.New("no frame record")
	}
	if out.PC < lowestPC && w.p.CPU == "x86" { // the record that Windows begins a stack with
		return out, stackEnd, nil
	}
	if !w.returnsToCode(out.PC) {
		return out, notFound, errNoCall
	}
	return out, found, nil
}

// codeAddr is the address of the instruction that a pointer to code leads to:
// without a pointer authentication code, without the Thumb bit.
func (w *walker) codeAddr(pc uint64) uint64 {
	pc = w.cpu.narrow(pc) &^ w.pac
	if w.p.CPU == "arm" {
		pc &^= 1
	}
	return pc
}

// code is n bytes of code at addr, fewer where that is all there is.
func (w *walker) code(addr, n uint64) []byte {
	for ; n > 0; n-- {
		if b := w.p.Memory.Bytes(addr, n); b != nil {
			return b
		}
	}
	return nil
}

// returnsToCode tells whether pc can be a return address: code, after a call
// instruction as far as the bytes are at hand.
func (w *walker) returnsToCode(pc uint64) bool {
	addr := w.codeAddr(pc)
	if addr%w.cpu.insnAlign != 0 || !w.p.code(addr-1) {
		return false
	}
	for n := uint64(8); n > 0; n -= 2 {
		if b := w.p.Memory.Bytes(addr-n, n); b != nil {
			return w.cpu.endsInCall(b, pc)
		}
	}
	return true
}

// scanFP recovers the frame pointer beside PC and SP, where the word below the
// return address is the one that the caller pushed.
func (w *walker) scanFP(r, out *Registers, at uint64) {
	if !w.cpu.hasFP || w.cpu.lr != RegPC {
		return
	}
	word := uint64(w.cpu.arch.WordSize)
	fp, ok := r.Get(w.cpu.fp)
	if !ok {
		return
	}
	if v, readable := w.eval.word(at - word); readable && fp == at-word && v > at {
		out.Set(w.cpu.fp, v)
	} else if fp > at {
		out.Set(w.cpu.fp, fp)
	}
}

// Limits of a scan, in words: more is looked at where the frame's size is
// least certain to be small (the windows of Breakpad's walkers), and all scans
// of a stack together find no more than maxScanned frames.
const (
	scanWords     = 40
	scanWordsLong = 160
	maxScanned    = 1024
)

// byScan looks for a return address above the stack pointer: the nearest
// one after a call of the very function that the frame is in, else the nearest
// one.
func (w *walker) byScan(f *Frame, r *Registers) (out Registers, v verdict, err error) {
	if w.scanned >= maxScanned {
		return out, notFound, errors.New("too many scans")
	}
	n := uint64(scanWords)
	if f.Trust >= TrustSignal {
		n = scanWordsLong
	}
	word := uint64(w.cpu.arch.WordSize)
	sp := w.cpu.sp(r)
	nearest, err := uint64(0), errors.New("no return address in reach")
	hit := false
	for i := range n {
		at := w.cpu.narrow(sp + i*word)
		ra, ok := w.eval.word(at)
		if !ok {
			err = ErrMemory
			break
		}
		if f.Trust == TrustLeaf && w.codeAddr(ra) == f.PC || !w.scanHit(ra) {
			continue // a leaf's saved link register led to f itself
		}
		if w.calls(ra, f) {
			nearest, hit = at, true
			break
		}
		if !hit {
			nearest, hit = at, true
		}
	}
	if !hit {
		return out, notFound, err
	}
	w.scanned++
	out.PC, _ = w.eval.word(nearest)
	w.scanFP(r, &out, nearest)
	out.Set(w.cpu.arch.SP, w.cpu.narrow(nearest+word))
	return out, found, nil
}

// calls tells whether the call before ra is one of f's function.
func (w *walker) calls(ra uint64, f *Frame) bool {
	if f.Place.Func == "" {
		return false
	}
	addr := w.codeAddr(ra)
	for n := uint64(8); n > 0; n -= 2 {
		if b := w.p.Memory.Bytes(addr-n, n); b != nil {
			target, ok := w.cpu.callTarget(b, ra)
			return ok && w.codeAddr(target) == f.Place.FuncAddr
		}
	}
	return false
}

// scanHit tells whether a word of the stack is taken for a return address: it
// leads into a module, after a call, and into a function where there are
// symbols.
func (w *walker) scanHit(ra uint64) bool {
	addr := w.codeAddr(ra)
	if addr < lowestPC || !w.returnsToCode(ra) {
		return false
	}
	m := w.p.ModuleAt(addr - 1)
	if m == nil {
		return len(w.p.Modules) == 0
	}
	return w.index(m) == nil || w.syms.place(w.ctx, m, addr-1).Func != ""
}
