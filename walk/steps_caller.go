package walk

// codeKey has the values that determine a codeFrame.
type codeKey struct {
	start, pc uint64
	exact     bool
}

// byCode finds the caller from the function's code, if the control flow leads from the
// function's first instruction to the frame's.
func (w *walker) byCode(f *Frame, r *Registers) (out Registers, v verdict, err error) {
	return w.fromCode(f, r, true)
}

// byPrologue reads the function's code up to where the control flow is lost.
func (w *walker) byPrologue(f *Frame, r *Registers) (out Registers, v verdict, err error) {
	return w.fromCode(f, r, false)
}

func (w *walker) fromCode(f *Frame, r *Registers, reached bool) (out Registers, v verdict, err error) {
	if f.Place.Func == "" || f.Place.FuncAddr > f.PC {
		return out, notFound, errNothing
	}
	// A recursive function has many frames at one place.
	key := codeKey{f.Place.FuncAddr, f.PC, f.Exact}
	got, ok := w.codes[key]
	if !ok {
		if len(w.codes) == maxCodeKept {
			clear(w.codes)
		}
		if m := w.stepperOf(f); m != nil && w.code(key.start, 16) != nil {
			got = w.readCode(m, key.start, key.pc, key.exact)
		} else {
			got.err = errNothing
		}
		w.codes[key] = got
	}

	switch {
	case got.err != nil && reached:
		return out, notFound, got.err
	case got.err != nil:
		return out, notFound, errNothing // byCode has given the reason
	case reached && !got.reached:
		return out, notFound, errNotReached
	}

	out, v, err = w.codeCaller(f, r, &got.state)
	if v != notFound && reached && !f.isInjected() && w.calls(out.PC, f) == isOther && !w.tailCalled(out.PC, f) {
		return out, notFound, errOtherCall // the code may be a part of a function that is not its first
	}
	return out, v, err
}

// stepperOf returns the decoder for the code of f's function, nil if there is none. The
// lowest bit of a return address marks Thumb code.
func (w *walker) stepperOf(f *Frame) stepper {
	_, isARM := w.cpu.machine.(arm)
	switch {
	case !isARM || w.p.BigEndian || f.Exact:
		return w.stepper(f.Place.FuncAddr)
	case f.Saved&1 != 0:
		return thumbCode{}
	}
	return armCode{}
}

// stepper returns the decoder for the code at start, nil if there is none.
func (w *walker) stepper(start uint64) stepper {
	if m, ok := w.cpu.machine.(arm); ok && !w.p.BigEndian {
		return m.stepper(w.code(start, 64), start)
	}
	m, _ := w.cpu.machine.(stepper)
	return m
}

// codeCaller computes the caller's registers from the state before the frame's
// instruction.
func (w *walker) codeCaller(f *Frame, r *Registers, s *codeState) (out Registers, v verdict, err error) {
	// Places on the stack are distances from the origin, the stack pointer at the function's
	// first instruction.
	origin, ok := w.origin(f, r, s)
	if !ok {
		return out, notFound, errNoOrigin
	}

	out = w.keepSaved(r)
	for _, reg := range w.saved {
		if s.get(reg).kind != valueEntry {
			out.Clear(reg)
		}
	}

	// Without a link register, the call has pushed the return address at the origin.
	word, lr := uint64(w.cpu.arch.WordSize), w.cpu.lr
	hasRA := false
	if lr == RegPC {
		out.PC, hasRA = w.eval.word(origin)
		out.Set(w.cpu.arch.SP, w.cpu.narrow(origin+word))
		if !hasRA {
			w.reaches(r, origin+word, true)
			return out, notFound, ErrMemory
		}
	} else {
		out.Set(w.cpu.arch.SP, origin)
	}

	// Registers that the function has saved and not yet restored are on the stack.
	for _, saved := range s.saved {
		if s.get(saved.reg).kind == valueEntry {
			continue // it was restored
		}
		value, ok := w.eval.word(w.cpu.narrow(origin + uint64(saved.at)))
		switch {
		case !ok && saved.reg == lr:
			w.reaches(r, origin, true)
			return out, notFound, ErrMemory
		case !ok:
			w.loses(w.cpu.sp(r), w.cpu.narrow(origin+uint64(saved.at)))
			out.Clear(saved.reg)
		case saved.reg == lr:
			out.PC, hasRA = value, true
		default:
			out.Set(saved.reg, value)
		}
	}

	// The return address may still be where the call put it.
	v = found
	switch {
	case lr == RegPC && s.get(w.cpu.arch.SP) == (codeValue{kind: valueOrigin}):
		v = unmoved
	case f.Exact && lr != RegPC && s.get(lr).kind == valueEntry:
		out.PC, hasRA = r.Get(lr)
		v = unmoved
	}

	if !hasRA {
		return out, notFound, errNoReturn
	}
	if !w.returnsTo(f, out.PC) && !w.beginsEntry(w.returnAddr(out.PC)) && !w.generated(w.returnAddr(out.PC), w.cpu.sp(r)) {
		return out, notFound, errNoCall
	}
	return out, v, nil
}

// beginsEntry reports whether addr is the start of a function without a caller: the
// functions of makecontext return to one, which no call precedes. Where the symbol was
// stripped, rules begin there.
func (w *walker) beginsEntry(addr uint64) bool {
	m, place := w.lookup(addr)
	idx := w.index(m)
	if idx == nil {
		return false
	}
	if place.Func != "" && !place.Public {
		return place.FuncAddr == addr && entries[place.Func]
	}

	rules, kept, ok := idx.CFI(addr-m.Base, w.rules[:0])
	w.rules = kept
	return ok && m.Base+rules.Addr == addr
}

// origin returns the stack pointer on entry. It is at a known distance from the
// stack pointer, or, where the stack pointer moves freely, from the frame pointer or
// another register. Of a frame that was found by a frame record, the frame pointer is
// exact, and the stack pointer is only known to be above the record: on arm64, what the
// callee keeps on the stack may follow.
func (w *walker) origin(f *Frame, r *Registers, s *codeState) (uint64, bool) {
	if v := s.get(w.cpu.fp); w.cpu.hasFP && f.Trust == TrustFramePointer && v.kind == valueOrigin {
		value, ok := r.Get(w.cpu.fp)
		return w.cpu.narrow(value - uint64(v.n)), ok
	}
	if v := s.get(w.cpu.arch.SP); v.kind == valueOrigin {
		return w.cpu.narrow(w.cpu.sp(r) - uint64(v.n)), true
	}
	for _, reg := range w.saved {
		if v := s.get(reg); v.kind == valueOrigin {
			value, ok := r.Get(reg)
			return w.cpu.narrow(value - uint64(v.n)), ok
		}
	}
	return 0, false
}
