package cxx

import (
	"bytes"

	"symkit/internal/demangle/lex"
)

// This file reads <name> and its parts: nested and local names, constructors,
// operators, lambdas and types without a name.

// number reads a decimal number. It fails above 2^24, since no name is that long.
func (x *tree) number() (n int) {
	if !lex.IsDigit(x.peek()) {
		x.fail()
	}
	for i, c := range x.in[x.pos:] {
		if !lex.IsDigit(c) {
			x.pos += i
			return n
		}
		n = n*10 + int(c-'0')
		if n > 1<<24 {
			x.fail()
			return 0
		}
	}
	x.pos = len(x.in)
	return n
}

// index reads an index and the _ that ends it: nothing is index 0, number n is index
// n+1.
func (x *tree) index() (n int) {
	if x.accept('_') {
		return 0
	}
	n = x.number() + 1
	x.expect('_')
	return n
}

// name reads <name>.
func (x *tree) name() (name ref) {
	substituted, from := false, len(x.out)

	// The kinds of names, by their first letter.
	switch c := x.peek(); c {
	case 'N':
		return x.nestedName()
	case 'Z':
		return x.localName()
	case 'S':
		if x.peek2() == 't' {
			x.pos += 2
			std := x.emitWord(wordStd)
			x.emit("::")
			name = x.whole(x.two(kindQualified, std, x.unqualifiedName()), from)
		} else {
			name, substituted = x.substitution(false), true
			if x.nodes[name].kind == kindModule {
				name, substituted = x.inModule(name), false
			}
		}
	default:
		name = x.unqualifiedName()
	}

	if x.isCast(name) {
		return x.fail() // conversions are members
	}
	if x.peek() != 'I' {
		return name
	}

	// The template itself is a candidate, unless it was one before.
	if !substituted {
		x.candidate(name, 0)
	}
	return x.templateArgs(name, from)
}

// isCast reports whether a name is that of a conversion operator.
func (x *tree) isCast(name ref) bool {
	n := &x.nodes[name]
	for n.kind == kindTagged {
		n = &x.nodes[n.a]
	}
	return n.kind == kindCast || n.kind == kindQualified && x.nodes[n.b].kind == kindCast
}

// nestedName reads <nested-name>.
func (x *tree) nestedName() ref {
	x.expect('N')
	q := x.qualifiers()
	reference := x.refQualifier()
	if q == 0 && reference == 0 && x.accept('H') {
		reference = refThis
	}
	name := x.prefix()
	x.expect('E')
	if q == 0 && reference == 0 {
		return name
	}
	return x.method(name, q, reference)
}

// method adds the node of a member function with qualifiers.
func (x *tree) method(a ref, q qualifiers, reference ref) ref {
	if k := x.nodes[x.use(a)].kind; k == kindQuals || k == kindMethod {
		return x.fail() // a has the qualifiers of a type already
	}
	return x.withQuals(kindMethod, x.inherited(a), x.use(a), reference, q)
}

// refThis stands for a ref-qualifier in the name of a function whose first parameter is this.
const refThis ref = 3

// refQualifier reads <ref-qualifier>: 1 is &, 2 is &&, 0 is none.
func (x *tree) refQualifier() ref {
	switch {
	case x.accept('R'):
		return 1
	case x.accept('O'):
		return 2
	}
	return 0
}

// prefix reads <prefix> up to the E that follows it, or to x.stop. Each prefix of the
// prefix is a candidate for substitution, unless it is a substitution itself. The whole
// prefix is not: the caller makes it a candidate if it is a type.
func (x *tree) prefix() (name ref) {
	last := ref(0) // the name read last, which constructors and destructors repeat
	from, rendered, start := len(x.out), true, x.pos
	var late lateCast
	for !x.failed && x.pos != x.stop {
		c, next := x.peek(), ref(0)
		if name != 0 && c != 'I' && c != 'E' && c != 'M' {
			x.emit("::")
		}

		// The next part: a name, a constructor, a substitution, a parameter or
		// arguments.
		switch {
		case lex.IsDigit(c) || lex.IsLower(c) || c == 'U' || c == 'L' || c == 'W' || c == 'F' || c == 'D' && x.peek2() == 'C':
			x.late = lateCast{}
			next = x.unqualifiedName()
			if x.late.cast != 0 {
				x.late.outer = late.outer
				late, x.late = x.late, lateCast{}
			}
		case c == 'D' && (x.peek2() == 't' || x.peek2() == 'T'):
			next, _ = x.dType()
		case c == 'C' || c == 'D':
			next = x.structor(c, last)
		case c == 'S':
			next = x.substitution(true)
			if x.nodes[next].kind == kindModule {
				next, c = x.inModule(next), 'W'
			}
		case c == 'T':
			next = x.templateParam()
		case c == 'I' && name != 0:
			x.rendered, rendered = rendered, true
			next, name = x.templateArgs(name, from), 0
			x.resolve(&late, next)
			if late.cast == 0 {
				late.outer = next
			}
		case c == 'M' && name != 0:
			x.pos++ // the variable that a lambda initializes is a scope like any other
			continue
		case c == 'E' && name != 0:
			x.resolve(&late, late.outer)
			x.rendered = rendered
			return name
		default:
			return x.fail()
		}

		// The new part is a name within the prefix, or the first one.
		rendered = rendered && x.rendered
		last = next
		if name == 0 {
			name = next
		} else {
			x.rendered = rendered
			name = x.whole(x.two(kindQualified, name, next), from)
		}

		if c != 'S' && x.peek() != 'E' {
			x.candidatePrefix(name, start)
		}
	}
	x.resolve(&late, late.outer)
	return name
}

// structor reads <ctor-dtor-name>, which begins with c; last is the name before it.
// The class that a constructor is inherited from is not written.
func (x *tree) structor(c byte, last ref) ref {
	kind, kinds, inherits := kindCtor, "12345", false
	x.pos++
	if c == 'D' {
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
		x.emit("~")
	}

	// The name of the class is repeated without scope, arguments and tags.
	for {
		n := &x.nodes[last]
		switch n.kind {
		case kindTemplate, kindTagged, kindInModule:
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
func (x *tree) endStructor(kind kind, last ref, inherits bool, from int) ref {
	x.emitNode(last)
	a := x.whole(x.one(kind, last), from)
	if inherits {
		base := x.typ()
		x.nodes[a].b, x.rendered = x.use(base), false
		x.nodes[a].flags |= x.inherited(base)
	}
	return x.tags(a, from)
}

// unqualifiedName reads <unqualified-name>.
func (x *tree) unqualifiedName() (name ref) {
	from := len(x.out)
	switch c := x.peek(); {
	case lex.IsDigit(c):
		name = x.sourceName()
	case lex.IsLower(c):
		name = x.operatorName()
	case x.accept('L'): // internal linkage
		if lex.IsLower(x.peek()) {
			name = x.operatorName()
		} else {
			name = x.sourceName()
		}
		x.discriminator()
	case c == 'U' && x.peek2() == 'l':
		name = x.closure()
	case c == 'U' && x.peek2() == 't':
		name = x.unnamed()
	case c == 'W':
		return x.inModule(x.module(0))
	case x.accept('F'):
		name = x.one(kindFriend, x.unqualifiedName())
		x.rendered = false
		return name
	case c == 'D' && x.peek2() == 'C':
		name = x.binding()
	default:
		return x.fail()
	}
	return x.tags(name, from)
}

// tags reads the <abi-tags> of name, whose text begins at out[from].
func (x *tree) tags(name ref, from int) ref {
	for x.accept('B') {
		rendered := x.rendered
		x.emit("[abi:")
		tag := x.sourceName()
		x.emit("]")
		x.rendered = rendered && x.rendered
		name = x.whole(x.two(kindTagged, name, tag), from)
	}
	return name
}

// sourceName reads <source-name>. GCC's name for a namespace without a name is written
// as "(anonymous namespace)".
func (x *tree) sourceName() ref {
	n := x.number()
	if n == 0 || n > len(x.in)-x.pos {
		return x.fail()
	}

	from := x.pos
	x.pos += n
	if x.in[from] == '_' && isAnonymous(x.in[from:x.pos]) {
		return x.emitWord(wordAnonymous)
	}

	at := len(x.out)
	x.out = append(x.out, x.in[from:x.pos]...)
	x.rendered = true
	return x.whole(x.node(kindName, 0, 0, 0, uint32(from), uint32(x.pos)), at)
}

// isAnonymous reports whether name is GCC's name for a namespace without a name.
func isAnonymous(name []byte) bool {
	rest, ok := bytes.CutPrefix(name, []byte("_GLOBAL_"))
	return ok && len(rest) > 2 && rest[1] == 'N' && (rest[0] == '_' || rest[0] == '.' || rest[0] == '$')
}

// operatorName reads <operator-name>.
func (x *tree) operatorName() ref {
	first, second := x.peek(), x.peek2()
	x.pos = min(x.pos+2, len(x.in))
	switch {
	case first == 'c' && second == 'v':
		return x.castName()
	case first == 'v' && lex.IsDigit(second): // a vendor's, with the number of operands
		return x.sourceName()
	case first == 'l' && second == 'i':
		a := x.one(kindLiteralOp, x.sourceName())
		x.rendered = false
		return a
	case second < 'A' || second > 'z':
		return x.fail()
	}

	// Any other operator is in the table.
	operators := operators()
	i := operators.index[first-'a'][second-'A']
	if i == 0 {
		return x.fail()
	}

	from := len(x.out)
	x.emit(operators.texts[i-1])
	x.rendered = true
	return x.whole(x.node(kindOperator, 0, 0, 0, uint32(i)-1, 0), from)
}

// localName reads <local-name>.
func (x *tree) localName() ref {
	x.expect('Z')
	from := len(x.out)
	function := x.encoding(true)
	x.expect('E')

	rendered := x.rendered
	x.emit("::")

	// Zs is a string literal, which has no name.
	if x.accept('s') {
		x.discriminator()
		name := x.emitWord(wordStringLiteral)
		x.rendered = rendered
		return x.whole(x.two(kindLocal, function, name), from)
	}

	// Zd <number> _: the name is within a default argument, counted from the last.
	arg := -1
	if x.accept('d') {
		arg, rendered = x.index(), false
	}

	// The local name itself.
	name := x.name()
	x.discriminator()
	x.rendered = rendered && x.rendered && x.nodes[name].kind != kindLocal

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

// discriminator skips a <discriminator>, which is not written. Clang's may be just
// digits at the end of the name.
func (x *tree) discriminator() {
	if !x.accept('_') {
		if rest := x.in[x.pos:]; len(bytes.TrimLeft(rest, "0123456789")) == 0 {
			x.pos = len(x.in)
		}
		return
	}

	// Numbers from 10 on stand between two underscores and one. Without a number it is none.
	long := x.accept('_')
	if !long && !lex.IsDigit(x.peek()) {
		x.pos--
		return
	}
	if n := x.number(); long && n >= 10 {
		x.expect('_')
	}
}

// module reads <module-name>, which W begins; outer is the module in front, or 0. Each part is a
// candidate for substitution.
func (x *tree) module(outer ref) ref {
	for x.accept('W') {
		partition := uint32(0)
		if x.accept('P') {
			partition = 1
		}
		name := x.sourceName()
		outer = x.node(kindModule, 0, outer, name, partition, 0)
		x.candidate(outer, 0)
	}
	return outer
}

// inModule reads the name in a module, and more parts of the module's name in front.
func (x *tree) inModule(module ref) ref {
	module = x.module(module)
	name := x.two(kindInModule, x.unqualifiedName(), module)
	x.rendered = false
	return name
}

// binding reads DC <source-name>+ E, the names of a structured binding.
func (x *tree) binding() ref {
	x.pos += 2
	mark := len(x.open)
	for !x.failed && !x.accept('E') {
		name := x.sourceName()
		x.open = append(x.open, name)
	}
	x.rendered = false
	return x.many(kindBinding, 0, mark)
}
