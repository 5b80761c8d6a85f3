package cxx

import (
	"symkit/internal/demangle/lex"
)

// This file reads <expression> (Itanium C++ ABI §5.1.6.1). Expressions are in the names of
// templates: as arguments, in decltype, in noexcept, as dimensions of arrays, and in
// constraints, which are not written.

// expression reads an <expression>.
func (x *tree) expression() (a ref) {
	if !x.enter() {
		return 0
	}
	defer x.leave()

	// Operands first, then operators.
	switch c, next := x.peek(), x.peek2(); {
	case c == 'L':
		return x.literal()
	case c == 'T':
		return x.templateParam()
	case c == 'X':
		x.pos++
		a = x.expression()
		x.expect('E')
		return a
	case lex.IsDigit(c), c == 'o' && next == 'n', c == 'd' && next == 'n':
		return x.member()
	case c == 'f' && (next == 'p' || next == 'L' && lex.IsDigit(x.at(2))):
		return x.argument()
	case c == 'f':
		return x.fold()
	case c == 'u', c == 'v' && lex.IsDigit(next):
		return x.vendorOperation()
	}
	return x.operation()
}

// operation reads an operator and its operands.
func (x *tree) operation() ref {
	code := string([]byte{x.peek(), x.peek2()})
	x.pos = min(x.pos+2, len(x.in))
	switch code {
	case "ad":
		return x.one(kindAddress, x.expression())
	case "sp":
		return x.expansion(x.expression())
	case "sr":
		return x.unresolvedName()
	case "sZ":
		return x.packSize(x.expression())
	case "sP":
		mark := len(x.open)
		for !x.failed && !x.accept('E') {
			x.open = append(x.open, x.templateArg())
		}
		return x.packSize(x.many(kindPack, 0, mark))
	case "nw", "na":
		return x.newOperation(code)
	case "rq", "rQ":
		return x.requirements(code)
	case "mc", "so":
		return x.subobject(code)
	case "pp", "mm", "cv": // _ before an operand, or a list instead of one
		if code != "cv" && x.accept('_') {
			code += "_"
		}
	}

	// All others have only operands.
	t := exprs()
	op := t.index[code]
	if op == 0 {
		return x.fail()
	}
	mark := len(x.open)
	if code == "cv" {
		x.open = append(x.open, x.typ())
		if x.accept('_') {
			x.expressions('E')
			return x.operator("cv_", mark)
		}
		x.open = append(x.open, x.expression())
		return x.operator(code, mark)
	}
	x.operands(t.ops[op].forms)
	return x.operator(code, mark)
}

// operator adds the node of an operator with the operands on x.open from mark on.
func (x *tree) operator(code string, mark int) ref {
	a := x.many(kindOperation, 0, mark)
	x.nodes[a].b = exprs().index[code]
	return a
}

// operands reads operands onto x.open: see exprOp.
func (x *tree) operands(forms string) {
	for _, form := range forms {
		switch form {
		case 'e':
			a := x.expression()
			x.open = append(x.open, a)
		case 't':
			a := x.typ()
			x.open = append(x.open, a)
		case 'n':
			a := x.member()
			x.open = append(x.open, a)
		case '*':
			x.expressions('E')
		}
	}
}

// expressions reads expressions up to a letter onto x.open.
func (x *tree) expressions(end byte) {
	for !x.failed && !x.accept(end) {
		a := x.expression()
		x.open = append(x.open, a)
	}
}
