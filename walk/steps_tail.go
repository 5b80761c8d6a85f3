package walk

// tailKey has a function that was called, and one that it may have jumped to.
type tailKey struct{ called, reached uint64 }

// tailCalled reports whether the function that is called before ra may end in a jump to
// f's function, and so return to ra through f: it has such a jump, or a jump through a
// register or memory, after it has given its frame back.
func (w *walker) tailCalled(ra uint64, f *Frame) bool {
	target, kind := w.callTarget(ra)
	if kind != isCallee {
		return false
	}
	if start, kind := w.stubTarget(target); kind == isCallee {
		target = start
	}

	key := tailKey{target, f.Place.FuncAddr}
	ok, known := w.tails[key]
	if known {
		return ok
	}
	if m := w.stepper(target); m != nil && w.code(target, 16) != nil {
		c := w.newReader(m, target)
		c.exact, c.pc, c.tail = true, ^uint64(0), f.Place.FuncAddr
		ok = c.read().reached
	}
	if len(w.tails) == maxCodeKept {
		clear(w.tails)
	}
	w.tails[key] = ok
	return ok
}

// isTail reports whether an instruction is a jump to c.tail, or to an unknown address, of
// a function that has given its frame back.
func (c *codeReader) isTail(s *codeState, e *effect) bool {
	lr := c.w.cpu.lr
	switch {
	case c.tail == 0, s.get(c.w.cpu.arch.SP) != c.origin, lr != RegPC && s.get(lr).kind != valueEntry:
		return false
	case e.flow == flowJump, e.flow == flowBranch:
		return e.target == c.tail
	}
	return e.flow == flowTable || e.table
}
