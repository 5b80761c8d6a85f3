package swift

// parameterShift is the place of the depth in the index of a swParameter: both numbers fit an
// int of 32 bits.
const parameterShift = 15

// parameter returns a generic parameter: its depth among the generic contexts, and its number.
func (r *Reader) parameter(depth, index int) ref {
	const most = 1<<parameterShift - 1
	if depth < 0 || index < 0 || depth > most || index > most {
		return 0
	}
	return r.node(swParameter, "", depth<<parameterShift|index)
}

// parameterIndex reads which generic parameter it is.
func (r *Reader) parameterIndex() ref {
	switch {
	case r.take('d'):
		depth, index := r.number(), r.number()
		if depth < 0 {
			return 0
		}
		return r.parameter(depth+1, index)
	case r.take('z'):
		return r.parameter(0, 0)
	case r.take('s'):
		return r.node(swSimple, "Self", 0)
	}
	index := r.number()
	if index < 0 {
		return 0
	}
	return r.parameter(0, index+1)
}

// associatedName pops the name of an associated type, and its protocol if that is known.
func (r *Reader) associatedName() ref {
	protocol := r.popKind(swType)
	if protocol != 0 && r.kind(r.child(protocol, 0)) != swProtocol {
		return 0
	}
	n := r.with(swAssociated, r.popKind(swIdentifier))
	if protocol != 0 {
		n = r.add(n, protocol)
	}
	return n
}

// associated reads an associated type of a type, which is popped if base is 0.
func (r *Reader) associated(popBase bool, base ref) ref {
	name := r.associatedName()
	if popBase {
		return r.typ(r.with(swMember, r.popKind(swType), name))
	}
	return r.typ(r.with(swMember, r.typ(base), name))
}

// associatedPath is associated for an associated type of an associated type.
func (r *Reader) associatedPath(popBase bool, base ref) ref {
	names := r.fullList(swTypeList, (*Reader).associatedName)
	t := r.typ(base)
	if popBase {
		t = r.popKind(swType)
	}
	if names == 0 {
		return 0
	}
	for i := range r.children(names) {
		t = r.typ(r.with(swMember, t, r.child(names, i)))
	}
	return t
}

// archetype reads an associated type, a result of an opaque type, or a pack.
func (r *Reader) archetype() ref {
	switch r.next() {
	case 'a':
		name := r.popKind(swIdentifier)
		return r.substitutable(r.typ(r.with(swAssociatedRef, r.popInType(), name)))
	case 'O':
		return r.with(swOpaqueResultOf, r.popContext())
	case 'o':
		return r.opaque()
	case 'r':
		return r.typ(r.node(swText, "some", 0))
	case 'R':
		if r.number() < 0 {
			return 0
		}
		return r.typ(r.node(swText, "some", 0))
	case 'x':
		return r.substitutable(r.associated(true, 0))
	case 'X':
		return r.substitutable(r.associatedPath(true, 0))
	case 'y':
		return r.substitutable(r.associated(false, r.parameterIndex()))
	case 'Y':
		return r.substitutable(r.associatedPath(false, r.parameterIndex()))
	case 'z':
		return r.substitutable(r.associated(false, r.parameter(0, 0)))
	case 'Z':
		return r.substitutable(r.associatedPath(false, r.parameter(0, 0)))
	case 'p':
		count := r.popInType()
		pattern := r.popInType()
		if count == 0 {
			return 0
		}
		return r.typ(r.texted(swTemplate, "repeat %0", pattern))
	case 'e':
		return r.packElement()
	case 'P':
		return r.typ(r.list(swPack, (*Reader).popType))
	case 'S':
		return r.silPack()
	}
	return 0
}

// opaque reads a result whose type is hidden, by the function that returns it.
func (r *Reader) opaque() ref {
	number := r.numberNode()
	if _, ok := r.boundGenerics(); !ok {
		return 0
	}
	return r.substitutable(r.typ(r.with(swOpaque, r.pop(), number)))
}

func (r *Reader) packElement() ref {
	pack := r.popInType()
	return r.typ(r.texted(swTemplate, "/* level: %1 */ each %0", pack, r.numberNode()))
}

func (r *Reader) silPack() ref {
	text := "@indirect "
	if r.take('d') {
		text = "@direct "
	} else if !r.take('i') {
		return 0
	}
	pack := r.list(swPack, (*Reader).popType)
	if pack != 0 {
		r.nodes[pack].text = text
	}
	return r.typ(pack)
}
