package rules

import (
	"errors"
	"math/bits"
	"slices"
	"strconv"

	"symkit/walk/internal/cpu"
)

// Reasons that a rule has no value.
var (
	// ErrUndefined: .undef, or a register or name that has no value.
	ErrUndefined = errors.New("undefined value")
	// errToken: a token that is no number, operator or name.
	errToken = errors.New("malformed token")
	// errOperands: an operator with too few operands, values left over, or
	// more than the Evaluator's stack holds.
	errOperands = errors.New("wrong number of operands")
	// errDivision: division by zero.
	errDivision = errors.New("division by zero")
	// errAlign: alignment (@) to a number that is no power of two.
	errAlign = errors.New("alignment is not a power of two")
)

// maxOperands bounds the Evaluator's stack, maxVars the variables of a
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

// Evaluator computes postfix expressions in the width of the machine
// (reference: Breakpad's symbol_files.md, "STACK CFI records", "STACK WIN").
type Evaluator struct {
	*cpu.Stack
	regs *cpu.Registers
	// CFA is the value of .cfa if hasCFA.
	CFA    uint64
	hasCFA bool
	Lost   uint64 // the address of the word that the last ErrMemory is about
	p      *Program
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

// Begin prepares for the rules of p. The variables that a rule assigns are seen by later ones.
func (e *Evaluator) Begin(p *Program, r *cpu.Registers) {
	e.p, e.regs, e.hasCFA, e.set = p, r, false, 0
	e.vars = slices.Grow(e.vars[:0], len(p.names))[:len(p.names)]
	clear(e.vars)
}

// Eval computes the one value of a rule of the program.
func (e *Evaluator) Eval(r *Rule) (uint64, error) {
	if err := e.run(r.terms); err != nil {
		return 0, err
	}
	if e.n != 1 {
		return 0, errOperands
	}
	top := e.stack[0]
	return e.Narrow(top.v), top.err
}

// SetCFA gives .cfa a value, which later rules can refer to.
func (e *Evaluator) SetCFA(v uint64) { e.CFA, e.hasCFA = v, true }

// RunWin runs the program string of a STACK WIN record. given are the values of winGiven.
func (e *Evaluator) RunWin(given [len(winGiven)]uint64) error {
	for i, v := range given {
		err := e.setVar(i, e.Narrow(v), nil)
		if err != nil {
			return err
		}
	}
	return e.run(e.p.Rules[0].terms)
}

// Assigned sets the registers that the program string assigned to; a register that it made
// undefined is unknown. It reports whether the program set the program counter.
func (e *Evaluator) Assigned(out *cpu.Registers) (pc bool) {
	for i := range e.vars {
		v := &e.vars[i]
		slot, ok := e.Slot(e.p.names[i])
		switch {
		case !ok || !v.set:
		case v.err != nil:
			out.Clear(slot)
		default:
			out.Set(slot, v.v)
			pc = pc || slot == cpu.RegPC
		}
	}
	return pc
}

// run executes terms and leaves their results on the stack.
func (e *Evaluator) run(terms []term) error {
	e.n = 0
	for i := range terms {
		if err := e.step(&terms[i]); err != nil {
			return err
		}
	}
	return nil
}

func (e *Evaluator) step(t *term) error {
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
		return errToken
	case termMany:
		return errTerms
	case termFull:
		return errOperands
	}

	args, err := e.pop(2)
	if err != nil {
		return err
	}
	v, err := combine(e.CPU, t.op, args[0].v, args[1].v)
	if err != nil {
		return err
	}
	return e.push(operand{v: v, name: noName})
}

func (e *Evaluator) push(o operand) error {
	if e.n == maxOperands {
		return errOperands
	}
	e.stack[e.n] = o
	e.n++
	return nil
}

// lookup returns the value of a name: a variable, .cfa or a register.
func (e *Evaluator) lookup(t *term) operand {
	name := int(t.v)
	if v := &e.vars[name]; v.set {
		return operand{v.v, name, v.err}
	}
	if e.hasCFA && string(e.p.names[name]) == ".cfa" {
		return operand{e.CFA, name, nil}
	}
	if v, ok := e.regs.Get(t.slot); ok {
		return operand{v, name, nil}
	}
	return operand{0, name, ErrUndefined}
}

// pop takes n values off the stack.
func (e *Evaluator) pop(n int) ([]operand, error) {
	if e.n < n {
		return nil, errOperands
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

// combine computes a op b.
func combine(c *cpu.CPU, op byte, a, b uint64) (uint64, error) {
	a, b = c.Narrow(a), c.Narrow(b)
	switch op {
	case '+':
		a += b
	case '-':
		a -= b
	case '*':
		a *= b
	case '/', '%':
		if b == 0 {
			return 0, errDivision
		}
		if op == '/' {
			a /= b
		} else {
			a %= b
		}
	case '@':
		if bits.OnesCount64(b) != 1 {
			return 0, errAlign
		}
		a &^= b - 1
	}
	return c.Narrow(a), nil
}

func (e *Evaluator) deref() error {
	args, err := e.pop(1)
	if err != nil {
		return err
	}
	at := e.Narrow(args[0].v)
	v, ok := e.Word(at)
	if !ok {
		e.Lost = at
		return cpu.ErrMemory
	}
	return e.push(operand{v: v, name: noName})
}

// assign assigns the topmost value, which can be .undef, to the name below it on the stack.
func (e *Evaluator) assign() error {
	if e.n < 2 {
		return errOperands
	}
	e.n -= 2
	target, value := e.stack[e.n], e.stack[e.n+1]
	if target.name == noName {
		return errToken
	}
	name := e.p.names[target.name]
	if name[0] != '$' && name[0] != '.' {
		return errToken
	}
	if value.err != nil && (value.name == noName || string(e.p.names[value.name]) != ".undef") {
		return value.err
	}
	return e.setVar(target.name, e.Narrow(value.v), value.err)
}

// setVar assigns to the variable with a number.
func (e *Evaluator) setVar(name int, v uint64, err error) error {
	if !e.vars[name].set {
		if e.set == maxVars {
			return errOperands
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
