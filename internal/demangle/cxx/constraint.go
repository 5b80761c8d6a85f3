package cxx

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

// hiddenTemplate is tree.template in a hidden part. It is no index of a node.
const hiddenTemplate ref = -1

// hide reads a hidden part with read, and removes the text of the part.
func (x *tree) hide(read func()) {
	from, node, mark := len(x.out), len(x.nodes), len(x.open)
	template, inLambda, inCast, stop := x.template, x.inLambda, x.inCast, x.stop
	x.template, x.inLambda, x.inCast, x.stop = hiddenTemplate, false, false, 0
	x.hidden, x.reread = x.hidden+1, x.reread+1
	read()
	x.hidden, x.reread = x.hidden-1, x.reread-1
	x.template, x.inLambda, x.inCast, x.stop = template, inLambda, inCast, stop

	// The candidates in the part are written from the tree where they are substituted.
	x.retract(from)
	x.open = x.open[:min(mark, len(x.open))]
	for i := node; i < len(x.nodes); i++ {
		x.nodes[i].done = [2]uint32{}
	}
}

// declaration reads the <template-param-decl> in front of a template argument, if there
// is one.
func (x *tree) declaration() {
	if x.peek() == 'T' && isDeclaration(x.peek2()) {
		x.hide(x.parameterDeclaration)
	}
}

// parameterDeclaration reads <template-param-decl>.
func (x *tree) parameterDeclaration() {
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
func (x *tree) constraint() {
	x.expect('Q')
	x.expression()
}

// hiddenParam is templateParam in a hidden part: the parameter's argument may not be known
// yet. TL <level> _ is a parameter of an inner template.
func (x *tree) hiddenParam() ref {
	if x.accept('L') {
		x.index()
	}
	x.index()
	return x.unreadable()
}

// unreadable adds a node for a part that has no text. A type made of the node is read
// again where it is substituted, because of the flag.
func (x *tree) unreadable() ref {
	x.rendered = false
	return x.node(kindParam, flagParam, x.word(wordAuto), 0, 0, 0)
}

// requirements reads the rest of a requires-expression, rQ with parameters or rq without, which is
// not written.
func (x *tree) requirements(code string) ref {
	for code == "rQ" && !x.failed && !x.accept('_') {
		x.typ()
	}
	for !x.failed && !x.accept('E') {
		switch {
		case x.accept('X'): // an expression, which may be noexcept, and have a type with a constraint
			x.expression()
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
	return x.operator("rq", len(x.open))
}
