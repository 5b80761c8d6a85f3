package swift

import "symkit/internal/demangle/lex"

// attributes are the operators after T that say something about the whole symbol, and
// how it is shown.
var attributes = lex.CodeTable{
	{"o", "@objc "}, {"O", "@nonobjc "}, {"D", "dynamic "}, {"d", "super "}, {"u", "async function pointer to "},
	{"wB", "back deployment fallback for "}, {"wc", "coro function pointer to "}, {"wd", "default override of "},
	{"wS", "#_hasSymbol query for "},
	{"E", ""}, {"F", ""}, {"m", ""}, {"X", ""}, {"x", ""}, {"I", ""}, {"wb", ""},
}

// thunks are the operators after T that take what they are for from the stack: in order of
// popping E for an entity, C for a conformance, P for a protocol, T for a type, A for an
// associated type, N for a path of those, * for any node.
var thunks = [128]struct{ pops, text string }{
	'c': {"E", "curry thunk of %0"}, 'j': {"E", "dispatch thunk of %0"}, 'q': {"E", "method descriptor for %0"},
	'C': {"T", "coroutine continuation prototype for %0"}, 'V': {"EE", "vtable thunk for %0 dispatching to %1"},
	'W': {"EC", "protocol witness for %0 in conformance %1"}, 'S': {"E", "protocol self-conformance witness for %0"},
	'l': {"A", "associated type descriptor for %0"}, 'L': {"P", "protocol requirements base descriptor for %0"},
	'M': {"A", "default associated type metadata accessor for %0"},
	'n': {"PNT", "associated conformance descriptor for %2.%1: %0"},
	'N': {"PNT", "default associated conformance accessor for %2.%1: %0"},
	'b': {"PT", "base conformance descriptor for %1: %0"},
	'U': {"T*", "%1 with global actor constraint %0"},
}

// thunk reads an operator after T: a thunk, a specialization, or an attribute.
func (r *Reader) thunk() ref {
	c := r.next()
	if c >= 128 {
		return 0
	}
	if t := thunks[c]; t.text != "" {
		return r.popped(swTemplate, t.pops, t.text)
	}
	code := []byte{c}
	if c == 'w' {
		code = append(code, r.next())
	}
	if text, ok := attributes.Text(code); ok {
		return r.node(swAttribute, text, 0)
	}

	switch c {
	case 'a', 'A':
		return r.node(swPartialApply, "", 0)
	case 'T':
		if !r.take('I') {
			return 0
		}
		return r.popped(swTemplate, "E", "identity thunk of %0")
	case 'Y', 'Q': // what runs when an asynchronous function goes on
		if r.number() < 0 {
			return 0
		}
		return r.node(swAttribute, "", 0)
	case 'z', 'Z':
		return r.completionHandler(c == 'Z')
	case 'R', 'r', 'y':
		return r.reabstraction(c == 'y')
	case 'K', 'k':
		return r.keyPathAccessor(c == 'K')
	case 'H', 'h':
		return r.keyPathIndex(c == 'H')
	case 'v':
		return r.outlinedVariable()
	case 'e':
		return r.bridgedMethod()
	case 'J':
		return r.derivative()
	}
	return r.specialization(c)
}
