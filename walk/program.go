package walk

import (
	"errors"
	"slices"

	"symkit/cfi"
	"symkit/emit"
)

// ErrTerms: a rule has more terms than any compiler's or linker's.
var ErrTerms = errors.New("more than 1024 terms")

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
	termBad    = 'x' // fails with ErrToken
	termMany   = 'm' // fails with ErrTerms
	termFull   = 'f' // fails with ErrOperands
)

// A program is a set of expressions that share variables, read once for all frames that
// they apply to.
type program struct {
	names [][]byte       // by number
	known map[string]int // the numbers of the names, where there are many
	rules []rule
	end   bool // the return address is a constant below the first page
	terms int  // of all rules
	read  int  // tokens that the terms were made of
}

// rule is the expression of one register. Reg is that of emit.Rule, or nil.
type rule struct {
	reg   []byte
	slot  cfi.Reg
	known bool // slot is a register of the machine
	terms []term
}

// unwindRules are the records that give the caller of a frame at one address.
type unwindRules struct {
	cfi    *program // nil if there is no STACK CFI
	win    *program // of a STACK WIN record with a program
	record emit.StackWin
	hasWin bool
	params uint32 // bytes of the function's arguments
}

// size is what the programs count as when they are read, and in the cache.
func (u *unwindRules) size() int {
	n := 1
	for _, p := range []*program{u.cfi, u.win} {
		if p != nil {
			n += p.read + len(p.rules) + len(p.names)
		}
	}
	return n
}

// compileCost is how many times longer it takes to read a term than to evaluate it.
const compileCost = 8

// maxKept bounds the terms of the programs that are kept in memory, of all modules.
const maxKept = 1 << 20

// rulesAt returns the rules at an address of m; nil if m has no symbols.
func (w *walker) rulesAt(m *Module, addr uint64) *unwindRules {
	idx := w.index(m)
	if idx == nil {
		return nil
	}

	ms := w.syms.mods[m]
	ms.mu.Lock()
	u := ms.rules[addr]
	ms.mu.Unlock()
	if u != nil {
		return u
	}

	// Two workers may read the rules of one address; their results are equal.
	u = w.readRules(idx, addr-m.Base)
	w.syms.cost.terms(compileCost * u.size())
	if w.syms.kept.Add(int64(u.size())) > maxKept {
		return u
	}
	ms.mu.Lock()
	defer ms.mu.Unlock()
	ms.rules[addr] = u
	return u
}

// readRules reads the rules at an address of a module.
func (w *walker) readRules(idx *emit.Index, addr uint64) *unwindRules {
	u := &unwindRules{}
	if _, rules, ok := idx.CFI(addr, w.rules[:0]); ok {
		w.rules = rules
		u.cfi = w.eval.compileRules(rules)
	}
	if w.p.CPU != "x86" {
		return u
	}

	// STACK WIN records are of Windows on 32-bit x86 alone.
	u.record, u.hasWin = idx.Win(addr)
	if u.hasWin {
		u.params = u.record.ParamSize
		if len(u.record.Program) > 0 {
			p := &program{names: slices.Clone(winGiven[:])}
			p.add(&w.eval, nil, u.record.Program)
			u.win = p
		}
		return u
	}
	s, _ := idx.Symbol(addr)
	u.params = s.ParamSize
	return u
}

// compileRules reads the rules of STACK CFI records.
func (e *evaluator) compileRules(rules []emit.Rule) *program {
	p := &program{rules: make([]rule, 0, len(rules))}
	for i := range rules {
		p.add(e, rules[i].Reg, rules[i].Expr)
	}

	if ra := p.returnRule(e.cpu); ra != nil && len(ra.terms) == 1 && ra.terms[0].op == termNumber {
		p.end = ra.terms[0].v < lowestPC
	}
	return p
}

// add adds the expression of a register.
func (p *program) add(e *evaluator, reg, expr []byte) {
	r := rule{reg: reg}
	r.slot, r.known = e.cpu.slots[string(reg)]
	for tok, rest := nextToken(expr); tok != nil; tok, rest = nextToken(rest) {
		p.read++
		if len(r.terms) == maxTerms {
			r.terms = []term{{op: termMany}}
			break
		}
		r.terms = e.fold(append(r.terms, p.term(e, tok)))
	}
	p.terms += len(r.terms)
	p.rules = append(p.rules, r)
}

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
func (p *program) term(e *evaluator, tok []byte) term {
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

	t := term{op: termName, v: uint64(p.name(tok)), slot: RegNone}
	if slot, ok := e.cpu.slots[string(tok)]; ok {
		t.slot = slot
	}
	return t
}

// fewNames is the number of names up to which a search is faster than a map.
const fewNames = 16

// name returns the number of a name. Names are numbered, so that the evaluator finds a variable
// without a search.
func (p *program) name(tok []byte) int {
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
func (e *evaluator) fold(terms []term) []term {
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
		if v, ok := e.word(e.cpu.narrow(terms[n-2].v)); ok {
			return append(terms[:n-2], term{op: termNumber, v: v})
		}
	case '+', '-', '*', '/', '%', '@':
		if n < 3 || terms[n-2].op != termNumber || terms[n-3].op != termNumber {
			break
		}
		if v, err := e.binary(last.op, terms[n-3].v, terms[n-2].v); err == nil {
			return append(terms[:n-3], term{op: termNumber, v: v})
		}
	}
	return terms
}

// rule returns the rule of a register; nil if there is none.
func (p *program) rule(name string) *rule {
	for i := range p.rules {
		if string(p.rules[i].reg) == name {
			return &p.rules[i]
		}
	}
	return nil
}

// returnRule returns the rule of the return address; nil if there is none. A rule of the PC
// is the same as one of .ra.
func (p *program) returnRule(c *cpu) *rule {
	if r := p.rule(c.arch.PC); r != nil {
		return r
	}
	return p.rule(".ra")
}
