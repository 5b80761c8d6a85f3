package demangle

// This file expands packs: Dp and sp replace a pack in a type or an expression by each
// of its elements.

// expansion returns the expansion of a: a list of copies of a, each with one element of
// the pack in a. If there is no pack in a, the expansion is a followed by dots.
func (x *cxxTree) expansion(a ref) ref {
	rendered := x.rendered && x.nodes[a].kind == kindParam // the pack itself
	x.rendered = false
	if x.nodes[a].flags&flagPack == 0 || x.hidden > 0 {
		return x.one(kindExpansion, a)
	}

	// Exactly one pack can be expanded here.
	e := expander{x: x}
	e.find(a)
	if e.found != 1 {
		return x.fail() // of several packs the library expands one
	}

	mark := len(x.open)
	for _, e.arg = range x.list(&x.nodes[e.pack]) {
		x.open = append(x.open, e.copy(a))
		if x.failed {
			break
		}
	}
	list := x.many(kindList, 0, mark)
	x.nodes[list].flags |= x.inherited(a) &^ flagPack
	x.rendered = rendered
	return list
}

// expander replaces a pack by one of its elements.
type expander struct {
	x         *cxxTree
	pack, arg ref
	found     int // packs
}

// find counts the packs below a, following flagPack, and keeps the last one.
func (e *expander) find(a ref) {
	n := &e.x.nodes[a]
	if n.kind == kindPack {
		e.pack = a
		e.found++
		return
	}
	if e.found > 1 || n.kind != kindParam && n.flags&flagPack == 0 {
		return
	}

	if n.a != 0 {
		e.find(n.a)
	}

	// The other children of the node.
	switch n.kind {
	case kindQualified, kindLocal, kindTagged, kindMember:
		e.find(n.b)
	case kindTemplate, kindFunc, kindList, kindClosure, kindCall:
		for _, b := range e.x.list(n) {
			e.find(b)
		}
	}
}

// copy returns a copy of a with the element e.arg in place of the pack.
func (e *expander) copy(a ref) ref {
	x := e.x
	n := x.nodes[a]
	switch {
	case a == e.pack:
		return e.arg
	case n.kind == kindParam:
		return e.copy(n.a)
	case n.flags&flagPack == 0:
		return a
	}

	// The constructors of references, qualified types and arrays apply C++'s rules for types
	// that replace parameters, such as the collapsing of references.
	switch n.kind {
	case kindLRef, kindRRef:
		return e.flagged(x.reference(n.kind, e.child(n.a), len(x.out)))
	case kindQuals:
		return e.flagged(x.qualified(e.child(n.a), n.quals))
	case kindArray:
		return e.flagged(x.arrayOf(e.child(n.a), n.text))
	case kindQualified, kindMember:
		n.a, n.b = x.use(e.copy(n.a)), x.use(e.copy(n.b))
	case kindPointer, kindComplex, kindVector, kindMethod:
		n.a = x.use(e.copy(n.a))
	case kindTemplate, kindFunc, kindCall:
		return e.copyList(n)
	default:
		return x.fail()
	}

	// A copy has no pack left.
	n.flags &^= flagPack
	return x.add(n)
}

// child returns a copy of a, marked as the argument of a parameter.
func (e *expander) child(a ref) ref {
	c := e.copy(a)
	return e.x.add(cxxNode{kind: kindParam, flags: flagParam, a: e.x.use(c)})
}

// flagged marks a as the result of replacing a parameter.
func (e *expander) flagged(a ref) ref {
	e.x.nodes[a].flags |= flagParam
	return a
}

// copyList copies a node with a list.
func (e *expander) copyList(n cxxNode) ref {
	x := e.x
	if n.a != 0 {
		n.a = x.use(e.copy(n.a))
	}

	mark := len(x.open)
	for i := n.text[0]; i < n.text[1]; i++ {
		x.open = append(x.open, e.copy(x.elems[i]))
	}
	flags := n.flags &^ flagPack
	a := x.many(n.kind, n.a, mark)
	x.nodes[a].flags = flags
	return a
}
