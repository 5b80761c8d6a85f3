package cxx

import "symkit/internal/demangle/lex"

// This file reads operands of expressions, and operators that have a grammar of their own.

// argument reads <function-param>, a parameter of the function or of one around it.
func (x *tree) argument() ref {
	x.pos++
	if x.accept('L') {
		x.number()
	}
	x.expect('p')
	a := x.node(kindArgument, 0, 0, 0, 0, 0)
	if !x.accept('T') { // this
		x.qualifiers()
		x.nodes[a].b = ref(x.index() + 1)
	}
	return a
}

// fold reads <fold-expression>. Its pack is not expanded.
func (x *tree) fold() ref {
	code := string([]byte{x.peek(), x.peek2()})
	x.pos = min(x.pos+2, len(x.in))
	inner := exprs().index[string([]byte{x.peek(), x.peek2()})]
	outer := exprs().index[code]
	x.pos = min(x.pos+2, len(x.in))
	if inner == 0 || outer == 0 {
		return x.fail()
	}

	mark := len(x.open)
	x.operands(exprs().ops[outer].forms)
	a := x.operator(code, mark)
	n := &x.nodes[a]
	n.a, n.flags = inner, n.flags&^flagPack
	return a
}

// vendorOperation reads u <source-name> <template-arg>* E, or v <digit> <source-name> and as many
// operands: an operator of the compiler.
func (x *tree) vendorOperation() ref {
	x.pos++
	operands := -1
	if x.in[x.pos-1] == 'v' {
		operands = int(x.peek() - '0')
		x.pos++
	}
	name, mark := x.sourceName(), len(x.open)
	for i := 0; !x.failed && i != operands && (operands >= 0 || !x.accept('E')); i++ {
		var a ref
		if operands >= 0 {
			a = x.expression()
		} else {
			a = x.templateArg()
		}
		x.open = append(x.open, a)
	}
	return x.many(kindCall, name, mark)
}

// packSize adds the node of the number of elements in a, a pack; of a function's parameter or
// a lambda's pack the number is not known.
func (x *tree) packSize(a ref) ref {
	p := x.argumentOf(a)
	n, ok := x.elements(p)
	if !ok || x.hidden > 0 {
		mark := len(x.open)
		x.open = append(x.open, a)
		size := x.operator("sZ", mark)
		x.nodes[size].flags &^= flagPack
		return size
	}
	return x.node(kindCount, 0, 0, ref(n), 0, 0)
}

// elements counts the elements of a pack; ok is false if a is none.
func (x *tree) elements(a ref) (n int, ok bool) {
	if k := x.nodes[a].kind; k != kindPack && k != kindList {
		return 1, false
	}
	for _, e := range x.list(&x.nodes[a]) {
		x.steps++
		if x.nodes[e].kind == kindList { // an expansion in sizeof...'s operands
			more, _ := x.elements(e)
			n += more
		} else {
			n++
		}
	}
	return n, x.steps <= maxSteps
}

// newOperation reads the rest of nw or na: placement arguments, the type, the initializer.
func (x *tree) newOperation(code string) ref {
	outer, mark := len(x.open), len(x.open)
	x.expressions('_')
	if len(x.open) > mark {
		place := x.many(kindList, 0, mark)
		x.open, code = append(x.open, place), code+"("
	}
	to := x.typ()
	x.open = append(x.open, to)

	switch {
	case x.accept('E'):
	case x.peek() == 'p' && x.peek2() == 'i':
		x.pos += 2
		mark = len(x.open)
		x.expressions('E')
		init := x.many(kindList, 0, mark)
		x.open, code = append(x.open, init), code+"i"
	default: // in braces
		init := x.expression()
		x.open, code = append(x.open, init), code+"b"
	}
	return x.operator(code, outer)
}

// subobject reads the rest of mc or so: a conversion of a pointer to a member, or a part of
// an object. Of a part, the text has the object and its type.
func (x *tree) subobject(code string) ref {
	to := x.typ()
	of, mark := x.expression(), len(x.open)
	from := x.pos
	x.accept('n')
	for lex.IsDigit(x.peek()) {
		x.pos++
	}
	offset := [2]uint32{uint32(from), uint32(x.pos)}
	if code == "mc" {
		x.expect('E')
		x.open = append(x.open, to, of)
		return x.operator(code, mark)
	}

	for x.accept('_') { // the members of unions
		if lex.IsDigit(x.peek()) {
			x.number()
		}
	}
	x.accept('p') // after the end
	x.expect('E')
	a := x.two(kindPart, of, to)
	x.nodes[a].text = offset
	return a
}

// member reads <base-unresolved-name>, or a scope and one.
func (x *tree) member() ref {
	switch {
	case lex.IsDigit(x.peek()):
		return x.maybeTemplate(x.unqualifiedName())
	case x.accept('o'):
		x.expect('n')
		if lex.IsDigit(x.peek()) {
			return x.simpleID()
		}
		return x.maybeTemplate(x.operatorName())
	case x.accept('d'):
		x.expect('n')
		if lex.IsDigit(x.peek()) {
			return x.one(kindDtor, x.simpleID())
		}
		return x.one(kindDtor, x.typ())
	case x.accept('g'):
		x.expect('s')
		return x.member()
	case x.accept('s'):
		x.expect('r')
		return x.unresolvedName()
	}
	return x.expression() // clang writes some members as expressions
}

// simpleID reads <simple-id>.
func (x *tree) simpleID() ref { return x.maybeTemplate(x.sourceName()) }

// maybeTemplate reads the <template-args> of a name in an expression, if the name has
// any. The result is no candidate for substitution.
func (x *tree) maybeTemplate(name ref) ref {
	if x.peek() == 'I' {
		x.rendered = false
		return x.templateArgs(name, len(x.out))
	}
	return name
}
