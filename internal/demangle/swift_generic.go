package demangle

import (
	"strconv"
	"strings"
)

// parameter returns a generic parameter: its depth among the generic contexts, and its number.
func (r *swiftReader) parameter(depth, index int) swiftRef {
	const most = 1 << 20
	if depth < 0 || index < 0 || depth > most || index > most {
		return 0
	}
	return r.node(swParameter, "", depth<<32|index)
}

// parameterIndex reads which generic parameter it is.
func (r *swiftReader) parameterIndex() swiftRef {
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
func (r *swiftReader) associatedName() swiftRef {
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
func (r *swiftReader) associated(popBase bool, base swiftRef) swiftRef {
	name := r.associatedName()
	if popBase {
		return r.typ(r.with(swMember, r.popKind(swType), name))
	}
	return r.typ(r.with(swMember, r.typ(base), name))
}

// associatedPath is associated for an associated type of an associated type.
func (r *swiftReader) associatedPath(popBase bool, base swiftRef) swiftRef {
	names := r.fullList(swTypeList, (*swiftReader).associatedName)
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
func (r *swiftReader) archetype() swiftRef {
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
		return r.typ(r.list(swPack, (*swiftReader).popType))
	case 'S':
		return r.silPack()
	}
	return 0
}

// opaque reads a result whose type is hidden, by the function that returns it.
func (r *swiftReader) opaque() swiftRef {
	number := r.numberNode()
	if _, ok := r.boundGenerics(); !ok {
		return 0
	}
	return r.substitutable(r.typ(r.with(swOpaque, r.pop(), number)))
}

func (r *swiftReader) packElement() swiftRef {
	pack := r.popInType()
	return r.typ(r.texted(swTemplate, "/* level: %1 */ each %0", pack, r.numberNode()))
}

func (r *swiftReader) silPack() swiftRef {
	text := "@indirect "
	if r.take('d') {
		text = "@direct "
	} else if !r.take('i') {
		return 0
	}
	pack := r.list(swPack, (*swiftReader).popType)
	if pack != 0 {
		r.nodes[pack].text = text
	}
	return r.typ(pack)
}

// signature reads a generic signature: how many parameters there are at each depth, and
// the requirements.
func (r *swiftReader) signature(counted bool) swiftRef {
	s := r.node(swSignature, "", 0)
	if !counted {
		s = r.add(s, r.node(swParameterCount, "", 1))
	}
	for counted && !r.take('l') {
		count := 0
		if !r.take('z') {
			count = r.number() + 1
			if count <= 0 {
				return 0
			}
		}
		s = r.add(s, r.node(swParameterCount, "", count))
		if s == 0 {
			return 0
		}
	}
	if s == 0 {
		return 0
	}

	counts := len(r.children(s))
	for r.top().in(swIsRequirement) {
		s = r.add(s, r.pop())
	}
	if s == 0 {
		return 0
	}
	return r.reverse(s, counts)
}

func (r *swiftReader) popRequirement() swiftRef { return r.popIn(swIsRequirement) }

// requirement reads a requirement of a signature. The first letter says what is required and
// how the type is written that it is required of.
func (r *swiftReader) requirement() swiftRef {
	c := r.oneOf("VvcCbBtTsSmMlLpPQhiI")
	protocol := ""
	if c == 'i' || c == 'I' {
		switch n := r.number(); {
		case n < 0:
			return 0
		case n == 0:
			protocol = "%0: ~Swift.Copyable"
		case n == 1:
			protocol = "%0: ~Swift.Escapable"
		default:
			protocol = "%0: ~Swift.<bit " + strconv.Itoa(n) + ">"
		}
	}

	// The type: an associated one, one of its own, one that is on the stack, or a parameter.
	var t swiftRef
	switch c {
	case 'c', 't', 'm', 'p':
		t = r.substitutable(r.associated(false, r.parameterIndex()))
	case 'C', 'T', 'M', 'P':
		t = r.substitutable(r.associatedPath(false, r.parameterIndex()))
	case 'B', 'S', 'L', 'Q', 'I':
		t = r.popKind(swType)
	default:
		t = r.typ(r.parameterIndex())
	}

	switch c {
	case 'V':
		return r.with(swValueMarker, t, r.popKind(swType))
	case 'v':
		return r.with(swPackMarker, t)
	case 0, 'p', 'P', 'Q':
		return r.texted(swRequirement, "%0: %1", t, r.popProtocol())
	case 'i', 'I':
		return r.texted(swRequirement, protocol, t)
	case 'c', 'C', 'b', 'B':
		return r.texted(swRequirement, "%0: %1", t, r.popKind(swType))
	case 't', 'T', 's', 'S':
		return r.texted(swRequirement, "%0 == %1", t, r.popKind(swType))
	case 'h':
		return r.texted(swRequirement, "%0.shape == %1.shape", t, r.popKind(swType))
	}
	return r.layout(t)
}

// swiftLayouts are the layouts of values. Their sizes follow.
var swiftLayouts = codeTable{
	{"U", "%0: _UnknownLayout"}, {"R", "%0: _RefCountedObject"}, {"N", "%0: _NativeRefCountedObject"}, {"C", "%0: AnyObject"},
	{"D", "%0: _NativeClass"}, {"T", "%0: _Trivial"}, {"B", "%0: "}, {"E", "%0: _Trivial(%1, %2)"}, {"e", "%0: _Trivial(%1)"},
	{"M", "%0: _TrivialAtMost(%1, %2)"}, {"m", "%0: _TrivialAtMost(%1)"}, {"S", "%0: (%1)"},
}

// layout reads how the values of a type must be laid out.
func (r *swiftReader) layout(t swiftRef) swiftRef {
	text, ok := swiftLayouts.text([]byte{r.next()})
	if !ok {
		return 0
	}
	n := r.texted(swRequirement, text, t)
	for range strings.Count(text, "%") - 1 {
		n = r.add(n, r.numberNode())
	}
	return n
}
