// Package rules evaluates unwind rules: the expressions of STACK CFI and the programs of STACK
// WIN records (reference: Breakpad's symbol_files.md).
package rules

import (
	"errors"
	"slices"

	"symkit/cfi"
	"symkit/emit"
	"symkit/walk/internal/cpu"
)

// errTerms: a rule has more terms than any compiler's or linker's.
var errTerms = errors.New("more than 1024 terms")

// maxTerms bounds the terms of a rule of STACK CFI and of a STACK WIN program. The longest
// that are known have 11 (the slots of a linkage table) and 31 (Microsoft's compiler).
const maxTerms = 1 << 10

// term is one token of an expression: an operator, or one of the kinds below.
type term struct {
	op   byte
	slot cfi.Reg // of a name that is a register
	v    uint64  // a number, or the number of a name
}

// The kinds of terms that are no operators.
const (
	termNumber = 'n'
	termName   = 'v'
	termBad    = 'x' // fails with errToken
	termMany   = 'm' // fails with errTerms
	termFull   = 'f' // fails with errOperands
)

// firstPage: no code lies in the first page.
const firstPage = 4096

// A Program is a set of expressions that share variables, read once for all frames that
// they apply to.
type Program struct {
	names [][]byte       // by number
	known map[string]int // the numbers of the names, where there are many
	Rules []Rule
	Ends  bool // the return address is a constant below the first page
	Terms int  // of all rules
	read  int  // tokens that the terms were made of
}

// Rule is the expression of one register. Reg is that of emit.Rule, or nil.
type Rule struct {
	reg   []byte
	Slot  cfi.Reg
	Known bool // Slot is a register of the machine
	terms []term
}

// Compile reads the rules of STACK CFI records.
func Compile(s *cpu.Stack, rules []emit.Rule) *Program {
	p := &Program{Rules: make([]Rule, 0, len(rules))}
	for i := range rules {
		p.add(s, rules[i].Reg, rules[i].Expr)
	}

	if ra := p.Return(s.CPU); ra != nil && len(ra.terms) == 1 && ra.terms[0].op == termNumber {
		p.Ends = ra.terms[0].v < firstPage
	}
	return p
}

// add adds the expression of a register.
func (p *Program) add(s *cpu.Stack, reg, expr []byte) {
	r := Rule{reg: reg}
	r.Slot, r.Known = s.Slot(reg)
	for tok, rest := nextToken(expr); tok != nil; tok, rest = nextToken(rest) {
		p.read++
		if len(r.terms) == maxTerms {
			r.terms = []term{{op: termMany}}
			break
		}
		r.terms = fold(s, append(r.terms, p.term(s, tok)))
	}
	p.Terms += len(r.terms)
	p.Rules = append(p.Rules, r)
}

// CompileWin reads the program string of a STACK WIN record.
func CompileWin(s *cpu.Stack, text []byte) *Program {
	p := &Program{names: slices.Clone(winGiven[:])}
	p.add(s, nil, text)
	return p
}

// winGiven are the variables, beside registers, that a program string can read.
var winGiven = [...][]byte{[]byte(".cbParams"), []byte(".cbCalleeParams"), []byte(".cbSavedRegs"),
	[]byte(".cbLocals"), []byte(".raSearch"), []byte(".raSearchStart")}

// nextToken splits the first token off an expression. "=$x" is "=" and "$x".
func nextToken(expr []byte) (tok, rest []byte) {
	for len(expr) > 0 && expr[0] <= ' ' {
		expr = expr[1:]
	}
	n := 0
	for n < len(expr) && expr[n] > ' ' && !(n == 1 && expr[0] == '=') {
		n++
	}
	if n == 0 {
		return nil, nil
	}
	return expr[:n], expr[n:]
}

// term reads one token.
func (p *Program) term(s *cpu.Stack, tok []byte) term {
	if len(tok) == 1 {
		switch tok[0] {
		case '+', '-', '*', '/', '%', '@', '^', '=':
			return term{op: tok[0]}
		}
	}
	if v, ok := number(tok); ok {
		return term{op: termNumber, v: v}
	}
	if c := tok[0]; c != '$' && c != '.' && c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') {
		return term{op: termBad}
	}

	t := term{op: termName, v: uint64(p.name(tok)), slot: cpu.RegNone}
	if slot, ok := s.Slot(tok); ok {
		t.slot = slot
	}
	return t
}

// fewNames is the number of names up to which a search is faster than a map.
const fewNames = 16

// name returns the number of a name. Names are numbered, so that the Evaluator finds a variable
// without a search.
func (p *Program) name(tok []byte) int {
	if p.known == nil {
		for i, n := range p.names {
			if string(n) == string(tok) {
				return i
			}
		}
	} else if i, ok := p.known[string(tok)]; ok {
		return i
	}

	p.names = append(p.names, tok)
	if len(p.names) > fewNames {
		if p.known == nil {
			p.known = make(map[string]int)
			for i, n := range p.names {
				p.known[string(n)] = i
			}
		}
		p.known[string(tok)] = len(p.names) - 1
	}
	return len(p.names) - 1
}

// fold replaces the last terms by their value if it depends on no register: the value is the
// same for all frames. Terms that fail are left as they are.
func fold(s *cpu.Stack, terms []term) []term {
	n := len(terms)
	last := &terms[n-1]
	switch last.op {
	case termNumber:
		// More numbers than the stack holds fail in every frame.
		if n > maxOperands && !slices.ContainsFunc(terms[n-maxOperands-1:], func(t term) bool { return t.op != termNumber }) {
			*last = term{op: termFull}
		}
	case '^':
		if n < 2 || terms[n-2].op != termNumber {
			break
		}
		if v, ok := s.Word(s.Narrow(terms[n-2].v)); ok {
			return append(terms[:n-2], term{op: termNumber, v: v})
		}
	case '+', '-', '*', '/', '%', '@':
		if n < 3 || terms[n-2].op != termNumber || terms[n-3].op != termNumber {
			break
		}
		if v, err := combine(s.CPU, last.op, terms[n-3].v, terms[n-2].v); err == nil {
			return append(terms[:n-3], term{op: termNumber, v: v})
		}
	}
	return terms
}

// Rule returns the rule of a register; nil if there is none.
func (p *Program) Rule(name string) *Rule {
	for i := range p.Rules {
		if string(p.Rules[i].reg) == name {
			return &p.Rules[i]
		}
	}
	return nil
}

// Return returns the rule of the return address; nil if there is none. A rule of the PC
// is the same as one of .ra.
func (p *Program) Return(c *cpu.CPU) *Rule {
	if r := p.Rule(c.Arch.PC); r != nil {
		return r
	}
	return p.Rule(".ra")
}

// Size is what p counts as in a cache.
func (p *Program) Size() int { return p.read + len(p.Rules) + len(p.names) }

// SavedBelow reads the rule of a register that is saved n bytes below the CFA.
func (p *Program) SavedBelow(reg string) (n uint64, ok bool) {
	r := p.Rule(reg)
	if r == nil || len(r.terms) != 4 {
		return 0, false
	}
	cfa, below := &r.terms[0], &r.terms[1]
	return -below.v, cfa.op == termName && string(p.names[cfa.v]) == ".cfa" &&
		below.op == termNumber && int64(below.v) < 0 && r.terms[2].op == '+' && r.terms[3].op == '^'
}

// Reads reports whether r reads a register other than except.
func (r *Rule) Reads(except cfi.Reg) bool {
	return slices.ContainsFunc(r.terms, func(t term) bool {
		return t.op == termName && t.slot != cpu.RegNone && t.slot != except
	})
}
