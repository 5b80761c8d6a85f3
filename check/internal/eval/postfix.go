package eval

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"symkit/cfi"
)

// ConstantError finds divisions by zero and alignments that do not depend on
// any register.
func (p *program) ConstantError() error {
	// Only the divisor or alignment in front of the operator matters.
	for i, o := range p.ops {
		if o.kind != opArith || i == 0 || p.ops[i-1].kind != opNum {
			continue
		}
		if _, err := arith(o.arith, 0, p.ops[i-1].num); err != nil {
			return err
		}
	}
	return nil
}

// STACK CFI rules are in postfix notation: integers, registers, `.cfa`, `.undef`, and the operators
// + - * / % @ ^ (align down, load a word). Arithmetic wraps at the machine's word, as in Breakpad's
// walkers.

// Reasons why a rule does not evaluate.
var (
	ErrToken     = errors.New("unknown register or token")
	ErrStack     = errors.New("operator without operands")
	errLeft      = errors.New("does not leave exactly one value")
	errDivide    = errors.New("divides by zero")
	errAlign     = errors.New("aligns to what is no power of two")
	ErrSelfCFA   = errors.New(".cfa refers to itself")
	errUndefined = errors.New("undefined")
	errDeep      = errors.New("needs more than 64 values")
)

// maxValues bounds the number of values on the stack.
const maxValues = 64

// opKind is the kind of an op.
type opKind uint8

const (
	opNum opKind = iota
	opReg
	opPC
	opCFA
	opUndef
	opArith
)

// op is one token of a rule.
type op struct {
	kind  opKind
	arith byte   // opArith
	num   uint64 // of opNum the value, of opReg the register
}

// program is one parsed rule. Err is the reason why it can never be evaluated, nil if it can.
type program struct {
	ops     []op
	Err     error
	UsesPC  bool
	UsesCFA bool // refers to .cfa
	undef   bool // has .undef
}

// parsePostfix parses the expression of one rule. The depth of the stack depends on the tokens
// alone, so that it is verified here, not in Eval.
func parsePostfix(arch *Arch, expr string) *program {
	p := &program{}

	// depth is the number of values on the stack.
	depth := 0
	for token := range strings.FieldsSeq(expr) {
		o, ok := arch.token(token)
		if !ok {
			p.Err = fmt.Errorf("%w %q", ErrToken, token)
			return p
		}

		p.ops = append(p.ops, o)
		p.UsesPC = p.UsesPC || o.kind == opPC
		p.UsesCFA = p.UsesCFA || o.kind == opCFA
		p.undef = p.undef || o.kind == opUndef
		switch {
		case o.kind != opArith:
			depth++
		case o.arith == '^' && depth >= 1:
		case o.arith != '^' && depth >= 2:
			depth--
		default:
			p.Err = ErrStack
			return p
		}

		if depth > maxValues {
			p.Err = errDeep
			return p
		}
	}

	if depth != 1 {
		p.Err = errLeft
	}
	return p
}

// token parses one token, in rust-minidump's order of precedence.
func (a *Arch) token(t string) (op, bool) {
	if len(t) == 1 && strings.IndexByte("+-*/%@^", t[0]) >= 0 {
		return op{kind: opArith, arith: t[0]}, true
	}
	switch t {
	case ".cfa":
		return op{kind: opCFA}, true
	case ".undef":
		return op{kind: opUndef}, true
	}
	if t == a.PC {
		return op{kind: opPC}, true
	}

	// Register names come before integers.
	if r, ok := a.regs[t]; ok {
		return op{kind: opReg, num: uint64(r)}, true
	}
	if v, err := strconv.ParseInt(t, 10, 64); err == nil {
		return op{kind: opNum, num: uint64(v)}, true
	}
	return op{}, false
}

// Eval evaluates p on m. Its error is one of those declared above.
func (p *program) Eval(m *Machine, cfa uint64) (uint64, error) {
	if p.Err != nil {
		return 0, p.Err
	}
	var stack [maxValues]uint64

	// parsePostfix has verified that each operator has its operands.
	n := 0
	for _, o := range p.ops {
		switch o.kind {
		case opNum:
			stack[n] = o.num & m.Mask
		case opReg:
			stack[n] = m.Reg(cfi.Reg(o.num))
		case opPC:
			stack[n] = m.PC
		case opCFA:
			stack[n] = cfa
		case opUndef:
			return 0, errUndefined
		case opArith:
			if o.arith == '^' {
				stack[n-1] = m.word(stack[n-1])
				continue
			}

			// The result replaces both operands.
			v, err := arith(o.arith, stack[n-2], stack[n-1])
			if err != nil {
				return 0, err
			}
			n--
			stack[n-1] = v & m.Mask
			continue
		}
		n++
	}
	return stack[0], nil
}

// arith applies an operator to two values.
func arith(op byte, a, b uint64) (uint64, error) {
	switch op {
	case '+':
		return a + b, nil
	case '-':
		return a - b, nil
	case '*':
		return a * b, nil

	case '@':
		if b == 0 || b&(b-1) != 0 {
			return 0, errAlign
		}
		return a &^ (b - 1), nil
	}
	if b == 0 {
		return 0, errDivide
	}
	if op == '/' {
		return a / b, nil
	}
	return a % b, nil
}
