package cxx

import "symkit/internal/demangle/lex"

// This file reads the rarer types: qualifiers of the compiler, exception specifications, and types
// of two letters.

// vendorQualifiers reads U <source-name> <template-args>? onto x.open, as often as it is there.
func (x *tree) vendorQualifiers() {
	for x.peek() == 'U' && lex.IsDigit(x.peek2()) && !x.failed {
		x.pos++
		name := x.sourceName()
		if x.peek() == 'I' {
			mark := len(x.open)
			x.args(true)
			name = x.many(kindTemplate, name, mark)
		}
		x.open = append(x.open, name)
	}
}

// specs reads the exception specifications of a function type onto x.open, as kindSpec nodes
// without a function: DO <expression> E, Dw <type>* E, and Dx, transaction_safe.
func (x *tree) specs() {
	for x.peek() == 'D' && !x.failed {
		var a ref
		switch x.peek2() {
		case 'O':
			x.pos += 2
			e := x.expression()
			x.expect('E')
			a = x.node(kindSpec, x.inherited(e), 0, x.use(e), wordNoexcept, 0)
		case 'w':
			x.pos += 2
			mark := len(x.open)
			for !x.failed && !x.accept('E') {
				t := x.typ()
				x.open = append(x.open, t)
			}
			list := x.many(kindList, 0, mark)
			a = x.node(kindSpec, x.inherited(list), 0, list, wordThrow, 0)
		case 'x':
			x.pos += 2
			a = x.node(kindSpec, 0, 0, 0, wordTransactionSafe, 0)
		default:
			return
		}
		x.open = append(x.open, a)
	}
}

// wrapped returns a, a type, with the vendor's qualifiers or specifications on x.open from mark
// on, the first of them outermost.
func (x *tree) wrapped(a ref, mark int) ref {
	for len(x.open) > mark && !x.failed {
		last := x.open[len(x.open)-1]
		x.open = x.open[:len(x.open)-1]
		if n := x.nodes[last]; n.kind == kindSpec {
			if x.nodes[x.use(a)].kind < kindTyped {
				return x.fail() // no function
			}
			n.flags |= x.inherited(a)
			n.a = x.use(a)
			a = x.add(n)
		} else {
			a = x.two(kindVendor, a, last)
		}
		x.rendered = false
	}
	return a
}

// dType reads the types of two letters, the first of them D.
func (x *tree) dType() (a ref, candidate bool) {
	c := x.peek2()
	x.pos = min(x.pos+2, len(x.in))

	// Pack expansions, decltype, auto and vectors.
	switch c {
	case 'p':
		return x.expansion(x.typ()), true
	case 't', 'T':
		a = x.one(kindDecltype, x.expression())
		x.expect('E')
		x.rendered = false
		return a, true
	case 'a':
		return x.emitWord(wordAuto), false
	case 'c':
		return x.emitWord(wordDecltypeAuto), false
	case 'k', 'K': // with a constraint
		word := uint32(wordAuto)
		if c == 'K' {
			word = wordDecltypeAuto
		}
		a = x.two(kindConstrained, x.name(), x.word(word))
		x.rendered = false
		return a, true
	case 'v':
		a = x.vector()
		x.rendered = false
		return a, true
	case 'y':
		return x.indexed(x.typ()), true
	case 'F':
		return x.float()
	case 'B', 'U':
		return x.bitInt(c == 'U'), true
	}
	return x.shortBuiltin(c)
}

// shortBuiltin is <builtin-type> of two letters, the second of which is c.
func (x *tree) shortBuiltin(c byte) (a ref, candidate bool) {
	for i := range builtinDCodes {
		if builtinDCodes[i] == c {
			x.emit(builtins[26+i])
			x.rendered = true
			return x.builtin(uint32(26 + i)), false
		}
	}
	return x.fail(), false
}

// indexed reads the index of a, a pack.
func (x *tree) indexed(a ref) ref {
	index := x.expression()
	if p := &x.nodes[x.use(a)]; p.kind == kindParam || p.kind == kindExpansion {
		x.rendered = false
	}
	i := x.two(kindIndexed, a, index)
	x.nodes[i].flags &^= flagPack
	x.rendered = false
	return i
}

// float reads DF <number> and _, x or b: _Float16, _Float64x, std::bfloat16_t.
func (x *tree) float() (a ref, candidate bool) {
	from := x.pos
	x.number()
	a = x.node(kindFloat, 0, 0, 0, uint32(from), uint32(x.pos))
	x.rendered = false
	switch {
	case x.accept('_'):
	case x.accept('x'), x.accept('b'):
		x.nodes[a].b = ref(x.in[x.pos-1])
	default:
		return x.fail(), false
	}
	return a, false
}

// bitInt reads the size of an integer, a number or an expression, and _.
func (x *tree) bitInt(unsigned bool) ref {
	size, from := ref(0), x.pos
	if lex.IsDigit(x.peek()) {
		x.number()
	} else {
		size = x.expression()
	}
	a := x.node(kindBitInt, x.inherited(size), 0, x.use(size), uint32(from), uint32(x.pos))
	if unsigned {
		x.nodes[a].quals = 1
	}
	x.expect('_')
	x.rendered = false
	return a
}

// elaborated reads Ts, Tu or Te and a name: a type with struct, union or enum in front.
func (x *tree) elaborated(c byte) ref {
	x.pos += 2
	word := map[byte]uint32{'s': wordStruct, 'u': wordUnion, 'e': wordEnum}[c]
	a := x.node(kindElaborated, 0, 0, 0, word, 0)
	name := x.name()
	x.nodes[a].a, x.nodes[a].flags = x.use(name), x.inherited(name)
	x.rendered = false
	return a
}
