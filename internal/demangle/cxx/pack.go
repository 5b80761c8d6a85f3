package cxx

// This file expands packs: Dp and sp replace a pack in a type or an expression by each
// of its elements.

// expansion returns the expansion of a: a list of copies of a, each with one element of
// each pack in a. If there is no pack in a, the expansion is a followed by dots.
func (x *tree) expansion(a ref) ref {
	rendered := x.rendered && x.nodes[a].kind == kindParam // the pack itself
	x.rendered = false
	if x.nodes[a].flags&flagPack == 0 || x.hidden > 0 {
		return x.one(kindExpansion, a)
	}

	// All packs that are expanded together have as many elements.
	e := expander{x: x, elements: -1}
	e.find(a)
	if x.failed || e.elements < 0 {
		return x.fail()
	}

	mark := len(x.open)
	for e.index = range e.elements {
		c := e.copy(a)
		x.open = append(x.open, c)
		if x.failed {
			break
		}
	}
	list := x.many(kindList, 0, mark)
	x.nodes[list].flags |= x.inherited(a) &^ flagPack
	x.rendered = rendered
	return list
}

// expander replaces packs by their elements number index.
type expander struct {
	x               *tree
	elements, index int
}

// isPart reports which fields of a kind of nodes are parts of the node.
func (k kind) isPart() (a, b, list bool) {
	switch k {
	case kindLiteralOp, kindCast, kindDefaultArg, kindDtor, kindParam, kindExpansion, kindLiteral, kindAddress,
		kindDecltype, kindQuoted, kindLambda, kindMethod, kindQuals, kindPointer, kindLRef, kindRRef, kindComplex,
		kindImaginary, kindElaborated, kindFriend:
		return true, false, false
	case kindQualified, kindLocal, kindTagged, kindTyped, kindMember, kindArray, kindVector, kindVendor, kindSpec,
		kindIndexed, kindConstrained, kindInModule, kindEnum, kindPart, kindTwo, kindCtor, kindBitInt, kindEnableIf:
		return true, true, false
	case kindTemplate, kindClosure, kindFunc, kindLocalFunc, kindCall:
		return true, false, true
	case kindPack, kindList, kindOperation:
		return false, false, true
	}
	return false, false, false
}

// find sets elements to the number of elements of the packs below a.
func (e *expander) find(a ref) {
	x := e.x
	n := &x.nodes[a]
	x.steps++
	if x.steps > maxSteps {
		x.fail()
	}
	switch {
	case a == 0 || x.failed || n.flags&flagPack == 0:
		return
	case n.kind == kindParam && x.nodes[n.a].kind == kindPack:
		length := len(x.list(&x.nodes[n.a]))
		if e.elements >= 0 && e.elements != length {
			x.fail()
		}
		e.elements = length
		return
	}

	// The parts of the node.
	isA, isB, isList := n.kind.isPart()
	if isA {
		e.find(n.a)
	}
	if isB {
		e.find(n.b)
	}
	if isList {
		for _, b := range x.list(n) {
			e.find(b)
		}
	}
}

// copy returns a copy of a with elements in place of packs.
func (e *expander) copy(a ref) ref {
	x := e.x
	n := x.nodes[a]
	x.steps++
	switch {
	case x.failed || x.steps > maxSteps:
		return x.fail()
	case n.flags&flagPack == 0:
		return a
	case n.kind == kindParam && x.nodes[n.a].kind == kindPack:
		return x.list(&x.nodes[n.a])[e.index]
	case n.kind == kindParam:
		return e.copy(n.a)
	}

	// The constructors of references, qualified types and arrays apply C++'s rules for types
	// that replace parameters, such as the collapsing of references.
	switch n.kind {
	case kindLRef, kindRRef:
		return e.flagged(x.reference(n.kind, e.child(n.a), len(x.out)))
	case kindQuals:
		return e.flagged(x.qualified(e.child(n.a), n.quals))
	case kindArray:
		return e.flagged(x.arrayOf(e.child(n.a), n.text, e.copy(n.b)))
	case kindNone:
		return x.fail()
	}

	// A copy has no pack left.
	n.flags &^= flagPack
	isA, isB, isList := n.kind.isPart()
	if isA && n.a != 0 {
		n.a = x.use(e.copy(n.a))
	}
	if isB && n.b != 0 {
		n.b = x.use(e.copy(n.b))
	}
	if isList {
		n.text = e.copyList(n.text)
	}
	return x.add(n)
}

// child returns a copy of a, marked as the argument of a parameter.
func (e *expander) child(a ref) ref {
	c := e.copy(a)
	return e.x.add(node{kind: kindParam, flags: flagParam, a: e.x.use(c)})
}

// flagged marks a as the result of replacing a parameter.
func (e *expander) flagged(a ref) ref {
	e.x.nodes[a].flags |= flagParam
	return a
}

// copyList copies a list.
func (e *expander) copyList(list [2]uint32) [2]uint32 {
	x, mark := e.x, len(e.x.open)
	for i := list[0]; i < list[1]; i++ {
		c := x.use(e.copy(x.elems[i]))
		x.open = append(x.open, c)
	}
	from := len(x.elems)
	x.elems = append(x.elems, x.open[mark:]...)
	x.open = x.open[:mark]
	return [2]uint32{uint32(from), uint32(len(x.elems))}
}
