package walk

import (
	"errors"

	"symkit/emit"
)

// byWin applies the STACK WIN record at the frame: x86 Windows code
// (reference: Breakpad's symbol_files.md, "STACK WIN records").
func (w *walker) byWin(f *Frame, r *Registers) (out Registers, v verdict, err error) {
	idx := w.index(f.Module)
	if idx == nil {
		return out, notFound, errNoRules
	}
	win, ok := idx.Win(f.Lookup() - f.Module.Base)
	if !ok {
		return out, notFound, errNoRules
	}
	e := &w.eval
	e.regs, e.hasCFA, e.vars = r, false, e.vars[:0]
	if len(win.Program) > 0 {
		return w.winProgram(&win, r)
	}
	return w.winFPO(f, &win, r)
}

const (
	x86SP = 4
	x86BP = 5
)

// winProgram runs the program string of a frame data record.
func (w *walker) winProgram(win *emit.StackWin, r *Registers) (out Registers, v verdict, err error) {
	e := &w.eval
	sp, _ := r.Get(x86SP)
	bp, hasBP := r.Get(x86BP)
	search := sp + uint64(win.LocalSize) + uint64(win.SavedRegsSize) + w.calleeParams
	for i := range win.Program {
		if win.Program[i] == '@' && hasBP { // the frame is aligned: the address is above ebp
			search = bp + 4
		}
	}
	for _, given := range [...]struct {
		name string
		v    uint64
	}{
		{".cbParams", uint64(win.ParamSize)},
		{".cbCalleeParams", w.calleeParams},
		{".cbSavedRegs", uint64(win.SavedRegsSize)},
		{".cbLocals", uint64(win.LocalSize)},
		{".raSearch", search},
		{".raSearchStart", search},
	} {
		if err := e.setVar([]byte(given.name), w.cpu.narrow(given.v), nil); err != nil {
			return out, notFound, err
		}
	}
	if err := e.run(win.Program); err != nil {
		return out, notFound, err
	}
	out = w.keepSaved(r)
	set := false
	for _, v := range e.vars {
		slot, ok := w.cpu.slots[string(v.name)]
		switch {
		case !ok:
		case v.err != nil:
			out.Clear(slot)
		default:
			out.Set(slot, v.v)
			set = set || slot == RegPC
		}
	}
	if !set {
		return out, notFound, errors.New("the program sets no $eip")
	}
	w.calleeParams = uint64(win.ParamSize)
	return out, found, nil
}

// winFPO applies a record without a program.
func (w *walker) winFPO(f *Frame, win *emit.StackWin, r *Registers) (out Registers, v verdict, err error) {
	e := &w.eval
	sp, _ := r.Get(x86SP)
	size := uint64(win.LocalSize) + uint64(win.SavedRegsSize) + w.calleeParams
	at := w.cpu.narrow(sp + size)
	pc, ok := e.word(at)
	if ok && f.Trust == TrustContext && pc == f.PC {
		// A system call's return address may still be on the stack.
		at = w.cpu.narrow(at + 4)
		pc, ok = e.word(at)
	}
	if !ok {
		return out, notFound, ErrMemory
	}
	out = w.keepSaved(r)
	if win.AllocatesBP {
		bp, ok := e.word(w.cpu.narrow(sp + w.calleeParams + uint64(win.SavedRegsSize) - 8))
		if !ok {
			return out, notFound, ErrMemory
		}
		out.Set(x86BP, bp)
	}
	out.PC = pc
	out.Set(x86SP, w.cpu.narrow(at+4))
	w.calleeParams = uint64(win.ParamSize)
	return out, found, nil
}
