package demangle

import "strings"

// exprOps are the operators that expressions in names have most: code, colon,
// text; first those of one operand.
const exprOps = "nt:! ng:- co:~ de:* aa:&& oo:|| eq:== ne:!= lt:< le:<= gt:> ge:>= pl:+ mi:- ml:* an:& or:| dt:. pt:->"

const (
	exprUnary   = 4  // of exprOps
	exprGreater = 10 // index of gt
	exprMember  = 17 // from here on, a name follows
)

// cxxExprOps are exprOps by index.
var cxxExprOps = strings.Fields(exprOps)

// expression reads the kinds of <expression> that are most of those in names.
func (x *cxxTree) expression() ref {
	if !x.enter() {
		return 0
	}
	defer x.leave()
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

// otherExpression reads calls and what is in them.
func (x *cxxTree) otherExpression() ref {
	switch code := [2]byte{x.peek(), x.peek2()}; code {
	case [2]byte{'c', 'l'}:
		x.pos += 2
		a, mark := x.expression(), len(x.open)
		if k := x.nodes[a].kind; k == kindTyped {
			return x.fail() // whose type is not always written
		}
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
	for i, op := range cxxExprOps {
		if op[0] != x.peek() || op[1] != x.peek2() {
			continue
		}
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

// maybeTemplate reads the <template-args> of a name in an expression, if it has
// any. It is no candidate for substitution.
func (x *cxxTree) maybeTemplate(name ref) ref {
	if x.peek() == 'I' {
		x.said = false
		return x.templateArgs(name, len(x.out))
	}
	return name
}

// writeOperation writes a kindUnary or kindBinary. What has a > in it has
// parentheses around it, for it stands in a template's arguments.
func (x *cxxTree) writeOperation(n *cxxNode) {
	op := cxxExprOps[n.text[0]][len("xx:"):]
	if n.kind == kindUnary {
		x.puts(op)
		x.writeBraced(n.a)
		return
	}
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
