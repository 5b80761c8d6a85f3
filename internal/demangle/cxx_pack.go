package demangle

// expansion is Dp a: the pack in a is replaced by each of its elements. With no
// pack in it, it stays what it is, dots behind it.
func (x *cxxTree) expansion(a ref) ref {
	said := x.said && x.nodes[a].kind == kindParam // the pack itself
	if x.said = false; x.nodes[a].flags&flagPack == 0 {
		return x.one(kindExpansion, a)
	}
	e := expander{x: x}
	e.find(a)
	if e.found != 1 {
		return x.fail() // the library expands one of several
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
	x.said = said
	return list
}

// expander replaces a pack by one of its elements.
type expander struct {
	x         *cxxTree
	pack, arg ref
	found     int // packs
}

// find looks for packs in what is flagged with them.
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
	switch n.kind {
	case kindQualified, kindLocal, kindTagged, kindMember:
		e.find(n.b)
	case kindTemplate, kindFunc, kindList, kindClosure, kindCall:
		for _, b := range e.x.list(n) {
			e.find(b)
		}
	}
}

// copy returns a with the element in the place of the pack.
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
	n.flags &^= flagPack
	return x.add(n)
}

// child is copy of something below a node that changes with it.
func (e *expander) child(a ref) ref {
	c := e.copy(a)
	return e.x.add(cxxNode{kind: kindParam, flags: flagParam, a: e.x.use(c)})
}

// flagged marks a copy as come out of a parameter.
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
