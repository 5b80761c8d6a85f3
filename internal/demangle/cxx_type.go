package demangle

import "bytes"

// typ reads <type>.
func (x *cxxTree) typ() ref {
	if a := x.again(); a != 0 {
		return a
	}
	if !x.enter() {
		return 0
	}
	start := x.pos
	from, q, bare := len(x.out), x.qualifiers(), x.pos
	a, candidate := x.bareType(q != 0)
	if x.leave(); x.failed {
		return 0
	}
	if candidate {
		x.candidate(a, bare)
	}
	if q != 0 {
		plain := x.simple(a) && x.nodes[x.use(a)].kind != kindQuals
		x.sayQualifiers(q)
		x.said = x.said && plain
		a = x.whole(x.qualified(a, q), from)
		x.candidate(a, start)
	}
	return x.remember(a, start)
}

// qualifiers reads <CV-qualifiers> and noexcept, which are written in reverse.
func (x *cxxTree) qualifiers() (q qualifiers) {
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
		case c == 'D' && bytes.IndexByte([]byte("xOw"), x.peek2()) >= 0:
			x.fail()
			return 0
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

// bareType reads a type without its qualifiers. Candidate tells that it can be
// substituted; quals, that there are qualifiers: then a function alone cannot.
func (x *cxxTree) bareType(quals bool) (a ref, candidate bool) {
	c, from := x.peek(), len(x.out)
	if isLower(c) {
		x.pos++
		if c == 'u' {
			a = x.sourceName()
			if x.peek() == 'I' {
				x.fail()
			}
			return a, true
		}
		if cxxBuiltins[c-'a'] == "" {
			return x.fail(), false
		}
		x.say(cxxBuiltins[c-'a'])
		x.said = true
		return x.builtin(uint32(c - 'a')), false
	}
	switch c {
	case 'F':
		return x.function(), !quals
	case 'N', 'Z', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		a = x.name()
		x.said = x.said && x.methodOf(a) == 0
		return a, true
	case 'A', 'C', 'M':
		a = x.compound(c)
		x.said = false
		return a, true
	case 'T':
		return x.paramType(), true
	case 'S':
		return x.substitutedType()
	case 'P':
		x.pos++
		to := x.typ()
		x.sayBehind(to, "*")
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
		}
	case 'D':
		return x.dType()
	}
	return x.fail(), false
}

// compound reads the types that stand around others.
func (x *cxxTree) compound(c byte) ref {
	switch x.pos++; c {
	case 'A':
		return x.array()
	case 'C':
		return x.one(kindComplex, x.typ())
	}
	class := x.typ()
	return x.two(kindMember, class, x.typ())
}

// simple tells whether a, if it was said, is written the same whatever types are
// around it: a function is not, nor may a pack be.
func (x *cxxTree) simple(a ref) bool {
	switch x.nodes[x.use(a)].kind {
	case kindFunc, kindMethod, kindPack, kindList:
		return false
	}
	return true
}

// sayBehind appends what a pointer or reference to a type adds to it.
func (x *cxxTree) sayBehind(to ref, text string) {
	x.said = x.said && x.simple(to)
	x.say(text)
}

// dType reads the types of two letters, the first of them D.
func (x *cxxTree) dType() (a ref, candidate bool) {
	c := x.peek2()
	x.pos = min(x.pos+2, len(x.in))
	switch c {
	case 'p':
		return x.expansion(x.typ()), true
	case 't', 'T':
		a = x.one(kindDecltype, x.expression())
		x.expect('E')
		x.said = false
		return a, true
	case 'a':
		return x.sayWord(wordAuto), false
	case 'c':
		return x.sayWord(wordDecltypeAuto), false
	case 'v':
		a = x.vector()
		x.said = false
		return a, true
	}
	i := bytes.IndexByte([]byte(builtinDCodes), c)
	if i < 0 {
		return x.fail(), false
	}
	x.say(cxxBuiltins[26+i])
	x.said = true
	return x.builtin(uint32(26 + i)), false
}

// paramType reads a type that begins with a template parameter.
func (x *cxxTree) paramType() ref {
	from := len(x.out)
	a := x.templateParam()
	if x.peek() != 'I' {
		return a
	}
	x.candidate(a, 0)
	return x.templateArgs(a, from)
}

// substitutedType reads a type that begins with a substitution or with std.
func (x *cxxTree) substitutedType() (a ref, candidate bool) {
	if c := x.peek2(); !isDigit(c) && c != '_' && !isUpper(c) {
		a = x.name()
		return a, x.nodes[a].flags&flagStd == 0
	}
	from := len(x.out)
	if a = x.substitution(false); x.peek() != 'I' {
		return a, false
	}
	return x.templateArgs(a, from), true
}

// function reads <function-type>.
func (x *cxxTree) function() ref {
	x.pos++
	x.accept('Y') // of C, which is not written
	a := x.bareFunction(kindFunc, true)
	if r := x.refQualifier(); r != 0 {
		a = x.method(a, 0, r)
		x.said = false
	}
	x.expect('E')
	return a
}

// bareFunction reads <bare-function-type>.
func (x *cxxTree) bareFunction(kind cxxKind, returns bool) ref {
	returned, said := ref(0), true
	if x.accept('J') || returns {
		returned = x.typ()
		said = x.said && x.simple(returned)
		x.say(" ")
	}
	mark := len(x.open)
	x.say("(")
	x.parameters(true)
	x.say(")")
	x.said = said && x.said
	return x.many(kind, returned, mark)
}

// parameters reads types onto x.open; a single void means none. Sparing is
// writeList's.
func (x *cxxTree) parameters(sparing bool) {
	mark := len(x.open)
	if x.peek() == 'v' && x.endsParameters(x.pos+1) {
		x.pos++
		x.said = true
		return
	}
	list := saidList{said: true, first: true, sparing: sparing}
	for !x.failed && !x.endsParameters(x.pos) {
		list.next(x)
		a := x.typ()
		list.add(x, a)
		x.open = append(x.open, a)
	}
	if x.said = list.said; len(x.open) == mark {
		x.fail()
	}
}

// endsParameters tells whether no other type follows at pos.
func (x *cxxTree) endsParameters(pos int) bool {
	if pos >= len(x.in) {
		return true
	}
	c := x.in[pos]
	return c == 'E' || c == '.' || (c == 'R' || c == 'O') && pos+1 < len(x.in) && x.in[pos+1] == 'E'
}

// array reads <array-type> with a number for a dimension, or none.
func (x *cxxTree) array() ref {
	from := x.pos
	for isDigit(x.peek()) {
		x.pos++
	}
	dim := [2]uint32{uint32(from), uint32(x.pos)}
	x.expect('_')
	return x.arrayOf(x.typ(), dim)
}

// arrayOf adds the node of an array; qualifiers of its elements are the array's.
func (x *cxxTree) arrayOf(a ref, dim [2]uint32) ref {
	flags, e := x.inherited(a), &x.nodes[x.use(a)]
	if e.kind == kindMethod {
		return x.fail() // of functions
	}
	if e.kind != kindQuals {
		return x.node(kindArray, flags, x.use(a), 0, dim[0], dim[1])
	}
	quals := e.quals
	return x.withQuals(kindQuals, flags, x.node(kindArray, flags, e.a, 0, dim[0], dim[1]), 0, quals)
}

// vector reads the rest of <vector-type>.
func (x *cxxTree) vector() ref {
	from := x.pos
	if x.number(); x.pos > from+1 && x.in[from] == '0' {
		return x.fail()
	}
	dim := [2]uint32{uint32(from), uint32(x.pos)}
	x.expect('_')
	a := x.one(kindVector, x.typ())
	x.nodes[a].text = dim
	return a
}

// reference adds a reference to a, which was said from there on. Of references to references that come from
// template parameters one is left; others nobody writes.
func (x *cxxTree) reference(kind cxxKind, a ref, from int) ref {
	flags, to := x.inherited(a), &x.nodes[x.use(a)]
	if to.kind != kindLRef && to.kind != kindRRef {
		x.sayBehind(a, "&&"[:1+kind-kindLRef])
		return x.whole(x.one(kind, a), from)
	}
	x.said = false
	if flags&flagParam == 0 {
		return x.fail()
	}
	if kind == kindLRef && to.kind == kindRRef {
		return x.node(kindLRef, flags, to.a, 0, 0, 0)
	}
	return x.node(kindParam, flags, x.use(a), 0, 0, 0)
}

// qualified adds qualifiers to a type. Those of a type that has some already
// are joined; the library leaks what is joined into other places where a
// template parameter is involved, so that is left to it.
func (x *cxxTree) qualified(a ref, q qualifiers) ref {
	flags, n := x.inherited(a), &x.nodes[x.use(a)]
	switch n.kind {
	case kindMethod:
		return x.fail()
	case kindFunc:
		return x.withQuals(kindMethod, flags, x.use(a), 0, q)
	case kindQuals:
		all := q.with(n.quals)
		if flags&flagParam != 0 && all != q {
			return x.fail()
		}
		return x.withQuals(kindQuals, flags, n.a, 0, all)
	}
	return x.withQuals(kindQuals, flags, x.use(a), 0, q)
}
