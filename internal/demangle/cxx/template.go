package cxx

import "symkit/internal/demangle/lex"

// This file reads template arguments, the parameters that stand for them, and
// substitutions.

// templateArgs reads the <template-args> of the template a, whose text begins at
// out[from].
func (x *tree) templateArgs(a ref, from int) ref {
	if reused := x.reused(); reused != 0 {
		return reused
	}

	mark, rendered, start := len(x.open), x.rendered, x.pos

	// A blank separates operator< from the bracket, and two closing brackets.
	if x.ends('<') { // operator<
		x.emit(" ")
	}
	x.emit("<")
	x.args(true)
	if x.ends('>') {
		x.emit(" ")
	}
	x.emit(">")
	x.rendered = rendered && x.rendered
	return x.remember(x.whole(x.many(kindTemplate, a, mark), from), start)
}

// args reads I <template-arg>* E onto x.open; for sparing see emittedList.
func (x *tree) args(sparing bool) {
	x.pos++
	list := emittedList{rendered: true, first: true, sparing: sparing}
	for !x.failed && !x.accept('E') {
		x.declaration()
		list.next(x)
		a := x.templateArg()
		list.add(x, a)
		x.open = append(x.open, a)
		if x.peek() == 'Q' {
			x.hide(x.constraint)
		}
	}
	x.rendered = list.rendered
}

// templateArg reads <template-arg>.
func (x *tree) templateArg() ref {
	switch x.peek() {
	case 'L':
		return x.literal()
	case 'X':
		x.pos++
		a := x.expression()
		x.expect('E')
		x.rendered = false
		return a
	case 'I', 'J':
		if !x.enter() {
			return 0
		}
		defer x.leave()
		mark, from := len(x.open), len(x.out)
		x.args(false)
		return x.whole(x.many(kindPack, 0, mark), from)
	}
	return x.typ()
}

// literal reads <expr-primary>.
func (x *tree) literal() ref {
	x.pos++

	// L_Z <encoding> E, or LZ by old compilers: the address of something.
	if x.peek() == 'U' && x.peek2() == 'l' {
		a := x.one(kindLambda, x.closure())
		x.expect('E')
		x.rendered = false
		return a
	}
	if x.peek() == '_' && x.peek2() == 'Z' || x.peek() == 'Z' {
		x.accept('_')
		x.expect('Z')
		a := x.encoding(false)
		x.expect('E')
		x.rendered = false
		return a
	}

	at := len(x.out)
	var a ref
	if c := x.peek(); lex.IsLower(c) && builtins[c-'a'] != "" {
		x.pos++
		a, x.rendered = x.builtin(uint32(c-'a')), true
	} else {
		x.emit("(")
		a = x.typ()
	}

	// The value: digits, or letters in the case of a floating-point number.
	negative := ref(0)
	if x.accept('n') {
		negative = 1
	}
	from := x.pos
	for x.pos < len(x.in) && x.in[x.pos] != 'E' {
		x.pos++
	}

	n := &x.nodes[x.use(a)]
	if n.kind == kindQuals {
		n = &x.nodes[n.a]
	}
	if x.pos == from && n.kind == kindArray {
		x.expect('E')
		x.rendered = false
		return x.one(kindQuoted, a)
	}
	if x.pos == from && (n.kind != kindBuiltin || n.text[0] != builtinNullptr) {
		return x.fail()
	}

	lit := x.node(kindLiteral, x.inherited(a), x.use(a), negative, uint32(from), uint32(x.pos))
	x.expect('E')
	x.emitLiteral(lit, at)
	return x.whole(lit, at)
}

// emitLiteral appends the literal a. out[from:] is a parenthesis and the literal's
// type, or empty if the type has one letter.
func (x *tree) emitLiteral(a ref, from int) {
	n := &x.nodes[a]

	// writeLiteral decides how the value of a builtin type is written.
	if x.nodes[n.a].kind == kindBuiltin {
		if len(x.out) > from {
			x.retract(from)
		}
		x.writeLiteral(n)
		return
	}

	x.rendered = x.rendered && x.simple(n.a)
	x.emit(")")
	x.writeValue(n)
}

// templateParam reads <template-param>. It returns the argument for the parameter; for a
// parameter of a generic lambda, it returns a node of its own.
func (x *tree) templateParam() ref {
	x.pos++
	if x.hidden > 0 || x.inCast {
		return x.hiddenParam()
	}
	n := x.index()
	switch {
	case x.failed || x.template == 0 && !x.inLambda || x.template == hiddenTemplate:
		return x.fail()
	case x.template == 0:
		from, kind := len(x.out), uint32(0)
		if n < x.heads.n {
			kind = uint32(x.heads.kinds[n])
			x.emitNumber(headNames[kind], n, "")
		} else {
			x.emitNumber("auto:", n+1, "")
		}
		x.rendered = true
		return x.whole(x.node(kindAuto, flagAuto, 0, ref(n), kind, 0), from)
	}

	// Replace the parameter by the argument.
	args := x.list(&x.nodes[x.template])
	if n >= len(args) {
		return x.fail()
	}
	a, flags := args[n], uint8(flagParam)
	if x.nodes[a].kind == kindPack {
		flags |= flagPack
	}
	x.emitNode(a)
	return x.node(kindParam, flags, a, 0, 0, 0)
}

// substitution reads <substitution>. forPrefix means that it is part of a prefix, so
// that the name of a constructor or destructor may follow.
func (x *tree) substitution(forPrefix bool) ref {
	x.pos++
	c := x.peek()
	if c == '_' || lex.IsDigit(c) || lex.IsUpper(c) {
		return x.candidateAt(x.seqID())
	}

	from := len(x.out)
	x.pos = min(x.pos+1, len(x.in))
	if c == 't' {
		return x.tagsOfStd(x.emitWord(wordStd), from)
	}

	// One of the abbreviations for names in std.
	word, ok := standardSub(c)
	if !ok {
		return x.fail()
	}
	if forPrefix && (x.peek() == 'C' || x.peek() == 'D') {
		return x.standardClass(c)
	}

	std := x.emitWord(wordStd)
	x.emit("::")
	a := x.whole(x.two(kindQualified, std, x.emitWord(word)), from)
	x.nodes[a].flags |= flagStd
	return x.tagsOfStd(a, from)
}

// standardClass returns the full name of a class in std, which is written if a constructor or
// destructor follows.
func (x *tree) standardClass(c byte) ref {
	mark := len(x.open)
	if c != 'a' && c != 'b' {
		x.open = append(x.open, x.builtin('c'-'a'), x.word(wordCharTraits))
	}
	if c == 's' {
		x.open = append(x.open, x.word(wordCharAllocator))
	}
	class := map[byte]uint32{'a': wordAllocator, 'b': wordBasicString, 's': wordBasicString, 'i': wordBasicIstream,
		'o': wordBasicOstream, 'd': wordBasicIostream}[c]
	name := x.word(class)
	if len(x.open) > mark {
		name = x.many(kindTemplate, name, mark)
	}
	x.rendered = false
	a := x.two(kindQualified, x.word(wordStd), name)
	x.nodes[a].flags |= flagStd
	return a
}

// tagsOfStd reads the tags of a standard substitution, which make it a
// candidate like any other.
func (x *tree) tagsOfStd(a ref, from int) ref {
	if x.peek() != 'B' {
		return a
	}
	a = x.tags(a, from)
	x.candidate(a, 0)
	return a
}

// candidateAt appends the text of a candidate and returns the candidate. The template
// parameters in a candidate mean the arguments of the template in force here, or those
// of the lambda whose parameters are being read. If that is not the template that was
// in force where the candidate was read first, the candidate is read again.
func (x *tree) candidateAt(id int) ref {
	if x.failed || id >= len(x.subs) {
		return x.fail()
	}

	s := x.subs[id]
	flags := x.nodes[s.node].flags

	// Parameters in the candidate may mean other arguments here.
	switch {
	case flags&(flagParam|flagAuto) == 0, x.hidden > 0, x.inCast:
	case x.template == 0 && x.inLambda && (flags&flagParam != 0 || x.heads.n > 0):
		return x.readAgain(s, 0)
	case flags&flagParam != 0 && s.template != x.template, flags&flagAuto != 0 && !x.inLambda:
		if x.template == 0 {
			return x.fail()
		}
		return x.readAgain(s, x.template)
	}
	x.emitNode(s.node)
	return s.node
}

// readAgain reads the text of a candidate again, with another template in force. It
// adds no candidates: those within the text are candidates already.
func (x *tree) readAgain(s sub, template ref) (a ref) {
	x.steps++
	if s.start == 0 || x.steps > maxSteps || len(x.out) > maxEmitted || !x.enter() {
		return x.fail()
	}

	// The text in x.out beyond this point is no longer the last name's.
	pos, stop, count, old := x.pos, x.stop, len(x.subs), x.template
	x.retract(len(x.out))
	x.reread, x.same, x.pos, x.stop, x.template = x.reread+1, 0, int(s.start), 0, template

	// A prefix ends where it ended before; a type ends by itself.
	if s.prefix {
		x.stop = int(s.end)
		a = x.prefix()
	} else {
		a = x.typ()
	}

	if x.failed || x.pos != int(s.end) {
		return x.fail()
	}
	x.reread, x.pos, x.stop, x.template, x.subs = x.reread-1, pos, stop, old, x.subs[:count]
	x.leave()
	return a
}

// castName reads the <type> of a conversion operator.
func (x *tree) castName() ref {
	old, start, template := x.inCast, x.pos, x.template
	x.inCast, x.template = true, hiddenTemplate
	to := x.typ()
	x.inCast, x.template, x.rendered = old, template, false
	cast := x.one(kindCast, to)
	if x.nodes[cast].flags&flagParam != 0 && x.hidden == 0 && !x.inCast {
		x.late = lateCast{cast: cast, start: start, end: x.pos}
		x.nodes[cast].flags &^= flagParam
	}
	return cast
}

// resolve reads the type of a conversion operator again, with the arguments of a template.
func (x *tree) resolve(late *lateCast, template ref) {
	if late.cast == 0 || x.failed {
		return
	}
	for template != 0 && x.nodes[template].kind != kindTemplate {
		template = x.nodes[template].b // behind the scope
	}
	if template == 0 {
		x.fail()
		return
	}

	// The type ends where it ended before.
	cast, old := late.cast, x.castEnd
	late.cast, x.castEnd = 0, late.end
	to := x.readAgain(sub{start: uint32(late.start), end: uint32(late.end)}, template)
	x.castEnd = old
	x.nodes[cast].a, x.rendered = x.use(to), false
}

// castParam is paramType in the type of a conversion operator: arguments that follow belong to the
// operator, unless others follow them.
func (x *tree) castParam() ref {
	a := x.hiddenParam()
	if x.peek() != 'I' {
		return a
	}

	// Read the arguments to see what follows them.
	pos, subs, open := x.pos, len(x.subs), len(x.open)
	x.candidate(a, 0)
	args := x.templateArgs(a, len(x.out))
	if !x.failed && x.peek() == 'I' {
		return args
	}
	x.failed, x.pos, x.subs, x.open = false, pos, x.subs[:subs], x.open[:open]
	x.retract(len(x.out))
	return a
}
