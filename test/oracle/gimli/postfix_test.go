//go:build oracle

package gimli

import (
	"strconv"
	"strings"

	"symkit/cfi"
)

// randomState is the PC, and registers and memory as functions of a seed. The
// functions are those of scripts/oracles/cfieval.
type randomState struct {
	arch *cfi.Arch
	big  bool
	seed uint64
	pc   uint64
	// wide makes the arithmetic 64 bits wide on a 32-bit machine, as some readers do.
	wide bool
}

// random is the next number of splitmix64 after state x.
func random(x uint64) uint64 {
	z := x + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// fold cuts an address or a register to the machine's width.
func (s *randomState) fold(v uint64) uint64 {
	if s.arch.WordSize == 4 {
		return v & 0xffffffff
	}
	return v
}

func (s *randomState) register(r cfi.Reg) uint64 {
	if s.arch.RegName(r) == s.arch.PC {
		return s.pc
	}
	return s.fold(random(random(2*s.seed) ^ uint64(r)))
}

// word reads memory; eight aligned bytes are a random number, least significant
// byte first.
func (s *randomState) word(addr uint64) (v uint64) {
	for i := range s.arch.WordSize {
		at := s.fold(addr + uint64(i))
		b := random(random(2*s.seed+1)^at>>3) >> (8 * (at & 7)) & 0xff
		if s.big {
			v = v<<8 | b
		} else {
			v |= b << (8 * i)
		}
	}
	return v
}

// postfix is the compiled expression of a rule: operators and operands.
type postfix struct {
	tokens []token
	bad    bool // has a word that is neither, such as `.undef`
	reads  bool // it reads the PC
}

type token struct {
	op  byte // an operator, or one of the operands below
	val uint64
}

const (
	tokenNumber   = 'n'
	tokenRegister = 'r'
	tokenCFA      = 'c'
)

// parsePostfix reads a rule as readers of symbol files do: a word that is neither a
// decimal number nor an operator is a name.
func parsePostfix(arch *cfi.Arch, rule string) *postfix {
	p := &postfix{}
	for word := range strings.FieldsSeq(rule) {
		p.tokens = append(p.tokens, p.token(arch, word))
	}
	return p
}

func (p *postfix) token(arch *cfi.Arch, word string) token {
	if len(word) == 1 && strings.Contains("+-*/%@^", word) {
		return token{op: word[0]}
	}
	if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		return token{tokenNumber, uint64(n)}
	}
	if word == ".cfa" {
		return token{op: tokenCFA}
	}

	r, ok := arch.Reg(word)
	p.bad = p.bad || !ok
	p.reads = p.reads || ok && word == arch.PC
	return token{tokenRegister, uint64(r)}
}

// eval gives the value of the expression, cut to the machine's width. cfa is
// nil in the rule of the CFA itself. ok is false if a reader would find no value.
func (p *postfix) eval(s *randomState, cfa *uint64) (v uint64, ok bool) {
	var storage [32]uint64
	stack := storage[:0]
	if p.bad {
		return 0, false
	}

	for _, t := range p.tokens {
		n := len(stack)
		switch {
		case t.op == tokenNumber:
			stack = append(stack, s.arithmetic(t.val))
		case t.op == tokenRegister:
			stack = append(stack, s.register(cfi.Reg(t.val)))
		case t.op == tokenCFA && cfa != nil:
			stack = append(stack, *cfa)
		case t.op == '^' && n >= 1:
			stack[n-1] = s.word(stack[n-1])
		case t.op != tokenCFA && t.op != '^' && n >= 2:
			v, ok = s.binary(t.op, stack[n-2], stack[n-1])
			if !ok {
				return 0, false
			}
			stack = append(stack[:n-2], v)
		default:
			return 0, false
		}
	}

	if len(stack) != 1 {
		return 0, false
	}
	return s.fold(stack[0]), true
}

// arithmetic cuts a number to the width that the reader calculates with.
func (s *randomState) arithmetic(v uint64) uint64 {
	if s.wide {
		return v
	}
	return s.fold(v)
}

// binary is an operator on unsigned numbers; `@` aligns down.
func (s *randomState) binary(op byte, a, b uint64) (v uint64, ok bool) {
	switch op {
	case '+':
		v = a + b
	case '-':
		v = a - b
	case '*':
		v = a * b
	case '/', '%':
		if b == 0 {
			return 0, false
		}
		v = a / b
		if op == '%' {
			v = a % b
		}
	case '@':
		if b == 0 || b&(b-1) != 0 {
			return 0, false
		}
		v = a &^ (b - 1)
	}
	return s.arithmetic(v), true
}
