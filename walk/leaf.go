package walk

import (
	"errors"

	"symkit/walk/internal/cpu"
	"symkit/walk/internal/rules"
)

var errNoCall = errors.New("no call before the return address")

// byLeaf takes the return address from the place to which a call writes it, for a function
// that has not moved it. That place is the link register. On x86 it is the top of the
// stack, if the PC itself is no code, as after a call through a bad pointer, or if the word
// there follows a call of this very function: 64-bit Windows has no rules for functions
// that leave the stack pointer alone.
func byLeaf(v *view, c *callee) (out cpu.Registers, _ verdict, err error) {
	out = c.regs.Keep(v.Saved)
	sp := v.SP(c.regs)
	if !v.hasLR() {
		ra, ok := v.Word(sp)
		if !ok {
			return out, notFound, cpu.ErrMemory
		}
		if v.p.code(c.PC) && v.calls(ra, c.Frame) != isCallee && !(v.BareLeaves && v.isReturn(ra)) {
			return out, notFound, errors.New("the frame may have moved the stack pointer")
		}
		out.PC = ra
		out.Set(v.Arch.SP, sp+v.WordSize())
	} else {
		lr, ok := c.regs.Get(v.LR)
		switch {
		case !ok:
			return out, notFound, rules.ErrUndefined
		case v.stale(c, lr):
			return out, notFound, errors.New("the link register was used for a call since")
		}
		out.PC = lr
		out.Set(v.Arch.SP, sp)
	}

	if !v.returnsToCode(out.PC) {
		return out, notFound, errNoCall
	}
	return out, found, nil
}

// stale reports whether the link register cannot be the frame's return address:
// it leads into the same function, or the frame record has it already.
func (v *view) stale(c *callee, lr uint64) bool {
	lr = v.ReturnAddr(lr)
	if !v.p.code(c.PC) {
		return false // called through a bad pointer
	}

	// A link register that leads into the same function comes from a call made there.
	if m := v.p.ModuleAt(lr - 1); m != nil && m == c.Module && c.Place.Func != "" {
		p := v.place(m, lr-1)
		if p.Func == c.Place.Func && p.FuncAddr == c.Place.FuncAddr {
			return true
		}
	}
	// A link register that the frame record holds was saved, and may be overwritten.
	next, ok := v.record(c.regs)
	return ok && v.ReturnAddr(next.PC) == lr
}
