package swift

import (
	"strconv"
	"strings"

	"symkit/internal/demangle/lex"
)

// signature reads a generic signature: how many parameters there are at each depth, and
// the requirements.
func (r *Reader) signature(counted bool) ref {
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

func (r *Reader) popRequirement() ref { return r.popIn(swIsRequirement) }

// requirement reads a requirement of a signature. The first letter says what is required and
// how the type is written that it is required of.
func (r *Reader) requirement() ref {
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
	var t ref
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

// layouts are the layouts of values. Their sizes follow.
var layouts = lex.CodeTable{
	{"U", "%0: _UnknownLayout"}, {"R", "%0: _RefCountedObject"}, {"N", "%0: _NativeRefCountedObject"}, {"C", "%0: AnyObject"},
	{"D", "%0: _NativeClass"}, {"T", "%0: _Trivial"}, {"B", "%0: "}, {"E", "%0: _Trivial(%1, %2)"}, {"e", "%0: _Trivial(%1)"},
	{"M", "%0: _TrivialAtMost(%1, %2)"}, {"m", "%0: _TrivialAtMost(%1)"}, {"S", "%0: (%1)"},
}

// layout reads how the values of a type must be laid out.
func (r *Reader) layout(t ref) ref {
	text, ok := layouts.Text([]byte{r.next()})
	if !ok {
		return 0
	}
	n := r.texted(swRequirement, text, t)
	for range strings.Count(text, "%") - 1 {
		n = r.add(n, r.numberNode())
	}
	return n
}
