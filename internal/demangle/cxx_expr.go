package demangle

// This file reads and writes the kinds of <expression> that are frequent in names:
// literals, template parameters, calls, common operators. All other kinds fail, which
// leaves the name to the library.

// exprOps are the most frequent operators: code, colon, text. Unary operators come
// first.
var exprOps = [...]string{
	"nt:!", "ng:-", "co:~", "de:*", "aa:&&", "oo:||", "eq:==", "ne:!=", "lt:<", "le:<=", "gt:>", "ge:>=", "pl:+", "mi:-",
	"ml:*", "an:&", "or:|", "dt:.", "pt:->",
}

const (
	exprUnary   = 4  // of exprOps
	exprGreater = 10 // index of gt
	exprMember  = 17 // from here on, a name follows
)

// expression reads an <expression>.
func (x *cxxTree) expression() ref {
	if x.hidden > 0 {
		return x.hiddenExpression()
	}
	if !x.enter() {
		return 0
	}
	defer x.leave()

	// Operands first, then operators with rules of their own.
	switch c, next := x.peek(), x.peek2(); {
	case c == 'L':
		return x.literal()
	case c == 'T':
		return x.templateParam()
	case isDigit(c):
		return x.maybeTemplate(x.unqualifiedName())
	case c == 'a' && next == 'd':
		x.pos += 2
		return x.one(kindAddress, x.expression())
	case c == 's' && next == 'p':
		x.pos += 2
		return x.expansion(x.expression())
	case c == 's' && next == 'r':
		x.pos += 2
		return x.unresolvedName()
	}
	return x.otherExpression()
}

// otherExpression reads calls, function parameters, sizeof and operators.
func (x *cxxTree) otherExpression() ref {
	switch code := [2]byte{x.peek(), x.peek2()}; code {
	case [2]byte{'c', 'l'}:
		x.pos += 2
		a, mark := x.expression(), len(x.open)
		if x.nodes[a].kind == kindTyped {
			return x.fail() // the library writes the type of the function only in some cases
		}

		// The arguments of the call.
		for !x.failed && !x.accept('E') {
			x.open = append(x.open, x.expression())
		}
		return x.many(kindCall, a, mark)
	case [2]byte{'f', 'p'}:
		x.pos += 2
		a := x.node(kindArgument, 0, 0, 0, 0, 0)
		if !x.accept('T') {
			x.qualifiers()
			x.nodes[a].b = ref(x.index() + 1)
		}
		return a
	case [2]byte{'s', 't'}:
		x.pos += 2
		return x.one(kindSizeof, x.typ())
	}
	return x.operation()
}

// operation reads an operator and its operands.
func (x *cxxTree) operation() ref {
	for i, op := range exprOps {
		if op[0] != x.peek() || op[1] != x.peek2() {
			continue
		}

		// The operator's table says how many operands it has.
		x.pos += 2
		a := x.expression()
		switch {
		case i < exprUnary:
			a = x.one(kindUnary, a)
		case i < exprMember:
			a = x.two(kindBinary, a, x.expression())
		default:
			a = x.two(kindBinary, a, x.simpleID())
		}
		x.nodes[a].text[0] = uint32(i)
		return a
	}
	return x.fail()
}

// simpleID reads <simple-id>.
func (x *cxxTree) simpleID() ref { return x.maybeTemplate(x.sourceName()) }

// maybeTemplate reads the <template-args> of a name in an expression, if the name has
// any. The result is no candidate for substitution.
func (x *cxxTree) maybeTemplate(name ref) ref {
	if x.peek() == 'I' {
		x.rendered = false
		return x.templateArgs(name, len(x.out))
	}
	return name
}

// writeOperation writes a kindUnary or kindBinary. An operation whose operator is >
// gets parentheses, as it stands in a template's arguments.
func (x *cxxTree) writeOperation(n *cxxNode) {
	op := exprOps[n.text[0]][len("xx:"):]
	if n.kind == kindUnary {
		x.puts(op)
		x.writeBraced(n.a)
		return
	}

	// A > would end the list of arguments.
	outer := n.text[0] == exprGreater
	if outer {
		x.putc('(')
	}

	x.writeBraced(n.a)
	x.puts(op)
	x.writeBraced(n.b)
	if outer {
		x.putc(')')
	}
}
