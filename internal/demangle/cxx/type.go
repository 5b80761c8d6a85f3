package cxx

import "symkit/internal/demangle/lex"

// This file reads <type>. Comments name the rules of the Itanium C++ ABI's grammar
// (§5.1.5).

// typ reads <type> and makes it a candidate for substitution.
func (x *tree) typ() ref {
	if a := x.reused(); a != 0 {
		return a
	}
	if !x.enter() {
		return 0
	}

	start, mark := x.pos, len(x.open)
	x.vendorQualifiers()
	vendors := len(x.open)
	from, q := len(x.out), x.qualifiers()
	x.specs()
	unqualified, qualified := x.pos, q != 0 || len(x.open) > mark
	a, candidate := x.unqualifiedType(qualified)
	x.leave()
	if x.failed {
		return 0
	}

	// The type is a candidate without and with its qualifiers.
	if candidate {
		x.candidate(a, unqualified)
	}
	if len(x.open) > vendors {
		a = x.wrapped(a, vendors)
	}
	if q != 0 {
		plain := x.simple(a) && x.nodes[x.use(a)].kind != kindQuals
		x.emitQualifiers(q)
		x.rendered = x.rendered && plain
		a = x.whole(x.qualified(a, q), from)
	}
	if len(x.open) > mark {
		a = x.wrapped(a, mark)
	}
	if qualified {
		x.candidate(a, start)
	}
	return x.remember(a, start)
}

// qualifiers reads <CV-qualifiers> and noexcept. They are written in reverse order.
func (x *tree) qualifiers() (q qualifiers) {
	for {
		next := qualifiers(0)
		switch c := x.peek(); {
		case c == 'K':
			next = qualConst
		case c == 'V':
			next = qualVolatile
		case c == 'r':
			next = qualRestrict
		case c == 'D' && x.peek2() == 'o':
			next = qualNoexcept
			x.pos++
		default:
			return q
		}

		if q.has(next) {
			x.fail()
			return 0
		}
		x.pos++
		q = q<<4 | next
	}
}

// unqualifiedType reads a type without its qualifiers. quals is set if the type has
// qualifiers. candidate reports whether the unqualified type is a candidate for
// substitution; a function with qualifiers is none without them.
func (x *tree) unqualifiedType(quals bool) (a ref, candidate bool) {
	c, from := x.peek(), len(x.out)

	// <builtin-type> or a vendor's type: u and a name.
	if lex.IsLower(c) {
		x.pos++
		if c == 'u' {
			return x.vendorType(), true
		}

		// <builtin-type> of one letter.
		if builtins[c-'a'] == "" {
			return x.fail(), false
		}
		x.emit(builtins[c-'a'])
		x.rendered = true
		return x.builtin(uint32(c - 'a')), false
	}

	switch c {
	case 'F':
		return x.function(), !quals
	case 'N', 'Z', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		a = x.name()
		x.rendered = x.rendered && x.methodOf(a) == 0
		return a, true
	case 'A', 'C', 'G', 'M':
		a = x.compound(c)
		x.rendered = false
		return a, true
	case 'T':
		return x.paramType(), true
	case 'S':
		return x.substitutedType()
	case 'P':
		x.pos++
		to := x.typ()
		x.emitSuffix(to, "*")
		return x.whole(x.one(kindPointer, to), from), true
	case 'R':
		x.pos++
		return x.reference(kindLRef, x.typ(), from), true
	case 'O':
		x.pos++
		return x.reference(kindRRef, x.typ(), from), true
	case 'U':
		switch x.peek2() {
		case 'l':
			return x.closure(), false
		case 't':
			return x.unnamed(), false
		case 'e': // an enumeration without a name
			x.pos += 2
			of := x.typ()
			a = x.two(kindEnum, of, x.sourceName())
			x.rendered = false
			return a, true
		}
	case 'W':
		return x.name(), true
	case 'D':
		return x.dType()
	}
	return x.fail(), false
}

// vendorType reads <source-name> [<template-args>]: a type of the compiler, as the result of
// a trait is, __decay(T).
func (x *tree) vendorType() ref {
	name := x.sourceName()
	if x.peek() != 'I' {
		return name
	}
	mark := len(x.open)
	x.args(false)
	x.rendered = false
	return x.many(kindCall, name, mark)
}

// compound reads an array, a complex type, or a pointer to a member.
func (x *tree) compound(c byte) ref {
	x.pos++
	switch c {
	case 'A':
		return x.array()
	case 'C':
		return x.one(kindComplex, x.typ())
	case 'G':
		return x.one(kindImaginary, x.typ())
	}

	class := x.typ()
	return x.two(kindMember, class, x.typ())
}

// simple reports whether the text of a is independent of the declaration around a. The
// text of a function is not, nor is that of a pack.
func (x *tree) simple(a ref) bool {
	switch x.nodes[x.argumentOf(a)].kind {
	case kindFunc, kindMethod, kindSpec, kindPack, kindList:
		return false
	}
	return true
}

// emitSuffix appends the * or & of a pointer or reference to a type.
func (x *tree) emitSuffix(to ref, text string) {
	x.rendered = x.rendered && x.simple(to)
	x.emit(text)
}

// paramType reads a type that begins with a template parameter.
func (x *tree) paramType() ref {
	if c := x.peek2(); c == 's' || c == 'u' || c == 'e' {
		return x.elaborated(c)
	}
	if x.inCast {
		x.pos++
		return x.castParam()
	}
	from := len(x.out)
	a := x.templateParam()
	if x.peek() != 'I' || x.pos == x.castEnd {
		return a
	}

	// The parameter is a template template parameter, and a candidate by itself.
	x.candidate(a, 0)
	return x.templateArgs(a, from)
}

// substitutedType reads a type that begins with a substitution or with std.
func (x *tree) substitutedType() (a ref, candidate bool) {
	if c := x.peek2(); !lex.IsDigit(c) && c != '_' && !lex.IsUpper(c) {
		a = x.name()
		return a, x.nodes[a].flags&flagStd == 0
	}

	from := len(x.out)
	a = x.substitution(false)
	if x.nodes[a].kind == kindModule {
		a = x.inModule(a)
		if x.peek() == 'I' {
			x.candidate(a, 0)
			a = x.templateArgs(a, from)
		}
		return a, true
	}
	if x.peek() != 'I' || x.pos == x.castEnd {
		return a, false
	}
	return x.templateArgs(a, from), true
}

// function reads <function-type>.
func (x *tree) function() ref {
	x.pos++
	x.accept('Y') // extern "C", which is not written
	a := x.signature(kindFunc, true, false)
	if r := x.refQualifier(); r != 0 {
		a = x.method(a, 0, r)
		x.rendered = false
	}
	x.expect('E')
	return a
}

// signature reads the types of a function's parameters (the grammar's rule for function
// types without F and E). The return type comes first if returns is set or after a J. this is
// set if the first parameter is the object.
func (x *tree) signature(kind kind, returns, this bool) ref {
	returned, rendered := ref(0), true
	if x.accept('J') || returns {
		returned = x.typ()
		rendered = x.rendered && x.simple(returned)
		x.emit(" ")
	}

	mark := len(x.open)
	x.emit("(")
	if this {
		x.emit("this ")
	}
	x.parameters(true)
	x.emit(")")
	x.rendered = rendered && x.rendered
	a := x.many(kind, returned, mark)
	if this {
		x.nodes[a].b = 1
	}
	return a
}

// parameters reads types onto x.open. A single void means that there are none. For
// sparing see emittedList.
func (x *tree) parameters(sparing bool) {
	mark := len(x.open)
	if x.peek() == 'v' && x.endsParameters(x.pos+1) {
		x.pos++
		x.rendered = true
		return
	}

	// One type after the other, up to the end of the list.
	list := emittedList{rendered: true, first: true, sparing: sparing}
	for !x.failed && !x.endsParameters(x.pos) {
		list.next(x)
		a := x.typ()
		list.add(x, a)
		x.open = append(x.open, a)
	}

	x.rendered = list.rendered
	if len(x.open) == mark {
		x.fail()
	}
}

// endsParameters reports whether no other type follows at pos.
func (x *tree) endsParameters(pos int) bool {
	if pos >= len(x.in) {
		return true
	}
	c := x.in[pos]
	return c == 'E' || c == '.' || c == 'Q' || (c == 'R' || c == 'O') && pos+1 < len(x.in) && x.in[pos+1] == 'E'
}

// array reads <array-type>.
func (x *tree) array() ref {
	text, n := x.dimension()
	return x.arrayOf(x.typ(), text, n)
}

// dimension reads a number, an expression, or nothing, and _.
func (x *tree) dimension() (text [2]uint32, a ref) {
	from := x.pos
	for lex.IsDigit(x.peek()) {
		x.pos++
	}
	text = [2]uint32{uint32(from), uint32(x.pos)}
	if x.peek() != '_' && x.pos == from {
		a = x.expression()
	}
	x.expect('_')
	return text, a
}

// arrayOf adds the node of an array; qualifiers of its elements are the array's.
func (x *tree) arrayOf(a ref, text [2]uint32, dimension ref) ref {
	flags, e := x.inherited(a)|x.inherited(dimension), &x.nodes[x.use(a)]
	if e.kind != kindQuals {
		return x.node(kindArray, flags, x.use(a), x.use(dimension), text[0], text[1])
	}
	of, quals := e.a, e.quals
	return x.withQuals(kindQuals, flags, x.node(kindArray, flags, of, x.use(dimension), text[0], text[1]), 0, quals)
}

// vector reads the rest of <vector-type>: a number, or _ and an expression, and the type.
func (x *tree) vector() ref {
	if x.peek() == '_' {
		x.pos++
	}
	text, n := x.dimension()
	a := x.two(kindVector, x.typ(), n)
	x.nodes[a].text = text
	return a
}

// reference adds a reference to a, whose text begins at out[from]. A reference to a
// reference is one reference if template parameters are involved (C++'s reference
// collapsing); compilers write no others.
func (x *tree) reference(kind kind, a ref, from int) ref {
	flags, to := x.inherited(a), &x.nodes[x.use(a)]
	if to.kind != kindLRef && to.kind != kindRRef {
		x.emitSuffix(a, "&&"[:1+kind-kindLRef])
		return x.whole(x.one(kind, a), from)
	}

	// & wins over &&.
	x.rendered = false
	if flags&flagParam == 0 {
		return x.fail()
	}
	if kind == kindLRef && to.kind == kindRRef {
		return x.node(kindLRef, flags, to.a, 0, 0, 0)
	}
	return x.node(kindParam, flags, x.use(a), 0, 0, 0)
}

// qualified adds qualifiers to a type, after those that the type has already.
func (x *tree) qualified(a ref, q qualifiers) ref {
	flags, n := x.inherited(a), &x.nodes[x.use(a)]

	// A function gets a node of its own kind, since its qualifiers follow its parameters. Those of a
	// template parameter that stands for a function are none of the function's.
	switch {
	case (n.kind == kindFunc || n.kind == kindMethod || n.kind == kindSpec) && x.nodes[a].kind != kindParam:
		return x.withQuals(kindMethod, flags, x.use(a), 0, q)
	case n.kind == kindQuals:
		of, all := n.a, n.quals.with(q)
		return x.withQuals(kindQuals, flags, of, 0, all)
	}
	return x.withQuals(kindQuals, flags, x.use(a), 0, q)
}
