package walk

// A frame ends at its CFA, the lowest address that its caller's stack pointer can have. The CFA is
// often known where the return address is not: the stack is cut, the dump lacks a page, or the
// return address was overwritten. What lies below the CFA are then the frame's own variables and
// words that earlier calls left behind, and no technique may take them for the frame's caller.

// extent is what a technique that failed found out about the end of a frame.
type extent struct {
	// least is an address that the caller's stack pointer is above: the frame ends there, and the
	// dump lacks its return address, so that a scan could only find words of other frames. 0:
	// unknown.
	least uint64
	// scan is the address of the first word that a scan may take for a return address; 0: the
	// stack pointer.
	scan uint64
}

// maxFrame bounds the size in bytes of a frame if the mapping of its stack is not known.
const maxFrame = 16 << 20

// reaches records that the frame with registers r ends at cfa. lost reports that the
// dump lacks the word with the return address. Otherwise the return address may turn out to be
// none, and a scan begins at cfa.
func (w *walker) reaches(r *Registers, cfa uint64, lost bool) {
	if !w.sameMapping(w.cpu.sp(r), cfa) {
		return
	}
	if lost {
		w.lossy = true
		w.extent.least = max(w.extent.least, cfa)
	}
	w.extent.scan = max(w.extent.scan, cfa)
}

// loses records that the dump lacks the word at an address, in which the frame at sp saved a
// register.
func (w *walker) loses(sp, at uint64) {
	word := uint64(w.cpu.arch.WordSize)
	w.lossy = w.lossy || w.sameMapping(sp, at&^(word-1)+word)
}

// ruleExtent records what the rules of f say about its end: w.eval.cfa is the value of the rule
// for the CFA, err that of evaluating the rule for the return address. A return address that was
// read and is no code can also mean that the rules are wrong: those of a frame that a scan found, or
// of the innermost one on arm, whose tables hold only where a function calls.
func (w *walker) ruleExtent(f *Frame, r *Registers, rule *rule, err error) {
	if !w.follows(f, rule) {
		return
	}
	switch {
	case err == ErrMemory:
		w.reaches(r, w.eval.cfa, true)
	case err == ErrUndefined && w.cpu.lr == RegPC: // a call puts the return address below the CFA
		w.reaches(r, w.eval.cfa-uint64(w.cpu.arch.WordSize), false)
	case err == nil && f.Trust > TrustCFIScan && !(f.Exact && w.cpu == armCPU):
		w.reaches(r, w.eval.cfa, false)
	}
}

// framed is a machine on which every frame shows where it ends.
type framed interface {
	frameEnd(w *walker, r *Registers) (end uint64, ok bool)
}

// chainExtent records where a frame ends whose record cannot be read.
func (w *walker) chainExtent(r *Registers) {
	m, ok := w.cpu.machine.(framed)
	if !ok {
		return
	}
	end, ok := m.frameEnd(w, r)
	if ok {
		w.reaches(r, end, true)
	}
}

// reachesLost records that the frame has the word that a rule for its CFA could not read.
func (w *walker) reachesLost(f *Frame, r *Registers, err error, rule *rule) {
	if err == ErrMemory && w.follows(f, rule) {
		w.reaches(r, w.eval.lost+uint64(w.cpu.arch.WordSize), true)
	}
}

// follows reports whether a rule for f's CFA can be relied on: a scan recovers only the stack
// pointer, so that other registers may be those of another frame.
func (w *walker) follows(f *Frame, rule *rule) bool {
	if f.Trust > TrustCFIScan {
		return true
	}
	for i := range rule.terms {
		t := &rule.terms[i]
		if t.op == termName && t.slot != RegNone && t.slot != w.cpu.arch.SP {
			return false
		}
	}
	return true
}

// sameMapping reports whether a frame at sp can end at cfa: in the same mapping or in those that
// follow without a gap, as far as the mappings are known.
func (w *walker) sameMapping(sp, cfa uint64) bool {
	if cfa <= sp || cfa%uint64(w.cpu.arch.WordSize) != 0 {
		return false
	}
	m := w.p.MappingAt(sp)
	if m == nil {
		return cfa-sp <= maxFrame
	}
	for end := m.End; ; end = m.End {
		if cfa <= end {
			return true
		}
		m = w.p.MappingAt(end)
		if m == nil || !m.Write || m.End <= end {
			return false
		}
	}
}
