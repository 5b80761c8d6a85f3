package cxx

// This file reads the types that have no name: closures, and classes and enumerations.

// headNames are the beginnings of the names that parameters in such declarations get.
var headNames = [...]string{1: "$T", 2: "$N", 3: "$TT"}

// closure reads <closure-type-name>.
func (x *tree) closure() ref {
	x.pos += 2

	// Template parameters in the lambda are its own. The text and the node are made of the
	// parameters; the body has no name.
	template, inLambda, heads := x.template, x.inLambda, x.heads
	x.template, x.inLambda, x.heads = 0, true, lambdaHeads{}
	mark, from := len(x.open), len(x.out)
	head := x.lambdaHeads()
	x.emit("{lambda(")
	x.parameters(false)
	if head != 0 {
		x.rendered = false
	}
	if x.peek() == 'Q' {
		x.hide(x.constraint)
	}
	x.template, x.inLambda, x.heads = template, inLambda, heads
	x.expect('E')
	number := x.index()
	x.emitNumber(")#", number+1, "}")

	a := x.whole(x.many(kindClosure, head, mark), from)
	n := &x.nodes[a]
	n.flags &^= flagAuto | flagParam | flagPack
	n.b = ref(number)
	return a
}

// lambdaHeads reads the declarations of a lambda's template parameters. It returns a list of
// them, or 0.
func (x *tree) lambdaHeads() ref {
	mark := len(x.open)
	for x.peek() == 'T' && isDeclaration(x.peek2()) && !x.failed {
		a := x.lambdaHead()
		x.open = append(x.open, a)
		if x.peek() == 'Q' {
			x.hide(x.constraint)
		}
	}
	if len(x.open) == mark {
		return 0
	}
	return x.many(kindList, 0, mark)
}

// lambdaHead reads one declaration: of a type, a value, a type with a constraint, a template, or
// a pack of them.
func (x *tree) lambdaHead() (a ref) {
	if !x.enter() {
		return 0
	}
	defer x.leave()

	x.pos++
	c := x.peek()
	x.pos++
	number := x.heads.n
	switch c {
	case 'y':
		a = x.node(kindHead, 0, 0, ref(number), headType, 0)
	case 'n':
		a = x.node(kindHead, 0, x.use(x.typ()), ref(number), headValue, 0)
	case 'k':
		a = x.node(kindHead, 0, x.name(), ref(number), headType, 0)
	case 'p':
		a = x.lambdaHead()
		x.nodes[a].text[1] = 1
		return a
	case 't':
		// The parameters of the template are not those of the lambda.
		heads, mark := x.heads, len(x.open)
		for !x.failed && x.peek() != 'E' && x.peek() != 'Q' {
			inner := x.lambdaHead()
			x.open = append(x.open, inner)
		}
		if x.peek() == 'Q' {
			x.hide(x.constraint)
		}
		x.expect('E')
		list := x.many(kindList, 0, mark)
		x.heads = heads
		a = x.node(kindHead, 0, list, ref(number), headTemplate, 0)
	default:
		return x.fail()
	}
	if number == len(x.heads.kinds) {
		return x.fail()
	}
	x.heads.kinds[number], x.heads.n = uint8(x.nodes[a].text[0]), number+1
	return a
}

// Kinds of declarations, indices of headNames.
const (
	headType     = 1
	headValue    = 2
	headTemplate = 3
)

// isDeclaration reports whether c follows the T of a <template-param-decl>.
func isDeclaration(c byte) bool {
	switch c {
	case 'y', 'n', 't', 'p', 'k':
		return true
	}
	return false
}

// writeHead writes a declaration of a lambda's template parameter.
func (x *tree) writeHead(n *node) {
	switch {
	case n.text[0] == headTemplate:
		x.puts("template<")
		for i, a := range x.list(&x.nodes[n.a]) {
			if i > 0 {
				x.puts(", ")
			}
			h := &x.nodes[a]
			if h.text[0] == headValue {
				x.alone(h.a)
			} else {
				x.puts("typename")
			}
		}
		x.puts("> class")
	case n.a != 0:
		x.alone(n.a)
	default:
		x.puts("typename")
	}
	if n.text[1] != 0 {
		x.puts("...")
	}
	x.putc(' ')
	x.putn(headNames[n.text[0]], int(n.b), "")
	x.last = '0'
}

// unnamed reads <unnamed-type-name>.
func (x *tree) unnamed() ref {
	x.pos += 2
	from, number := len(x.out), x.index()
	x.emitNumber("{unnamed type#", number+1, "}")
	x.rendered = true
	a := x.whole(x.node(kindUnnamed, 0, 0, ref(number), 0, 0), from)
	x.candidate(a, 0)
	return a
}
