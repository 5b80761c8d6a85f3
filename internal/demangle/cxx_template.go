package demangle

// templateArgs reads <template-args> of the template a, which was said from
// there on.
func (x *cxxTree) templateArgs(a ref, from int) ref {
	if again := x.again(); again != 0 {
		return again
	}
	mark, said, start := len(x.open), x.said, x.pos
	if x.ends('<') { // operator<
		x.say(" ")
	}
	x.say("<")
	x.args(true)
	if x.ends('>') {
		x.say(" ")
	}
	x.say(">")
	x.said = said && x.said
	return x.remember(x.whole(x.many(kindTemplate, a, mark), from), start)
}

// args reads I <template-arg>* E onto x.open; sparing is writeList's.
func (x *cxxTree) args(sparing bool) {
	x.pos++
	list := saidList{said: true, first: true, sparing: sparing}
	for !x.failed && !x.accept('E') {
		list.next(x)
		a := x.templateArg()
		list.add(x, a)
		x.open = append(x.open, a)
		if x.peek() == 'Q' {
			x.fail()
		}
	}
	x.said = list.said
}

// templateArg reads <template-arg>.
func (x *cxxTree) templateArg() ref {
	switch x.peek() {
	case 'L':
		return x.literal()
	case 'X':
		x.pos++
		a := x.expression()
		x.expect('E')
		x.said = false
		return a
	case 'I', 'J':
		if !x.enter() {
			return 0
		}
		defer x.leave()
		mark, from := len(x.open), len(x.out)
		x.args(false)
		return x.whole(x.many(kindPack, 0, mark), from)
	case 'T':
		switch x.peek2() {
		case 'y', 'n', 't', 'p', 'k':
			return x.fail()
		}
	}
	return x.typ()
}

// literal reads <expr-primary>.
func (x *cxxTree) literal() ref {
	x.pos++
	if x.peek() == '_' || x.peek() == 'Z' {
		x.accept('_')
		x.expect('Z')
		a := x.encoding(false)
		x.expect('E')
		x.said = false
		return a
	}
	at := len(x.out)
	var a ref
	if c := x.peek(); isLower(c) && cxxBuiltins[c-'a'] != "" {
		x.pos++
		a, x.said = x.builtin(uint32(c-'a')), true
	} else {
		x.say("(")
		a = x.typ()
	}
	negative := ref(0)
	if x.accept('n') {
		negative = 1
	}
	from := x.pos
	for x.pos < len(x.in) && x.in[x.pos] != 'E' {
		x.pos++
	}
	n := &x.nodes[a]
	if x.pos == from && (n.kind != kindBuiltin || n.text[0] != builtinNullptr) {
		return x.fail() // a lambda, a string
	}
	lit := x.node(kindLiteral, x.inherited(a), x.use(a), negative, uint32(from), uint32(x.pos))
	x.expect('E')
	x.sayLiteral(lit, at)
	return x.whole(lit, at)
}

// sayLiteral appends a literal; a parenthesis and its type are out[from:], but
// for a type of one letter.
func (x *cxxTree) sayLiteral(a ref, from int) {
	n := &x.nodes[a]
	if x.nodes[n.a].kind == kindBuiltin { // is part of nothing that is said
		if len(x.out) > from {
			x.unsay(from)
		}
		x.writeLiteral(n)
		return
	}
	x.said = x.said && x.simple(n.a)
	x.say(")")
	x.writeValue(n)
}

// templateParam reads <template-param>: the argument, or what a lambda's own
// parameter is called.
func (x *cxxTree) templateParam() ref {
	x.pos++
	n := x.index()
	switch {
	case x.failed || x.inCast || x.template == 0 && !x.inLambda:
		return x.fail()
	case x.template == 0:
		from := len(x.out)
		x.sayNumber("auto:", n+1, "")
		x.said = true
		return x.whole(x.node(kindAuto, flagAuto, 0, ref(n), 0, 0), from)
	}
	args := x.list(&x.nodes[x.template])
	if n >= len(args) {
		return x.fail()
	}
	a, flags := args[n], uint8(flagParam)
	if x.nodes[a].kind == kindPack {
		flags |= flagPack
	}
	x.sayNode(a)
	return x.node(kindParam, flags, a, 0, 0, 0)
}

// substitution reads <substitution>. For a prefix the name of a constructor or
// destructor may follow.
func (x *cxxTree) substitution(forPrefix bool) ref {
	x.pos++
	c := x.peek()
	if c == '_' || isDigit(c) || isUpper(c) {
		return x.candidateAt(x.seqID())
	}
	from := len(x.out)
	x.pos = min(x.pos+1, len(x.in))
	if c == 't' {
		return x.tagsOfStd(x.sayWord(wordStd), from)
	}
	word, ok := standardSub(c)
	if !ok || forPrefix && (x.peek() == 'C' || x.peek() == 'D') {
		return x.fail() // std::string::string() is called by its full name
	}
	std := x.sayWord(wordStd)
	x.say("::")
	a := x.whole(x.two(kindQualified, std, x.sayWord(word)), from)
	x.nodes[a].flags |= flagStd
	return x.tagsOfStd(a, from)
}

// tagsOfStd reads the tags of a standard substitution, which make it a
// candidate like any other.
func (x *cxxTree) tagsOfStd(a ref, from int) ref {
	if x.peek() != 'B' {
		return a
	}
	a = x.tags(a, from)
	x.candidate(a, 0)
	return a
}

// seqID reads the number of a candidate.
func (x *cxxTree) seqID() (id int) {
	if x.accept('_') {
		return 0
	}
	for !x.failed && !x.accept('_') {
		switch c := x.peek(); {
		case isDigit(c):
			id = id*36 + int(c-'0')
		case isUpper(c):
			id = id*36 + int(c-'A') + 10
		default:
			x.fail()
		}
		if x.pos = min(x.pos+1, len(x.in)); id > 1<<20 {
			x.fail()
		}
	}
	return id + 1
}

// candidateAt says and returns a candidate. One with template parameters means
// those of the template in force here, or of the lambda whose parameters are read:
// where that is another one than where it was read, it is read again.
func (x *cxxTree) candidateAt(id int) ref {
	if x.failed || id >= len(x.subs) {
		return x.fail()
	}
	s := x.subs[id]
	flags := x.nodes[s.node].flags
	switch {
	case flags&(flagParam|flagAuto|flagCapture) == 0:
	case flags&flagCapture != 0, x.inCast:
		return x.fail()
	case x.inLambda && flags&flagParam != 0:
		return x.readAgain(s, 0)
	case flags&flagParam != 0 && s.template != x.template, flags&flagAuto != 0 && !x.inLambda:
		if x.template == 0 {
			return x.fail()
		}
		return x.readAgain(s, x.template)
	}
	x.sayNode(s.node)
	return s.node
}

// readAgain reads a candidate where it was read, with another template in force.
// What is a candidate in it is one already.
func (x *cxxTree) readAgain(s cxxSub, template ref) (a ref) {
	if x.steps++; s.start == 0 || x.steps > cxxMaxSteps || len(x.out) > maxSaid || !x.enter() {
		return x.fail()
	}
	pos, stop, count, old := x.pos, x.stop, len(x.subs), x.template
	x.unsay(len(x.out))
	x.reread, x.same, x.pos, x.stop, x.template = x.reread+1, 0, int(s.start), 0, template
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
