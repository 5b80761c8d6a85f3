package demangle

import "bytes"

// number reads a decimal number.
func (x *cxxTree) number() (n int) {
	if !isDigit(x.peek()) {
		x.fail()
	}
	for i, c := range x.in[x.pos:] {
		if !isDigit(c) {
			x.pos += i
			return n
		}
		if n = n*10 + int(c-'0'); n > 1<<24 {
			x.fail()
			return 0
		}
	}
	x.pos = len(x.in)
	return n
}

// index reads a number that is left out for 0 and one less from 1 on, up to _.
func (x *cxxTree) index() (n int) {
	if x.accept('_') {
		return 0
	}
	n = x.number() + 1
	x.expect('_')
	return n
}

// name reads <name>.
func (x *cxxTree) name() (name ref) {
	substituted, from := false, len(x.out)
	switch c := x.peek(); c {
	case 'N':
		return x.nestedName()
	case 'Z':
		return x.localName()
	case 'U':
		return x.unqualifiedName()
	case 'S':
		if x.peek2() == 't' {
			x.pos += 2
			std := x.sayWord(wordStd)
			x.say("::")
			name = x.whole(x.two(kindQualified, std, x.unqualifiedName()), from)
		} else {
			name, substituted = x.substitution(false), true
		}
	default:
		name = x.unqualifiedName()
	}
	if x.isCast(name) {
		return x.fail()
	}
	if x.peek() != 'I' {
		return name
	}
	if !substituted {
		x.candidate(name, 0)
	}
	return x.templateArgs(name, from)
}

// isCast tells a conversion operator.
func (x *cxxTree) isCast(name ref) bool {
	n := &x.nodes[name]
	for n.kind == kindTagged {
		n = &x.nodes[n.a]
	}
	return n.kind == kindCast || n.kind == kindQualified && x.nodes[n.b].kind == kindCast
}

// nestedName reads <nested-name>.
func (x *cxxTree) nestedName() ref {
	x.expect('N')
	q := x.qualifiers()
	reference := x.refQualifier()
	name := x.prefix()
	if x.expect('E'); q == 0 && reference == 0 {
		return name
	}
	return x.method(name, q, reference)
}

// method adds the node of a member function with qualifiers.
func (x *cxxTree) method(a ref, q qualifiers, reference ref) ref {
	if k := x.nodes[x.use(a)].kind; k == kindQuals || k == kindMethod {
		return x.fail() // qualified as a type already
	}
	return x.withQuals(kindMethod, x.inherited(a), x.use(a), reference, q)
}

// refQualifier reads <ref-qualifier>: 1 is &, 2 is &&.
func (x *cxxTree) refQualifier() ref {
	switch {
	case x.accept('R'):
		return 1
	case x.accept('O'):
		return 2
	}
	return 0
}

// prefix reads <prefix> up to the E behind it, or to x.stop.
func (x *cxxTree) prefix() (name ref) {
	last := ref(0) // the name read last, for constructors and destructors
	cast, from, said, start := false, len(x.out), true, x.pos
	for !x.failed && x.pos != x.stop {
		c, next := x.peek(), ref(0)
		if name != 0 && c != 'I' && c != 'E' && c != 'M' {
			x.say("::")
		}
		switch {
		case isDigit(c) || isLower(c) || c == 'U' || c == 'L':
			next = x.unqualifiedName()
			if x.isCast(next) {
				if cast {
					return x.fail()
				}
				cast = true
			}
		case c == 'C' || c == 'D':
			next = x.structor(c, last)
		case c == 'S':
			next = x.substitution(true)
		case c == 'T':
			next = x.templateParam()
		case c == 'I' && name != 0:
			x.said, said = said, true
			next, name, cast = x.templateArgs(name, from), 0, false
		case c == 'M' && name != 0:
			x.pos++ // the variable that a lambda initializes is a scope like others
			continue
		case c == 'E' && name != 0:
			x.said = said
			return name
		default:
			return x.fail()
		}
		said = said && x.said
		if last = next; name == 0 {
			name = next
		} else {
			x.said = said
			name = x.whole(x.two(kindQualified, name, next), from)
		}
		if c != 'S' && x.peek() != 'E' {
			x.candidatePrefix(name, start)
		}
	}
	return name
}

// structor reads <ctor-dtor-name>; last is the name in front of it. What a
// constructor is inherited from is not written.
func (x *cxxTree) structor(c byte, last ref) ref {
	kind, kinds, inherits := kindCtor, "12345", false
	if x.pos++; c == 'D' {
		kind, kinds = kindDtor, "01245"
	} else {
		inherits = x.accept('I')
	}
	if last == 0 || bytes.IndexByte([]byte(kinds), x.peek()) < 0 {
		return x.fail()
	}
	x.pos++
	from := len(x.out)
	if kind == kindDtor {
		x.say("~")
	}
	for {
		n := &x.nodes[last]
		switch n.kind {
		case kindTemplate, kindTagged:
			last = n.a
		case kindQualified, kindLocal:
			last = n.b
		default:
			return x.endStructor(kind, last, inherits, from)
		}
		if n.flags&flagParam != 0 {
			return x.fail()
		}
	}
}

// endStructor reads the rest of the name of a constructor or destructor, which
// begins at out[from:].
func (x *cxxTree) endStructor(kind cxxKind, last ref, inherits bool, from int) ref {
	x.sayNode(last)
	a := x.whole(x.one(kind, last), from)
	if inherits {
		base := x.typ()
		x.nodes[a].b, x.said = x.use(base), false
		x.nodes[a].flags |= x.inherited(base)
	}
	return x.tags(a, from)
}

// unqualifiedName reads <unqualified-name>.
func (x *cxxTree) unqualifiedName() (name ref) {
	from := len(x.out)
	switch c := x.peek(); {
	case isDigit(c):
		name = x.sourceName()
	case isLower(c):
		name = x.operatorName()
	case x.accept('L'):
		name = x.sourceName()
		x.discriminator()
	case c == 'U' && x.peek2() == 'l':
		name = x.closure()
	case c == 'U' && x.peek2() == 't':
		name = x.unnamed()
	default:
		return x.fail()
	}
	return x.tags(name, from)
}

// tags reads the <abi-tags> of a name that was said from there on.
func (x *cxxTree) tags(name ref, from int) ref {
	for x.accept('B') {
		said := x.said
		x.say("[abi:")
		tag := x.sourceName()
		x.say("]")
		x.said = said && x.said
		name = x.whole(x.two(kindTagged, name, tag), from)
	}
	return name
}

// sourceName reads <source-name>. What GCC calls namespaces without a name has
// a text of its own.
func (x *cxxTree) sourceName() ref {
	n := x.number()
	if n == 0 || n > len(x.in)-x.pos {
		return x.fail()
	}
	from := x.pos
	x.pos += n
	if x.in[from] == '_' && isAnonymous(x.in[from:x.pos]) {
		return x.sayWord(wordAnonymous)
	}
	at := len(x.out)
	x.out = append(x.out, x.in[from:x.pos]...)
	x.said = true
	return x.whole(x.node(kindName, 0, 0, 0, uint32(from), uint32(x.pos)), at)
}

// isAnonymous tells what GCC calls a namespace without a name.
func isAnonymous(name []byte) bool {
	rest, ok := bytes.CutPrefix(name, []byte("_GLOBAL_"))
	return ok && len(rest) > 2 && rest[1] == 'N' && (rest[0] == '_' || rest[0] == '.' || rest[0] == '$')
}

// operatorName reads <operator-name>.
func (x *cxxTree) operatorName() ref {
	first, second := x.peek(), x.peek2()
	x.pos = min(x.pos+2, len(x.in))
	switch {
	case first == 'c' && second == 'v':
		old := x.inCast
		x.inCast = true
		to := x.typ()
		x.inCast, x.said = old, false
		return x.one(kindCast, to)
	case first == 'l' && second == 'i':
		a := x.one(kindLiteralOp, x.sourceName())
		x.said = false
		return a
	case second < 'A' || second > 'z':
		return x.fail()
	}
	i := operatorIndex[first-'a'][second-'A']
	if i == 0 {
		return x.fail()
	}
	from := len(x.out)
	x.say(cxxOperators[i-1])
	x.said = true
	return x.whole(x.node(kindOperator, 0, 0, 0, uint32(i)-1, 0), from)
}

// localName reads <local-name>.
func (x *cxxTree) localName() ref {
	x.expect('Z')
	from := len(x.out)
	function := x.encoding(true)
	x.expect('E')
	said := x.said
	x.say("::")
	if x.accept('s') {
		x.discriminator()
		name := x.sayWord(wordStringLiteral)
		x.said = said
		return x.whole(x.two(kindLocal, function, name), from)
	}
	arg := -1
	if x.accept('d') {
		arg, said = x.index(), false
	}
	name := x.name()
	x.discriminator()
	x.said = said && x.said && x.nodes[name].kind != kindLocal
	if arg >= 0 {
		name = x.one(kindDefaultArg, name)
		x.nodes[name].text[0] = uint32(arg)
	}
	a := x.two(kindLocal, function, name)
	if x.methodOf(a) == 0 {
		x.whole(a, from)
	}
	return a
}

// discriminator passes over a <discriminator>, which is not written; Clang's
// may be digits alone at the end of the name.
func (x *cxxTree) discriminator() {
	if !x.accept('_') {
		if rest := x.in[x.pos:]; len(bytes.TrimLeft(rest, "0123456789")) == 0 {
			x.pos = len(x.in)
		}
		return
	}
	long := x.accept('_')
	if n := x.number(); long && n >= 10 {
		x.expect('_')
	}
}

// closure reads <closure-type-name>.
func (x *cxxTree) closure() ref {
	x.pos += 2
	if c := x.peek2(); x.inCast || x.peek() == 'T' && bytes.IndexByte([]byte("ynptk"), c) >= 0 {
		return x.fail()
	}
	old := x.inLambda
	x.inLambda = true
	mark, from := len(x.open), len(x.out)
	x.say("{lambda(")
	x.parameters(false)
	x.inLambda = old
	x.expect('E')
	number := x.index()
	x.sayNumber(")#", number+1, "}")
	a := x.whole(x.many(kindClosure, 0, mark), from)
	n := &x.nodes[a]
	if n.flags&flagPack != 0 {
		return x.fail()
	}
	if n.flags&flagParam != 0 {
		n.flags |= flagCapture
	}
	n.flags &^= flagAuto | flagParam
	n.b = ref(number)
	return a
}

// unnamed reads <unnamed-type-name>.
func (x *cxxTree) unnamed() ref {
	x.pos += 2
	from, number := len(x.out), x.index()
	x.sayNumber("{unnamed type#", number+1, "}")
	x.said = true
	a := x.whole(x.node(kindUnnamed, 0, 0, ref(number), 0, 0), from)
	x.candidate(a, 0)
	return a
}
