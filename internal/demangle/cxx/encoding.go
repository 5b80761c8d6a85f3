package cxx

import "bytes"

// This file reads <encoding> and <special-name>: whole names, and names that are the
// scope of a local name. Comments name the rules of the Itanium C++ ABI's grammar
// (§5.1).

// encoding reads <encoding>. local is set if the encoding is the scope of a local name.
func (x *tree) encoding(local bool) ref {
	if !x.enter() {
		return 0
	}
	defer x.leave()
	if c := x.peek(); c == 'G' || c == 'T' {
		return x.special()
	}

	from := len(x.out)
	name := x.name()
	if x.pos == len(x.in) || x.peek() == 'E' || x.peek() == '.' && !local {
		x.rendered = x.rendered && x.methodOf(name) == 0
		return name // the name of a variable
	}

	// The parameters of the function mean the arguments of its innermost template.
	rendered := x.rendered
	oldTemplate, oldLambda := x.template, x.inLambda
	if t := x.functionTemplate(x.inheritedFrom(name)); t != 0 && x.hidden == 0 {
		x.template, x.inLambda = t, false
	}
	condition := x.enableIf()
	rendered = rendered && condition == 0

	kind := kindFunc
	if local {
		kind = kindLocalFunc
	}

	// The return type comes first in the type of a template function.
	method := x.methodOf(name)
	this := method != 0 && x.nodes[method].b == refThis
	function := x.signature(kind, x.hasReturn(name), this)
	x.template, x.inLambda = oldTemplate, oldLambda
	if x.failed {
		return 0
	}
	signature := x.rendered
	if x.peek() == 'Q' {
		x.hide(x.constraint)
	}

	// A function is rendered in reading order unless its return type is written.
	x.rendered = rendered && signature && x.nodes[function].a == 0
	if x.rendered {
		x.emitMethod(x.methodOf(name))
	}
	a := x.whole(x.typed(name, function), from)
	if condition != 0 {
		a = x.node(kindEnableIf, 0, a, condition, 0, 0)
		x.rendered = false
	}
	return a
}

// enableIf reads Ua9enable_if <template-args>, the condition of clang's attribute.
func (x *tree) enableIf() ref {
	const mark = "Ua9enable_if"
	if x.peek() != 'U' || !bytes.HasPrefix(x.in[x.pos:], []byte(mark+"I")) {
		return 0
	}
	x.pos += len(mark)
	open := len(x.open)
	x.args(true)
	return x.many(kindList, 0, open)
}

// methodOf returns the kindMethod node that name is or, in a local name, ends with; 0
// if there is none. The qualifiers of the node are not written with the name, since
// they qualify the type of the function.
func (x *tree) methodOf(name ref) ref {
	if x.nodes[name].kind == kindLocal {
		name = x.nodes[name].b
	}
	if x.nodes[name].kind != kindMethod {
		return 0
	}
	return name
}

// emitMethod appends the qualifiers of the method a; a may be 0.
func (x *tree) emitMethod(a ref) {
	if a == 0 {
		return
	}
	n := &x.nodes[a]
	x.emitQualifiers(n.quals)
	if n.b != refThis {
		x.emit([...]string{"", " &", " &&"}[n.b])
	}
}

// typed adds the node of a function and its type. Qualifiers of the name belong to the
// type. The node has no flags: no parameter in it means a template's argument any more.
func (x *tree) typed(name, function ref) ref {
	// A method's qualifiers stand in its name, but are written after its parameters.
	name, function = x.methodType(name, function)
	if x.nodes[name].kind == kindLocal {
		n := x.nodes[name]
		inner := n.b

		// A default argument stands between the function and the local name.
		arg := x.nodes[inner].kind == kindDefaultArg
		if arg {
			inner = x.nodes[inner].a
		}
		inner, function = x.methodType(inner, function)
		if arg {
			d := x.nodes[n.b]
			d.a = inner
			inner = x.add(d)
		}
		n.b = inner
		name = x.add(n)
	}
	return x.node(kindTyped, 0, name, function, 0, 0)
}

// methodType moves the qualifiers of name to the function's type.
func (x *tree) methodType(name, function ref) (unqualified, typ ref) {
	if x.nodes[name].kind != kindMethod {
		return name, function
	}

	n := x.nodes[name]
	if x.nodes[n.a].kind >= kindTyped {
		x.fail() // a type for a function
	}
	unqualified, n.a, n.flags = n.a, function, 0
	return unqualified, x.add(n)
}

// inheritedFrom returns the class from which the constructor at the end of name is
// inherited, since the parameters of such a constructor mean that class's arguments.
// For all other names it returns name.
func (x *tree) inheritedFrom(name ref) ref {
	// The constructor is the last name within qualifiers and scopes.
	a := name
	if x.nodes[a].kind == kindLocal {
		a = x.nodes[a].b
	}
	if x.nodes[a].kind == kindMethod {
		a = x.nodes[a].a
	}
	if x.nodes[a].kind == kindQualified {
		a = x.nodes[a].b
	}

	if n := &x.nodes[a]; n.kind == kindCtor && n.b != 0 {
		return n.b
	}
	return name
}

// functionTemplate returns the template whose arguments the function's parameters may
// name, or 0 if there is none.
func (x *tree) functionTemplate(name ref) ref {
	for {
		switch n := &x.nodes[name]; n.kind {
		case kindTemplate:
			return name
		case kindMethod:
			name = n.a
		case kindLocal:
			name = n.b
		case kindQuals:
			return x.fail() // a type for a function
		default:
			return 0
		}
	}
}

// hasReturn reports whether the type of the function begins with its return type. The
// types of template functions do, except constructors, destructors and conversions.
func (x *tree) hasReturn(name ref) bool {
	t := x.functionTemplate(name)
	if t == 0 {
		return false
	}

	// The name of the template itself, without scopes.
	n := &x.nodes[x.nodes[t].a]
	for n.kind == kindQualified || n.kind == kindLocal {
		n = &x.nodes[n.b]
	}

	for n.kind == kindTagged {
		n = &x.nodes[n.a]
	}
	return n.kind != kindCtor && n.kind != kindDtor && n.kind != kindCast
}

// special reads the kinds of <special-name> that compilers write.
func (x *tree) special() ref {
	defer func() { x.rendered = false }()

	// Most kinds are a word and a type or a name.
	code := [2]byte{x.peek(), x.peek2()}
	x.pos = min(x.pos+2, len(x.in))
	switch code {
	case [2]byte{'T', 'V'}:
		return x.prefixed(wordVtable, x.typ())
	case [2]byte{'T', 'T'}:
		return x.prefixed(wordVTT, x.typ())
	case [2]byte{'T', 'I'}:
		return x.prefixed(wordTypeinfo, x.typ())
	case [2]byte{'T', 'S'}:
		return x.prefixed(wordTypeinfoName, x.typ())
	case [2]byte{'T', 'H'}:
		return x.prefixed(wordTLSInit, x.name())
	case [2]byte{'T', 'W'}:
		return x.prefixed(wordTLSWrapper, x.name())
	case [2]byte{'G', 'V'}:
		return x.prefixed(wordGuard, x.name())
	case [2]byte{'T', 'h'}:
		x.callOffset('h')
		return x.prefixed(wordThunk, x.encoding(false))
	case [2]byte{'T', 'v'}:
		x.callOffset('v')
		return x.prefixed(wordVirtualThunk, x.encoding(false))
	case [2]byte{'T', 'c'}:
		// One offset is for this, the other for the result.
		for range 2 {
			c := x.peek()
			x.pos = min(x.pos+1, len(x.in))
			x.callOffset(c)
		}
		return x.prefixed(wordCovariantThunk, x.encoding(false))
	case [2]byte{'T', 'C'}:
		return x.constructionVtable()
	}
	return x.rareSpecial(code)
}

// rareSpecial reads the other kinds of <special-name>.
func (x *tree) rareSpecial(code [2]byte) ref {
	switch code {
	case [2]byte{'T', 'A'}:
		return x.prefixed(wordParameterObject, x.templateArg())
	case [2]byte{'T', 'F'}:
		return x.prefixed(wordTypeinfoFunction, x.typ())
	case [2]byte{'T', 'J'}:
		return x.prefixed(wordJavaClass, x.typ())
	case [2]byte{'G', 'R'}:
		name := x.name()
		x.seqID() // the number of the temporary
		return x.prefixed(wordReferenceTemporary, name)
	case [2]byte{'G', 'T'}:
		word := uint32(wordTransactionClone)
		if x.peek() == 'n' {
			word = wordNonTransactionClone
		}
		x.pos = min(x.pos+1, len(x.in))
		return x.prefixed(word, x.encoding(false))
	case [2]byte{'G', 'I'}:
		module := ref(0)
		if x.peek() == 'S' {
			module = x.substitution(false)
		}
		return x.prefixed(wordModuleInit, x.module(module))
	}
	return x.fail()
}

// prefixed adds the node of a special name: a word of words before a.
func (x *tree) prefixed(word uint32, a ref) ref {
	return x.node(kindSpecial, x.inherited(a), x.use(a), 0, word, 0)
}

// callOffset skips a <call-offset> whose letter was c.
func (x *tree) callOffset(c byte) {
	if c != 'h' && c != 'v' {
		x.fail()
	}

	// The offset to this; n is the sign.
	x.accept('n')
	x.number()
	x.expect('_')

	// A virtual offset has a second number.
	if c == 'v' {
		x.accept('n')
		x.number()
		x.expect('_')
	}
}

// constructionVtable reads the rest of TC <type> <number> _ <type>.
func (x *tree) constructionVtable() ref {
	derived := x.typ()
	x.number()
	x.expect('_')
	return x.two(kindTwo, x.typ(), derived)
}
