package walk

import (
	"errors"
	"math/bits"
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
	name []byte
	err  error // of using it as a value
}

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
	vars   []variable // assigned with =, or given by STACK WIN
	lost   uint64     // the address of the word that the last ErrMemory is about

	stack [maxOperands]operand
	n     int
}

type variable struct {
	name []byte
	v    uint64
	err  error
}

// eval computes the one value of an expression.
func (e *evaluator) eval(expr []byte) (uint64, error) {
	if err := e.run(expr); err != nil {
		return 0, err
	}
	if e.n != 1 {
		return 0, ErrOperands
	}
	top := e.stack[0]
	return e.cpu.narrow(top.v), top.err
}

// run executes the tokens of expr and leaves their results on the stack.
func (e *evaluator) run(expr []byte) error {
	e.n = 0
	for {
		for len(expr) > 0 && expr[0] <= ' ' {
			expr = expr[1:]
		}
		if len(expr) == 0 {
			return nil
		}
		n := 0
		for n < len(expr) && expr[n] > ' ' {
			n++
		}
		tok := expr[:n]
		expr = expr[n:]
		if len(tok) > 1 && tok[0] == '=' { // "=$x" is "=" and "$x"
			if err := e.token(tok[:1]); err != nil {
				return err
			}
			tok = tok[1:]
		}
		if err := e.token(tok); err != nil {
			return err
		}
	}
}

func (e *evaluator) token(tok []byte) error {
	if len(tok) == 1 {
		switch tok[0] {
		case '+', '-', '*', '/', '%', '@':
			return e.binary(tok[0])
		case '^':
			return e.deref()
		case '=':
			return e.assign()
		}
	}

	if v, ok := number(tok); ok {
		return e.push(operand{v: v})
	}
	switch c := tok[0]; {
	case c == '$' || c == '.' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_':
		return e.push(e.lookup(tok))
	}
	return ErrToken
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
func (e *evaluator) lookup(name []byte) operand {
	for i := range e.vars {
		if v := &e.vars[i]; string(v.name) == string(name) {
			return operand{v.v, name, v.err}
		}
	}
	if string(name) == ".cfa" && e.hasCFA {
		return operand{e.cfa, name, nil}
	}

	if slot, ok := e.cpu.slots[string(name)]; ok {
		if v, ok := e.regs.Get(slot); ok {
			return operand{v, name, nil}
		}
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

func (e *evaluator) binary(op byte) error {
	args, err := e.pop(2)
	if err != nil {
		return err
	}

	a, b := e.cpu.narrow(args[0].v), e.cpu.narrow(args[1].v)
	switch op {
	case '+':
		a += b
	case '-':
		a -= b
	case '*':
		a *= b
	case '/', '%':
		if b == 0 {
			return ErrDivision
		}
		if op == '/' {
			a /= b
		} else {
			a %= b
		}
	case '@':
		if bits.OnesCount64(b) != 1 {
			return ErrAlign
		}
		a &^= b - 1
	}
	return e.push(operand{v: e.cpu.narrow(a)})
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
	return e.push(operand{v: v})
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
	if target.name == nil || target.name[0] != '$' && target.name[0] != '.' {
		return ErrToken
	}
	if value.err != nil && string(value.name) != ".undef" {
		return value.err
	}
	return e.setVar(target.name, e.cpu.narrow(value.v), value.err)
}

func (e *evaluator) setVar(name []byte, v uint64, err error) error {
	for i := range e.vars {
		if string(e.vars[i].name) == string(name) {
			e.vars[i].v, e.vars[i].err = v, err
			return nil
		}
	}
	if len(e.vars) == maxVars {
		return ErrOperands
	}

	e.vars = append(e.vars, variable{name, v, err})
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
