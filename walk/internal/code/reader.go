package code

import (
	"errors"

	"symkit/cfi"
)

// Limits of reading code.
const (
	maxSteps    = 1 << 14 // instructions of one function
	maxStepsAll = 1 << 25 // instructions for all frames of all stacks
	maxStepsOne = 1 << 21 // instructions for all frames of one stack
	minStepsOne = 1 << 13 // instructions that each stack may use, however many there are
	maxSaved    = 32      // registers that a function saves
	maxKept     = 1 << 12 // results that a Reader keeps
)

// Reasons that a frame's state is not known.
var (
	ErrNothing    = errors.New("nothing to go by") // no code, or no decoder for it
	ErrNotReached = errors.New("the code does not lead to the instruction")
	errTooMuch    = errors.New("read too much code")
)

// Memory is the memory of a process. Bytes returns nil when not all bytes are known.
type Memory interface {
	Bytes(addr, n uint64) []byte
}

// Bytes returns n bytes of code at addr, or as many as m has.
func Bytes(m Memory, addr, n uint64) []byte {
	for ; n > 0; n-- {
		if b := m.Bytes(addr, n); b != nil {
			return b
		}
	}
	return nil
}

// Machine are the registers of a machine that matter for frames.
type Machine struct {
	SP    cfi.Reg
	LR    cfi.Reg   // the link register that calls write, or None
	Saved []cfi.Reg // those that calls preserve
}

// Reader reads the functions of a stack's frames, and keeps the results: a recursive function
// has many frames at one place.
type Reader struct {
	memory Memory
	Machine
	steps  int // instructions that may still be read
	frames map[frameKey]Frame
	tails  map[tailKey]bool
}

// frameKey has the values that determine a Frame.
type frameKey struct {
	start, pc uint64
	exact     bool
}

// tailKey has a function that was called, and one that it may have jumped to.
type tailKey struct{ called, reached uint64 }

// NewReader returns a Reader for code in memory. Reset must be called before the first use.
func NewReader(memory Memory, machine Machine) *Reader {
	return &Reader{memory: memory, Machine: machine, frames: map[frameKey]Frame{}, tails: map[tailKey]bool{}}
}

// Reset forgets all results, for one of a number of stacks that share the bound on instructions.
func (r *Reader) Reset(stacks int) {
	r.steps = min(maxStepsOne, max(minStepsOne, maxStepsAll/max(1, stacks)))
	clear(r.frames)
	clear(r.tails)
}

// Frame is the state of a frame at an instruction.
type Frame struct {
	State State
	Err   error
	// Reached reports whether the control flow leads to the instruction. Otherwise
	// the state is that at the first jump with an unknown target, or before the
	// first bytes that cannot be decoded, after a prologue.
	Reached bool
}

// Frame follows the code from start until the frame's instruction, or, if pc is not exact but
// a return address, the call before pc. d may be nil.
func (r *Reader) Frame(d Decoder, start, pc uint64, exact bool) Frame {
	key := frameKey{start, pc, exact}
	f, ok := r.frames[key]
	if ok {
		return f
	}
	if len(r.frames) == maxKept {
		clear(r.frames)
	}
	f.Err = ErrNothing
	if d != nil && Bytes(r.memory, start, 16) != nil {
		f = (&flow{r: r, decoder: d, pc: pc, exact: exact}).read(start)
	}
	r.frames[key] = f
	return f
}

// JumpsTo reports whether the function at start may end in a jump to another function: it has
// such a jump, or a jump through a register or memory, after it has given its frame back.
func (r *Reader) JumpsTo(d Decoder, start, function uint64) bool {
	key := tailKey{start, function}
	ok, known := r.tails[key]
	if known {
		return ok
	}
	if d != nil && Bytes(r.memory, start, 16) != nil {
		ok = (&flow{r: r, decoder: d, pc: ^uint64(0), exact: true, tail: function}).read(start).Reached
	}
	if len(r.tails) == maxKept {
		clear(r.tails)
	}
	r.tails[key] = ok
	return ok
}

// flow follows the control flow of one function.
type flow struct {
	r       *Reader
	decoder Decoder
	pc      uint64 // of the frame
	exact   bool   // pc is the instruction itself, no return address
	tail    uint64 // a function that the code may jump to at its end; 0: not asked for

	todo   []place // branch targets to follow
	seen   map[uint64]bool
	effect effect
	out    Frame
	done   bool // out is final
	weak   bool // out has a state after a prologue
}

// place is an instruction to decode, and the state before it.
type place struct {
	pc    uint64
	state State
}

// origin is the value of the stack pointer on entry.
var origin = Value{Kind: Origin}

// read follows the control flow from start to its end.
func (c *flow) read(start uint64) Frame {
	// Only the registers that calls preserve and the link register help to find the caller.
	first := State{}
	for _, reg := range c.r.Saved {
		first.keep |= 1 << reg
	}
	if c.r.LR < codeRegs {
		first.keep |= 1 << c.r.LR
	}
	first.regs[c.r.SP] = origin

	c.todo, c.seen = []place{{start, first}}, map[uint64]bool{}
	for len(c.todo) > 0 && !c.done {
		at := c.todo[0]
		c.todo = c.todo[1:]
		for !c.seen[at.pc] && c.step(&at) {
		}
	}
	if !c.done && !c.weak {
		c.out.Err = ErrNotReached
	}
	return c.out
}

// step decodes one instruction and advances at to the next one. It returns false at the end
// of the path.
func (c *flow) step(at *place) bool {
	s, e := &at.state, &c.effect
	if len(c.seen) == maxSteps || c.r.steps == 0 {
		return c.finish(Frame{Err: errTooMuch})
	}

	c.r.steps--
	c.seen[at.pc] = true
	if c.exact && at.pc == c.pc {
		return c.finish(Frame{State: *s, Reached: true})
	}

	*e = effect{ops: e.ops[:0]}
	// Bytes that are missing or no instruction end this path.
	if code := Bytes(c.r.memory, at.pc, 16); code == nil || !c.decoder.step(code, at.pc, e) {
		c.keepWeak(s)
		return false
	}

	next := at.pc + e.size
	if e.flow == flowCall && !c.exact && next == c.pc {
		return c.finish(Frame{State: *s, Reached: true})
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
		return c.finish(Frame{Reached: true})
	}
	if c.beginsFrame(s, e.ops) {
		return false // the call before does not return
	}

	s.apply(e.ops)
	if e.guards > 0 {
		s.guards = e.guards
	}

	switch e.flow {
	case flowCall:
		s.set(c.r.LR, Value{Kind: Unknown})
	case flowBranch:
		c.todo = append(c.todo, place{e.target, *s})
	case flowJump:
		next = e.target
	}

	at.pc = next
	return e.flow < flowTable
}

// finish ends the reading with a result.
func (c *flow) finish(out Frame) bool {
	c.out, c.done = out, true
	return false
}

// keepWeak keeps the first state after a prologue, for the case that no path leads
// to the frame's instruction.
func (c *flow) keepWeak(s *State) {
	if !c.weak && (len(s.Saved) > 0 || s.Get(c.r.SP) != origin) {
		c.out.State, c.weak = *s, true
	}
}

// isTail reports whether an instruction is a jump to c.tail, or to an unknown address, of
// a function that has given its frame back.
func (c *flow) isTail(s *State, e *effect) bool {
	lr := c.r.LR
	switch {
	case c.tail == 0, s.Get(c.r.SP) != origin, lr != None && s.Get(lr).Kind != Entry:
		return false
	case e.flow == flowJump, e.flow == flowBranch:
		return e.target == c.tail
	}
	return e.flow == flowTable || e.table
}

// beginsFrame reports whether an instruction pushes the link register although a
// call has overwritten the link register: another function's prologue.
func (c *flow) beginsFrame(s *State, ops []frameOp) bool {
	lr, pushes := c.r.LR, false
	if lr == None || s.Get(lr).Kind != Unknown {
		return false
	}

	for _, op := range ops {
		switch {
		case op.kind == opMove && op.reg == c.r.SP && op.n < 0:
			pushes = true
		case pushes && op.kind == opStore && op.reg == lr:
			return true
		}
	}
	return false
}
