package walk

import (
	"errors"

	"symkit/walk/internal/code"
	"symkit/walk/internal/cpu"
)

var (
	errNoOrigin  = errors.New("the distance from the stack pointer to the frame is not known")
	errNoReturn  = errors.New("the place of the return address is not known")
	errOtherCall = errors.New("the return address follows a call of another function")
)

// byCode finds the caller from the function's code, if the control flow leads from the
// function's first instruction to the frame's.
func byCode(v *view, c *callee) (out cpu.Registers, _ verdict, err error) {
	f := v.readCode(c)
	switch {
	case f.Err != nil:
		return out, notFound, f.Err
	case !f.Reached:
		return out, notFound, code.ErrNotReached
	}

	out, found, err := v.codeCaller(c, &f.State)
	if found != notFound && !c.isInjected() && v.calls(out.PC, c.Frame) == isOther && !v.tailCalled(out.PC, c.Frame) {
		return out, notFound, errOtherCall // the code may be a part of a function that is not its first
	}
	return out, found, err
}

// byPrologue reads the function's code up to where the control flow is lost.
func byPrologue(v *view, c *callee) (out cpu.Registers, _ verdict, err error) {
	f := v.readCode(c)
	if f.Err != nil {
		return out, notFound, code.ErrNothing // byCode has given the reason
	}
	return v.codeCaller(c, &f.State)
}

// readCode returns the state of a frame by its function's code.
func (v *view) readCode(c *callee) code.Frame {
	if c.Place.Func == "" || c.Place.FuncAddr > c.PC {
		return code.Frame{Err: code.ErrNothing}
	}
	saved := c.Saved
	if c.Exact {
		saved = 0
	}
	return v.reader.Frame(v.decoder(c.Place.FuncAddr, saved), c.Place.FuncAddr, c.PC, c.Exact)
}

// decoder returns the decoder for the function at start, nil if there is none; saved is a return
// address into the function, or 0.
func (v *view) decoder(start, saved uint64) code.Decoder {
	return v.Decoder(&v.Stack, start, saved)
}

// codeCaller computes the caller's registers from the state before the frame's
// instruction.
func (v *view) codeCaller(c *callee, s *code.State) (out cpu.Registers, _ verdict, err error) {
	// Places on the stack are distances from the origin, the stack pointer at the function's
	// first instruction.
	origin, ok := v.origin(c, s)
	if !ok {
		return out, notFound, errNoOrigin
	}

	out = c.regs.Keep(v.Saved)
	for _, reg := range v.Saved {
		if s.Get(reg).Kind != code.Entry {
			out.Clear(reg)
		}
	}

	// Without a link register, the call has pushed the return address at the origin.
	word, lr := v.WordSize(), v.LR
	hasRA := false
	if !v.hasLR() {
		out.PC, hasRA = v.Word(origin)
		v.SetSP(&out, origin+word)
		if !hasRA {
			c.reaches(v, origin+word, true)
			return out, notFound, cpu.ErrMemory
		}
	} else {
		out.Set(v.Arch.SP, origin)
	}

	// Registers that the function has saved and not yet restored are on the stack.
	for _, saved := range s.Saved {
		if s.Get(saved.Reg).Kind == code.Entry {
			continue // it was restored
		}
		at := v.Narrow(origin + uint64(saved.At))
		value, ok := v.Word(at)
		switch {
		case !ok && saved.Reg == lr:
			c.reaches(v, origin, true)
			return out, notFound, cpu.ErrMemory
		case !ok:
			c.loses(v, at)
			out.Clear(saved.Reg)
		case saved.Reg == lr:
			out.PC, hasRA = value, true
		default:
			out.Set(saved.Reg, value)
		}
	}

	// The return address may still be where the call put it.
	result := found
	switch {
	case !v.hasLR() && s.Get(v.Arch.SP) == (code.Value{Kind: code.Origin}):
		result = unmoved
	case c.Exact && v.hasLR() && s.Get(lr).Kind == code.Entry:
		out.PC, hasRA = c.regs.Get(lr)
		result = unmoved
	}

	if !hasRA {
		return out, notFound, errNoReturn
	}
	addr := v.ReturnAddr(out.PC)
	if !v.returnsTo(c.Frame, out.PC) && !v.beginsEntry(addr) && !v.isGenerated(addr, v.SP(c.regs)) {
		return out, notFound, errNoCall
	}
	return out, result, nil
}

// beginsEntry reports whether addr is the start of a function without a caller: the
// functions of makecontext return to one, which no call precedes. Where the symbol was
// stripped, rules begin there.
func (v *view) beginsEntry(addr uint64) bool {
	m, place := v.at(addr)
	idx := v.index(m)
	if idx == nil {
		return false
	}
	if place.Func != "" && !place.Public {
		return place.FuncAddr == addr && entries[place.Func]
	}

	rules, kept, ok := idx.CFI(addr-m.Base, v.rules[:0])
	v.rules = kept
	return ok && m.Base+rules.Addr == addr
}

// origin returns the stack pointer on entry. It is at a known distance from the
// stack pointer, or, where the stack pointer moves freely, from the frame pointer or
// another register. Of a frame that was found by a frame record, the frame pointer is
// exact, and the stack pointer is only known to be above the record: on arm64, what the
// callee keeps on the stack may follow.
func (v *view) origin(c *callee, s *code.State) (uint64, bool) {
	if at := s.Get(v.FP); c.Trust == TrustFramePointer && at.Kind == code.Origin {
		value, ok := c.regs.Get(v.FP)
		return v.Narrow(value - uint64(at.N)), ok
	}
	if at := s.Get(v.Arch.SP); at.Kind == code.Origin {
		return v.Narrow(v.SP(c.regs) - uint64(at.N)), true
	}
	for _, reg := range v.Saved {
		if at := s.Get(reg); at.Kind == code.Origin {
			value, ok := c.regs.Get(reg)
			return v.Narrow(value - uint64(at.N)), ok
		}
	}
	return 0, false
}

// tailCalled reports whether the function that is called before ra may end in a jump to
// f's function, and so return to ra through f.
func (v *view) tailCalled(ra uint64, f *Frame) bool {
	target, kind := v.callTarget(ra)
	if kind != isCallee {
		return false
	}
	if start, kind := v.stubTarget(target); kind == isCallee {
		target = start
	}
	return v.reader.JumpsTo(v.decoder(target, 0), target, f.Place.FuncAddr)
}
