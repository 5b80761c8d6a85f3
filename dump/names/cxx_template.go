package names

// templateArgs reads <template-args> of the template a.
func (x *cxxTree) templateArgs(a ref) ref {
	mark := len(x.open)
	x.args()
	return x.many(kindTemplate, a, mark)
}

// args reads I <template-arg>* E onto x.open.
func (x *cxxTree) args() {
	x.pos++
	for !x.failed && !x.accept('E') {
		a := x.templateArg()
		x.open = append(x.open, a)
		if x.peek() == 'Q' {
			x.fail()
		}
	}
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
		return a
	case 'I', 'J':
		if !x.enter() {
			return 0
		}
		defer x.leave()
		mark := len(x.open)
		x.args()
		return x.many(kindPack, 0, mark)
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
		return a
	}
	a := x.typ()
	negative := ref(0)
	if x.accept('n') {
		negative = 1
	}
	from := x.pos
	for x.pos < len(x.in) && x.in[x.pos] != 'E' {
		x.pos++
	}
	n := x.nodes[a]
	if x.pos == from && (n.kind != kindBuiltin || n.text[0] != builtinNullptr) {
		return x.fail() // a lambda, a string
	}
	text := [2]uint32{uint32(from), uint32(x.pos)}
	x.expect('E')
	return x.add(cxxNode{kind: kindLiteral, flags: x.inherited(a), a: x.use(a), b: negative, text: text})
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
		return x.add(cxxNode{kind: kindAuto, flags: flagAuto, b: ref(n)})
	}
	args := x.list(&x.nodes[x.template])
	if n >= len(args) {
		return x.fail()
	}
	a := cxxNode{kind: kindParam, flags: flagParam, a: args[n]}
	if x.nodes[a.a].kind == kindPack {
		a.flags |= flagPack
	}
	return x.add(a)
}

// substitution reads <substitution>. For a prefix the name of a constructor or
// destructor may follow.
func (x *cxxTree) substitution(forPrefix bool) ref {
	x.pos++
	c := x.peek()
	if c == '_' || isDigit(c) || isUpper(c) {
		return x.candidateAt(x.seqID())
	}
	x.pos = min(x.pos+1, len(x.in))
	if c == 't' {
		return x.tagsOfStd(x.word(wordStd))
	}
	word, ok := standardSub(c)
	if !ok || forPrefix && (x.peek() == 'C' || x.peek() == 'D') {
		return x.fail() // std::string::string() is called by its full name
	}
	a := x.two(kindQualified, x.word(wordStd), x.word(word))
	x.nodes[a].flags |= flagStd
	return x.tagsOfStd(a)
}

// tagsOfStd reads the tags of a standard substitution, which make it a
// candidate like any other.
func (x *cxxTree) tagsOfStd(a ref) ref {
	if x.peek() != 'B' {
		return a
	}
	a = x.tags(a)
	x.candidate(a)
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

// candidateAt returns a candidate. One with template parameters means those of
// the template in force here: where that is another one than where it was read,
// the library has to find out.
func (x *cxxTree) candidateAt(id int) ref {
	if x.failed || id >= len(x.subs) {
		return x.fail()
	}
	s := x.subs[id]
	flags := x.nodes[s.node].flags
	switch {
	case flags&(flagParam|flagAuto|flagCapture) == 0:
	case flags&flagCapture != 0, x.inCast,
		flags&flagParam != 0 && (x.inLambda || s.template != x.template),
		flags&flagAuto != 0 && !x.inLambda:
		return x.fail()
	}
	return s.node
}
