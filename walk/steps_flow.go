package walk

import "errors"

// Limits of reading code.
const (
	maxSteps    = 1 << 14 // instructions of one function
	maxStepsAll = 1 << 25 // instructions for all frames of all stacks
	maxStepsOne = 1 << 21 // instructions for all frames of one stack
	minStepsOne = 1 << 13 // instructions that each stack may use, however many there are
	maxSaved    = 32      // registers that a function saves
	maxCodeKept = 1 << 12 // results that a walker keeps
)

// codeFrame is the state of a frame at an instruction, found from the function's code.
type codeFrame struct {
	state codeState
	err   error
	// reached reports whether the control flow leads to the instruction. Otherwise
	// the state is that at the first jump with an unknown target, or before the
	// first bytes that cannot be decoded, after a prologue.
	reached bool
}

var (
	errNotReached  = errors.New("the code does not lead to the instruction")
	errNoOrigin    = errors.New("the distance from the stack pointer to the frame is not known")
	errNoReturn    = errors.New("the place of the return address is not known")
	errNothing     = errors.New("nothing to go by") // left out of Frame.Why
	errOtherCall   = errors.New("the return address follows a call of another function")
	errTooMuchCode = errors.New("read too much code")
)

// codePlace is an instruction to decode, and the state before it.
type codePlace struct {
	pc    uint64
	state codeState
}

// codeReader follows the control flow of one function.
type codeReader struct {
	w     *walker
	m     stepper
	pc    uint64 // of the frame
	exact bool   // pc is the instruction itself, no return address
	tail  uint64 // a function that the code may jump to at its end; 0: not asked for

	todo   []codePlace // branch targets to follow
	seen   map[uint64]bool
	effect effect
	origin codeValue // the stack pointer on entry
	out    codeFrame
	done   bool // out is final
	weak   bool // out has a state after a prologue
}

// readCode follows the code from start until the frame's instruction, or, for a
// return address, the call before pc.
func (w *walker) readCode(m stepper, start, pc uint64, exact bool) codeFrame {
	c := w.newReader(m, start)
	c.pc, c.exact = pc, exact
	return c.read()
}

// newReader returns a reader of the function at start.
func (w *walker) newReader(m stepper, start uint64) *codeReader {
	// Only the registers that calls preserve and the link register help to find the caller.
	first := codeState{}
	for _, reg := range w.saved {
		first.keep |= 1 << reg
	}
	if w.cpu.lr < codeRegs {
		first.keep |= 1 << w.cpu.lr
	}

	origin := codeValue{kind: valueOrigin}
	first.regs[w.cpu.arch.SP] = origin

	return &codeReader{w: w, m: m, todo: []codePlace{{start, first}}, seen: map[uint64]bool{}, origin: origin}
}

// read follows the control flow to its end.
func (c *codeReader) read() codeFrame {
	for len(c.todo) > 0 && !c.done {
		at := c.todo[0]
		c.todo = c.todo[1:]
		for !c.seen[at.pc] && c.step(&at) {
		}
	}
	if !c.done && !c.weak {
		c.out.err = errNotReached
	}
	return c.out
}

// step decodes one instruction and advances at to the next one. It returns false at the end
// of the path.
func (c *codeReader) step(at *codePlace) bool {
	w, s, e := c.w, &at.state, &c.effect
	if len(c.seen) == maxSteps || w.steps == 0 {
		return c.finish(codeFrame{err: errTooMuchCode})
	}

	w.steps--
	c.seen[at.pc] = true
	if c.exact && at.pc == c.pc {
		return c.finish(codeFrame{state: *s, reached: true})
	}

	*e = effect{ops: e.ops[:0]}
	// Bytes that are missing or no instruction end this path.
	if code := w.code(at.pc, 16); code == nil || !c.m.step(code, at.pc, e) {
		c.keepWeak(s)
		return false
	}

	next := at.pc + e.size
	if e.flow == flowCall && !c.exact && next == c.pc {
		return c.finish(codeFrame{state: *s, reached: true})
	}

	// The CPU may skip the instruction, so its effect is only a possible one.
	if s.guards > 0 {
		s.guards--
		e.skippable()
	}
	if e.flow == flowTable || e.table {
		c.keepWeak(s)
	}
	if c.isTail(s, e) {
		return c.finish(codeFrame{reached: true})
	}
	if w.beginsFrame(s, e.ops) {
		return false // the call before does not return
	}

	s.apply(e.ops)
	if e.guards > 0 {
		s.guards = e.guards
	}

	switch e.flow {
	case flowCall:
		s.set(w.cpu.lr, codeValue{kind: valueUnknown})
	case flowBranch:
		c.todo = append(c.todo, codePlace{e.target, *s})
	case flowJump:
		next = e.target
	}

	at.pc = next
	return e.flow < flowTable
}

// finish ends the reading with a result.
func (c *codeReader) finish(out codeFrame) bool {
	c.out, c.done = out, true
	return false
}

// keepWeak keeps the first state after a prologue, for the case that no path leads
// to the frame's instruction.
func (c *codeReader) keepWeak(s *codeState) {
	if !c.weak && (len(s.saved) > 0 || s.get(c.w.cpu.arch.SP) != c.origin) {
		c.out.state, c.weak = *s, true
	}
}

// skippable turns e into the effect of an instruction that the CPU may skip: no
// register is known to change, and the next instruction may follow.
func (e *effect) skippable() {
	e.ops = e.ops[:0]
	e.table = e.flow == flowTable
	switch {
	case e.flow == flowJump:
		e.flow = flowBranch
	case e.flow >= flowTable:
		e.flow = flowNext
	}
}

// beginsFrame reports whether an instruction pushes the link register although a
// call has overwritten the link register: another function's prologue.
func (w *walker) beginsFrame(s *codeState, ops []frameOp) bool {
	lr, pushes := w.cpu.lr, false
	if lr == RegPC || s.get(lr).kind != valueUnknown {
		return false
	}

	for _, op := range ops {
		switch {
		case op.kind == opMove && op.reg == w.cpu.arch.SP && op.n < 0:
			pushes = true
		case pushes && op.kind == opStore && op.reg == lr:
			return true
		}
	}
	return false
}

// stepsOfStack bounds the instructions that are read for one stack.
func (w *walker) stepsOfStack() int {
	return min(maxStepsOne, max(minStepsOne, maxStepsAll/max(1, len(w.p.Threads))))
}
