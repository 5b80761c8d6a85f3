package walk

import (
	"errors"
	"math/bits"
	"slices"
	"strconv"

	"symkit/internal/wire"
)

// Reasons that a rule has no value.
var (
	// ErrUndefined: .undef, or a register or name that has no value.
	ErrUndefined = errors.New("undefined value")
	// ErrToken: a token that is no number, operator or name.
	ErrToken = errors.New("malformed token")
	// ErrOperands: an operator with too few operands, values left over, or
	// more than the evaluator's stack holds.
	ErrOperands = errors.New("wrong number of operands")
	// ErrDivision: division by zero.
	ErrDivision = errors.New("division by zero")
	// ErrAlign: alignment (@) to a number that is no power of two.
	ErrAlign = errors.New("alignment is not a power of two")
	// ErrMemory: a word that the dump does not have.
	ErrMemory = errors.New("unreadable memory")
)

// maxOperands bounds the evaluator's stack, maxVars the variables of a
// program string.
const (
	maxOperands = 64
	maxVars     = 128
)

// operand is a value, or a name that an assignment can be made to.
type operand struct {
	v    uint64
	name int   // the number of the name in the program, or noName
	err  error // of using it as a value
}

const noName = -1

// evaluator computes postfix expressions in the width of the machine
// (reference: Breakpad's symbol_files.md, "STACK CFI records", "STACK WIN").
type evaluator struct {
	cpu  *cpu
	mem  Memory
	big  bool
	regs *Registers
	// cfa is the value of .cfa if hasCFA.
	cfa    uint64
	hasCFA bool
	lost   uint64 // the address of the word that the last ErrMemory is about
	p      *program
	vars   []variable // by the number of the name: assigned with =, or given by STACK WIN
	set    int        // variables that have been assigned

	stack [maxOperands]operand
	n     int
}

type variable struct {
	v   uint64
	err error
	set bool
}

// begin prepares for the rules of p. The variables that a rule assigns are seen by later ones.
func (e *evaluator) begin(p *program, r *Registers) {
	e.p, e.regs, e.hasCFA, e.set = p, r, false, 0
	e.vars = slices.Grow(e.vars[:0], len(p.names))[:len(p.names)]
	clear(e.vars)
}

// eval computes the one value of an expression of the program.
func (e *evaluator) eval(terms []term) (uint64, error) {
	if err := e.run(terms); err != nil {
		return 0, err
	}
	if e.n != 1 {
		return 0, ErrOperands
	}
	top := e.stack[0]
	return e.cpu.narrow(top.v), top.err
}

// run executes terms and leaves their results on the stack.
func (e *evaluator) run(terms []term) error {
	e.n = 0
	for i := range terms {
		if err := e.step(&terms[i]); err != nil {
			return err
		}
	}
	return nil
}

func (e *evaluator) step(t *term) error {
	switch t.op {
	case termNumber:
		return e.push(operand{v: t.v, name: noName})
	case termName:
		return e.push(e.lookup(t))
	case '^':
		return e.deref()
	case '=':
		return e.assign()
	case termBad:
		return ErrToken
	case termMany:
		return ErrTerms
	case termFull:
		return ErrOperands
	}

	args, err := e.pop(2)
	if err != nil {
		return err
	}
	v, err := e.binary(t.op, args[0].v, args[1].v)
	if err != nil {
		return err
	}
	return e.push(operand{v: v, name: noName})
}

func (e *evaluator) push(o operand) error {
	if e.n == maxOperands {
		return ErrOperands
	}
	e.stack[e.n] = o
	e.n++
	return nil
}

// lookup returns the value of a name: a variable, .cfa or a register.
func (e *evaluator) lookup(t *term) operand {
	name := int(t.v)
	if v := &e.vars[name]; v.set {
		return operand{v.v, name, v.err}
	}
	if e.hasCFA && string(e.p.names[name]) == ".cfa" {
		return operand{e.cfa, name, nil}
	}
	if v, ok := e.regs.Get(t.slot); ok {
		return operand{v, name, nil}
	}
	return operand{0, name, ErrUndefined}
}

// pop takes n values off the stack.
func (e *evaluator) pop(n int) ([]operand, error) {
	if e.n < n {
		return nil, ErrOperands
	}
	// An undefined operand makes the result undefined.
	e.n -= n
	args := e.stack[e.n:][:n]
	for _, a := range args {
		if a.err != nil {
			return nil, a.err
		}
	}
	return args, nil
}

// binary computes a op b.
func (e *evaluator) binary(op byte, a, b uint64) (uint64, error) {
	a, b = e.cpu.narrow(a), e.cpu.narrow(b)
	switch op {
	case '+':
		a += b
	case '-':
		a -= b
	case '*':
		a *= b
	case '/', '%':
		if b == 0 {
			return 0, ErrDivision
		}
		if op == '/' {
			a /= b
		} else {
			a %= b
		}
	case '@':
		if bits.OnesCount64(b) != 1 {
			return 0, ErrAlign
		}
		a &^= b - 1
	}
	return e.cpu.narrow(a), nil
}

func (e *evaluator) deref() error {
	args, err := e.pop(1)
	if err != nil {
		return err
	}
	at := e.cpu.narrow(args[0].v)
	v, ok := e.word(at)
	if !ok {
		e.lost = at
		return ErrMemory
	}
	return e.push(operand{v: v, name: noName})
}

// word reads the machine's word at addr.
func (e *evaluator) word(addr uint64) (uint64, bool) {
	return readWord(e.mem, addr, e.cpu.arch.WordSize, e.big)
}

func readWord(mem Memory, addr uint64, size int, big bool) (uint64, bool) {
	b := mem.Bytes(addr, uint64(size))
	if len(b) < size {
		return 0, false
	}
	c := wire.New("", b, big)
	return c.Uint(size), true
}

// assign assigns the topmost value, which can be .undef, to the name below it on the stack.
func (e *evaluator) assign() error {
	if e.n < 2 {
		return ErrOperands
	}
	e.n -= 2
	target, value := e.stack[e.n], e.stack[e.n+1]
	if target.name == noName {
		return ErrToken
	}
	name := e.p.names[target.name]
	if name[0] != '$' && name[0] != '.' {
		return ErrToken
	}
	if value.err != nil && (value.name == noName || string(e.p.names[value.name]) != ".undef") {
		return value.err
	}
	return e.setVar(target.name, e.cpu.narrow(value.v), value.err)
}

// setVar assigns to the variable with a number.
func (e *evaluator) setVar(name int, v uint64, err error) error {
	if !e.vars[name].set {
		if e.set == maxVars {
			return ErrOperands
		}
		e.set++
	}
	e.vars[name] = variable{v, err, true}
	return nil
}

// number reads a decimal integer, or a hexadecimal one after 0x, with a sign.
func number(tok []byte) (v uint64, ok bool) {
	digits, negative := tok, false
	if tok[0] == '-' || tok[0] == '+' {
		digits, negative = tok[1:], tok[0] == '-'
	}
	if len(digits) == 0 || digits[0] < '0' || digits[0] > '9' {
		return 0, false // a name, and no error is to be allocated for it
	}

	base := 10
	if len(digits) > 2 && digits[0] == '0' && digits[1]|0x20 == 'x' {
		digits, base = digits[2:], 16
	}

	v, err := strconv.ParseUint(string(digits), base, 64)
	if negative {
		v = -v
	}
	return v, err == nil
}
