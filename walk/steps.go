package walk

import (
	"errors"
	"slices"

	"symkit/cfi"
)

// Reading machine code. A function that has neither unwind rules nor a frame
// record still tells in its instructions where its frame is: follow the control
// flow from the function's first instruction to the frame's program counter,
// and note what each instruction on the way does to the stack pointer, and
// which registers it saves. Every register is either unknown, what it was on
// entry, a constant, or at a known distance from the stack pointer on entry
// (its origin). Compilers keep that distance the same on all paths to an
// instruction, so that the first path found is as good as any.

// flow is where an instruction continues.
type flow uint8

const (
	flowNext   flow = iota
	flowJump        // only at the target
	flowBranch      // at the target, too
	flowCall        // after a call
	flowTable       // at an address that is not known: a jump table, a tail call
	flowEnd         // nowhere: a return, a trap
)

// effect is what one instruction does to a frame.
type effect struct {
	size   uint64 // in bytes
	flow   flow
	target uint64 // of a jump
	ops    []frameOp
	// guards is how many instructions from the next one on may be skipped (Thumb's IT).
	guards int
}

// frameOp is one change of a register or of the stack.
type frameOp struct {
	kind frameOpKind
	reg  cfi.Reg
	base cfi.Reg
	n    int64
}

type frameOpKind uint8

const (
	opMove  frameOpKind = iota // reg = base + n
	opConst                    // reg = n
	opSub                      // reg -= base
	opStore                    // memory at base + n = reg
	opLoad                     // reg = memory at base + n
	opLose                     // reg is unknown
)

// stepper is a machine whose code can be read.
type stepper interface {
	// step decodes the instruction at the beginning of code, which is at pc. It
	// returns false for bytes that are no instruction of the machine.
	step(code []byte, pc uint64, e *effect) bool
}

// codeValue is what is known of a register.
type codeValue struct {
	kind valueKind
	n    int64
}

type valueKind uint8

const (
	valueEntry   valueKind = iota // what the register was on entry
	valueUnknown                  //
	valueOrigin                   // the stack pointer on entry, plus n
	valueConst                    // n
)

// codeRegs is the number of general registers that are followed.
const codeRegs = 32

// codeState is what is known before an instruction.
type codeState struct {
	regs  [codeRegs]codeValue
	saved []savedReg
	// keep is the set of registers whose places are of interest.
	keep uint64
	// guards is how many instructions from here on may be skipped.
	guards int
}

// savedReg is a register whose value on entry is at an offset from the origin.
type savedReg struct {
	reg cfi.Reg
	at  int64
}

// Limits of reading code: instructions of one function, for all frames of a
// stack (which the threads share, but for some), registers that a function saves,
// results that a walker keeps.
const (
	maxSteps    = 1 << 14
	maxStepsAll = 1 << 25
	maxStepsOne = 1 << 21
	minStepsOne = 1 << 13
	maxSaved    = 32
	maxCodeKept = 1 << 12
)

// codeFrame is what the code of a function told of its frame at an instruction.
type codeFrame struct {
	state codeState
	err   error
	// reached: the control flow leads to the instruction. Otherwise the state is
	// that at the first jump with an unknown target, or before the first bytes
	// that cannot be decoded, after a prologue.
	reached bool
}

var (
	errNotReached  = errors.New("the code does not lead to the instruction")
	errNoOrigin    = errors.New("the distance from the stack pointer to the frame is not known")
	errNoReturn    = errors.New("the place of the return address is not known")
	errNothing     = errors.New("nothing to go by") // of no interest to anybody
	errOtherCall   = errors.New("the return address follows a call of another function")
	errTooMuchCode = errors.New("read too much code")
)

// apply changes s as an instruction does.
func (s *codeState) apply(ops []frameOp) {
	for _, op := range ops {
		base := s.get(op.base)
		switch op.kind {
		case opMove:
			if base.kind == valueEntry && (op.n != 0 || op.reg != op.base) {
				base.kind = valueUnknown
			}
			base.n += op.n
			s.set(op.reg, base)
		case opConst:
			s.set(op.reg, codeValue{valueConst, op.n})
		case opSub:
			v := s.get(op.reg)
			if v.kind != valueOrigin || base.kind != valueConst {
				v.kind = valueUnknown
			}
			v.n -= base.n
			s.set(op.reg, v)
		case opStore:
			if base.kind == valueOrigin {
				s.store(op.reg, base.n+op.n)
			}
		case opLoad:
			v := codeValue{kind: valueUnknown}
			if base.kind == valueOrigin && s.savedAt(op.reg, base.n+op.n) {
				v.kind = valueEntry
			}
			s.set(op.reg, v)
		case opLose:
			s.set(op.reg, codeValue{kind: valueUnknown})
		}
	}
}

func (s *codeState) get(r cfi.Reg) codeValue {
	if r < codeRegs {
		return s.regs[r]
	}
	return codeValue{kind: valueUnknown}
}

func (s *codeState) set(r cfi.Reg, v codeValue) {
	if r < codeRegs {
		s.regs[r] = v
	}
}

// store notes that reg is saved, if its value is still that on entry. From
// there on the register itself may hold anything: not every instruction that
// changes one is decoded, and none does before the register is saved.
func (s *codeState) store(reg cfi.Reg, at int64) {
	if s.get(reg).kind != valueEntry || s.keep>>reg&1 == 0 || len(s.saved) == maxSaved {
		return
	}
	s.set(reg, codeValue{kind: valueUnknown})
	for i, have := range s.saved {
		if have.reg == reg { // another path's, or the same again
			s.saved = slices.Clone(s.saved)
			s.saved[i].at = at
			return
		}
	}
	s.saved = append(s.saved[:len(s.saved):len(s.saved)], savedReg{reg, at})
}

func (s *codeState) savedAt(reg cfi.Reg, at int64) bool {
	for _, have := range s.saved {
		if have == (savedReg{reg, at}) {
			return true
		}
	}
	return false
}

// readCode follows the code from start until it comes to pc, or, for a return
// address, to the call before pc.
func (w *walker) readCode(m stepper, start, pc uint64, exact bool) (out codeFrame) {
	type place struct {
		pc    uint64
		state codeState
	}
	first := codeState{}
	for _, reg := range w.saved {
		first.keep |= 1 << reg
	}
	if w.cpu.lr < codeRegs {
		first.keep |= 1 << w.cpu.lr
	}
	first.regs[w.cpu.arch.SP] = codeValue{kind: valueOrigin}
	var (
		todo = []place{{start, first}}
		seen = map[uint64]bool{}
		weak bool
		e    effect
	)
	give := func(s *codeState) {
		if !weak && (len(s.saved) > 0 || s.get(w.cpu.arch.SP) != first.get(w.cpu.arch.SP)) {
			out.state, weak = *s, true
		}
	}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		for s := &at.state; !seen[at.pc]; {
			if len(seen) == maxSteps || w.steps == 0 {
				out.err = errTooMuchCode
				return out
			}
			w.steps--
			seen[at.pc] = true
			if exact && at.pc == pc {
				return codeFrame{state: *s, reached: true}
			}
			e = effect{ops: e.ops[:0]}
			if code := w.code(at.pc, 16); code == nil || !m.step(code, at.pc, &e) {
				give(s)
				break
			}
			next := at.pc + e.size
			if e.flow == flowCall && !exact && next == pc {
				return codeFrame{state: *s, reached: true}
			}
			if s.guards > 0 {
				s.guards--
				e.ops = e.ops[:0]
				if e.flow == flowJump {
					e.flow = flowBranch
				} else if e.flow >= flowTable {
					e.flow = flowNext
				}
			}
			if e.flow == flowTable {
				give(s)
			}
			if w.beginsFrame(s, e.ops) {
				break // the call before does not return
			}
			s.apply(e.ops)
			if e.guards > 0 {
				s.guards = e.guards
			}
			if e.flow == flowCall && w.cpu.lr != RegPC {
				s.set(w.cpu.lr, codeValue{kind: valueUnknown})
			}
			if e.flow == flowBranch {
				todo = append(todo, place{e.target, *s})
			}
			if e.flow == flowJump {
				next = e.target
			}
			if e.flow >= flowTable {
				break
			}
			at.pc = next
		}
	}
	if !weak {
		out.err = errNotReached
	}
	return out
}

// beginsFrame reports whether an instruction pushes the link register although a
// call has overwritten it: another function's prologue.
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

// codeKey is what a codeFrame depends on.
type codeKey struct {
	start, pc uint64
	exact     bool
}

// byCode reads the function's code, if the control flow leads from its first
// instruction to the frame's.
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
	key := codeKey{f.Place.FuncAddr, f.PC, f.Exact}
	got, ok := w.codes[key]
	if !ok {
		if len(w.codes) == maxCodeKept {
			clear(w.codes)
		}
		if m := w.stepper(key.start); m != nil && w.code(key.start, 16) != nil {
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
		return out, notFound, errNothing // it was said before
	case reached && !got.reached:
		return out, notFound, errNotReached
	}
	out, v, err = w.codeCaller(f, r, &got.state)
	if v != notFound && reached && w.calls(out.PC, f) == isOther {
		return out, notFound, errOtherCall // a part of a function that is not its first, or a tail call
	}
	return out, v, err
}

// stepper reads the code at start, nil where that is of no use.
func (w *walker) stepper(start uint64) stepper {
	if m, ok := w.cpu.machine.(arm); ok && !w.p.BigEndian {
		return m.stepper(w.code(start, 64), start)
	}
	m, _ := w.cpu.machine.(stepper)
	return m
}

// codeCaller computes the caller's registers from what the code told.
func (w *walker) codeCaller(f *Frame, r *Registers, s *codeState) (out Registers, v verdict, err error) {
	origin, ok := w.origin(r, s)
	if !ok {
		return out, notFound, errNoOrigin
	}
	out = w.keepSaved(r)
	for _, reg := range w.saved {
		if s.get(reg).kind != valueEntry {
			out.Clear(reg)
		}
	}
	word, lr := uint64(w.cpu.arch.WordSize), w.cpu.lr
	hasRA := false
	if lr == RegPC { // x86 pushes it
		out.PC, hasRA = w.eval.word(origin)
		out.Set(w.cpu.arch.SP, w.cpu.narrow(origin+word))
	} else {
		out.Set(w.cpu.arch.SP, origin)
	}
	for _, saved := range s.saved {
		if s.get(saved.reg).kind == valueEntry {
			continue // it was restored
		}
		value, ok := w.eval.word(w.cpu.narrow(origin + uint64(saved.at)))
		if !ok {
			return out, notFound, ErrMemory
		}
		if saved.reg == lr {
			out.PC, hasRA = value, true
		} else {
			out.Set(saved.reg, value)
		}
	}
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
	if !w.returnsToCode(out.PC) && !w.generated(w.returnAddr(out.PC)) {
		return out, notFound, errNoCall
	}
	return out, v, nil
}

// origin is the stack pointer on entry: at a known distance from the stack
// pointer, else, where that moves freely, from the frame pointer or another
// register.
func (w *walker) origin(r *Registers, s *codeState) (uint64, bool) {
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
