package demangle

import (
	"bytes"
	"sync"
)

// This file reads the parts of a constrained template's name that are not arguments: the
// declarations of template parameters that do not follow from the arguments (Ty, Tn, Tt,
// Tp, Tk), and constraints (Q), into which C++20's concepts and requires-clauses are
// mangled (Itanium C++ ABI §5.1.5.10, §5.1.6). The text omits these hidden parts, as that
// of LLVM's demangler does. They are read because their types are candidates for
// substitution.
//
// A template parameter in a hidden part may stand for an argument that comes later in the
// name. Therefore a template parameter in a hidden part is a node without a meaning. A
// later substitution of a type with such a parameter reads the type's text again, like any
// type that was read while another template was in force.

// hiddenTemplate is cxxTree.template in a hidden part. It is no index of a node.
const hiddenTemplate ref = -1

// hide reads a hidden part with read, and removes the text of the part.
func (x *cxxTree) hide(read func()) {
	if !x.constrained {
		x.fail()
		return
	}

	from, node, mark := len(x.out), len(x.nodes), len(x.open)
	template, inLambda, inCast, stop := x.template, x.inLambda, x.inCast, x.stop
	x.template, x.inLambda, x.inCast, x.stop = hiddenTemplate, false, false, 0
	x.hidden++
	read()
	x.hidden--
	x.template, x.inLambda, x.inCast, x.stop = template, inLambda, inCast, stop

	// The candidates in the part are written from the tree where they are substituted.
	x.out, x.open = x.out[:from], x.open[:min(mark, len(x.open))]
	for i := node; i < len(x.nodes); i++ {
		x.nodes[i].done = [2]uint32{}
	}
}

// declaration reads the <template-param-decl> in front of a template argument, if there
// is one.
func (x *cxxTree) declaration() {
	if x.peek() == 'T' && bytes.IndexByte([]byte("yntpk"), x.peek2()) >= 0 {
		x.hide(x.parameterDeclaration)
	}
}

// parameterDeclaration reads <template-param-decl>.
func (x *cxxTree) parameterDeclaration() {
	if !x.enter() {
		return
	}
	defer x.leave()

	c := x.peek2()
	x.expect('T')
	x.pos = min(x.pos+1, len(x.in))
	switch c {
	case 'y': // a type
	case 'n': // a value of this type
		x.typ()
	case 'k': // a type with a constraint
		x.name()
	case 'p': // a pack
		x.parameterDeclaration()
	case 't': // a template with these parameters
		for !x.failed && !x.accept('E') {
			if x.peek() == 'Q' {
				x.constraint()
				x.expect('E')
				return
			}
			x.parameterDeclaration()
		}
	default:
		x.fail()
	}
}

// constraint reads Q <constraint-expression>.
func (x *cxxTree) constraint() {
	x.expect('Q')
	x.hiddenExpression()
}

// hiddenParam is templateParam in a hidden part: the parameter's argument may not be known
// yet. TL <level> _ is a parameter of an inner template.
func (x *cxxTree) hiddenParam() ref {
	if x.accept('L') {
		x.index()
	}
	x.index()
	return x.unreadable()
}

// unreadable adds a node for a part that has no text. A type made of the node is read
// again where it is substituted, because of the flag.
func (x *cxxTree) unreadable() ref {
	x.rendered = false
	return x.node(kindParam, flagParam, x.word(wordAuto), 0, 0, 0)
}

// hiddenForms has the operands of the operators in a hidden part, by their two letters: e
// is an expression, t a type, n a member's name, * any number of expressions up to an E.
var hiddenForms = sync.OnceValue(func() map[string]string {
	forms := map[string]string{
		"cl": "*", "cp": "*", "tl": "t*", "il": "*", "dc": "te", "sc": "te", "cc": "te", "rc": "te",
		"ti": "t", "st": "t", "at": "t", "te": "e", "sz": "e", "az": "e", "nx": "e", "sp": "e", "tw": "e", "tr": "",
		"dt": "en", "pt": "en", "di": "ne", "dx": "ee", "dX": "eee", "qu": "eee", "dl": "e", "da": "e", "gs": "e",
	}
	for _, unary := range []string{"ps", "ng", "ad", "de", "co", "nt"} {
		forms[unary] = "e"
	}
	for binary := range bytes.FieldsSeq([]byte("pl mi ml dv rm an or eo aS pL mI mL dV rM aN oR eO ls rs lS rS " +
		"eq ne lt gt le ge ss aa oo cm pm ds ix")) {
		forms[string(binary)] = "ee"
	}
	return forms
})

// hiddenExpression reads <expression> in a hidden part: an operand, or an operator with its
// operands. Its result has no text.
func (x *cxxTree) hiddenExpression() (a ref) {
	if !x.enter() {
		return 0
	}
	defer x.leave()
	a = x.unreadable()

	// Operands: literals, parameters, nested expressions, names, folds.
	c, next := x.peek(), x.peek2()
	switch {
	case c == 'L':
		x.literal()
		return a
	case c == 'T':
		return x.templateParam()
	case c == 'X':
		x.pos++
		x.hiddenExpression()
		x.expect('E')
		return a
	case isDigit(c), c == 'o' && next == 'n', c == 'd' && next == 'n':
		x.member()
		return a
	case c == 'f':
		x.hiddenFold(next)
		return a
	case c == 'u': // a vendor's operator, with arguments
		x.pos++
		x.sourceName()
		for !x.failed && !x.accept('E') {
			x.templateArg()
		}
		return a
	}

	if !x.hiddenOperation(string([]byte{c, next})) {
		return x.fail()
	}
	return a
}

// hiddenOperation reads an operator, which begins with code, and its operands. It returns
// false if the operator is not known.
func (x *cxxTree) hiddenOperation(code string) bool {
	x.pos = min(x.pos+2, len(x.in))
	switch code {
	case "sr":
		x.unresolvedName()
	case "sZ":
		x.hiddenExpression() // sizeof... of a parameter
	case "sP": // sizeof... of captured arguments
		for !x.failed && !x.accept('E') {
			x.templateArg()
		}
	case "cv": // a conversion of one expression or of a list
		x.typ()
		if x.accept('_') {
			x.hiddenList('E')
		} else {
			x.hiddenExpression()
		}
	case "nw", "na": // new: placement arguments, type, initializer
		x.hiddenList('_')
		x.typ()
		if !x.accept('E') {
			x.expect('p')
			x.expect('i')
			x.hiddenList('E')
		}
	case "pp", "mm": // with _ before the operand, else after it
		x.accept('_')
		x.hiddenExpression()
	case "rQ": // a requires-expression with parameters
		for !x.failed && !x.accept('_') {
			x.typ()
		}
		x.requirements()
	case "rq":
		x.requirements()
	default: // an operator without a rule of its own
		form, known := hiddenForms()[code]
		if !known {
			return false
		}
		x.hiddenOperands(form)
	}
	return true
}

// hiddenOperands reads operands: see hiddenForms.
func (x *cxxTree) hiddenOperands(form string) {
	for _, operand := range form {
		switch operand {
		case 'e':
			x.hiddenExpression()
		case 't':
			x.typ()
		case 'n':
			x.member()
		case '*':
			x.hiddenList('E')
		}
	}
}

// hiddenList reads expressions up to a letter.
func (x *cxxTree) hiddenList(end byte) {
	for !x.failed && !x.accept(end) {
		x.hiddenExpression()
	}
}

// hiddenFold reads <function-param> and <fold-expression>, which begin with f and next.
func (x *cxxTree) hiddenFold(next byte) {
	x.pos = min(x.pos+2, len(x.in))
	switch {
	case next == 'p' && x.accept('T'): // this
	case next == 'p':
		x.qualifiers()
		x.index()
	case next == 'L' && isDigit(x.peek()): // fL <level> p, a parameter of an outer function
		x.number()
		x.expect('p')
		x.qualifiers()
		x.index()
	case next == 'l' || next == 'r' || next == 'L' || next == 'R':
		x.pos = min(x.pos+2, len(x.in)) // the operator
		x.hiddenExpression()
		if next == 'L' || next == 'R' {
			x.hiddenExpression()
		}
	default:
		x.fail()
	}
}

// member reads <base-unresolved-name>, or a scope and one.
func (x *cxxTree) member() {
	switch {
	case isDigit(x.peek()):
		x.simpleID()
	case x.accept('o'):
		x.expect('n')
		x.maybeTemplate(x.operatorName())
	case x.accept('d'):
		x.expect('n')
		if isDigit(x.peek()) {
			x.simpleID()
		} else {
			x.typ()
		}
	case x.accept('s'):
		x.expect('r')
		x.unresolvedName()
	default:
		x.fail()
	}
}

// requirements reads <requirement>s up to an E.
func (x *cxxTree) requirements() {
	for !x.failed && !x.accept('E') {
		switch {
		case x.accept('X'): // an expression, which may be noexcept, and have a type with a constraint
			x.hiddenExpression()
			x.accept('N')
			if x.accept('R') {
				x.name()
			}
		case x.accept('T'):
			x.typ()
		default:
			x.constraint()
		}
	}
}
