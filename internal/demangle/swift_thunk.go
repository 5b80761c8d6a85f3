package demangle

import "strconv"

// swiftAttributes are the operators after T that say something about the whole symbol, and
// how it is shown.
var swiftAttributes = codeTable{
	{"o", "@objc "}, {"O", "@nonobjc "}, {"D", "dynamic "}, {"d", "super "}, {"u", "async function pointer to "},
	{"wB", "back deployment fallback for "}, {"wc", "coro function pointer to "}, {"wd", "default override of "},
	{"wS", "#_hasSymbol query for "},
	{"E", ""}, {"F", ""}, {"m", ""}, {"X", ""}, {"x", ""}, {"I", ""}, {"wb", ""},
}

// swiftThunks are the operators after T that take what they are for from the stack: in order of
// popping E for an entity, C for a conformance, P for a protocol, T for a type, A for an
// associated type, N for a path of those, * for any node.
var swiftThunks = [128]struct{ pops, text string }{
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

// popped pops what pops says, and returns a node with it.
func (r *swiftReader) popped(k swiftKind, pops, text string) swiftRef {
	n := r.node(k, text, 0)
	for i := range len(pops) {
		var c swiftRef
		switch pops[i] {
		case 'E':
			c = r.popEntity()
		case 'C':
			c = r.popConformance()
		case 'P':
			c = r.popProtocol()
		case 'T':
			c = r.popKind(swType)
		case 'A':
			c = r.associatedName()
		case 'N':
			c = r.fullList(swPath, (*swiftReader).associatedName)
		case 'M':
			c = r.popModule()
		case 'X':
			c = r.popContext()
		case 'D':
			c = r.popIn(swIsName)
		case '*':
			c = r.pop()
		}
		n = r.add(n, c)
	}
	return n
}

// thunk reads an operator after T: a thunk, a specialization, or an attribute.
func (r *swiftReader) thunk() swiftRef {
	c := r.next()
	if c >= 128 {
		return 0
	}
	if t := swiftThunks[c]; t.text != "" {
		return r.popped(swTemplate, t.pops, t.text)
	}
	code := []byte{c}
	if c == 'w' {
		code = append(code, r.next())
	}
	if text, ok := swiftAttributes.text(code); ok {
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

// completionHandler reads the block that calls an asynchronous function.
func (r *swiftReader) completionHandler(predefined bool) swiftRef {
	text := "@objc completion handler block implementation for %2%0 with result type %1"
	if predefined {
		text = "predefined " + text
	}
	switch r.number() {
	case 0:
	case 1:
		text += " nonzero on error"
	case 2:
		text += " zero on error"
	default:
		return 0
	}
	signature := r.popKind(swSignature)
	result := r.popKind(swType)
	n := r.texted(swTemplate, text, r.popKind(swType), result)
	if signature == 0 {
		signature = r.node(swText, "", 0)
	}
	return r.add(n, signature)
}

// reabstraction reads a thunk that changes the convention of a function value. Only the function's type
// is shown.
func (r *swiftReader) reabstraction(self bool) swiftRef {
	signature := r.popKind(swSignature)
	if !self {
		to, from := r.popKind(swType), r.popKind(swType)
		if from == 0 {
			from = to
		}
		return r.texted(swTemplate, "thunk for %0", from)
	}

	selfType := r.popKind(swType)
	to := r.popKind(swType)
	from := r.popKind(swType)
	if signature != 0 {
		return r.texted(swTemplate, "reabstraction thunk %3 from %0 to %1 self %2", from, to, selfType, signature)
	}
	return r.texted(swTemplate, "reabstraction thunk from %0 to %1 self %2", from, to, selfType)
}

// keyPathAccessor reads a function that a key path calls.
func (r *swiftReader) keyPathAccessor(getter bool) swiftRef {
	text := "key path setter for %0 : "
	switch {
	case r.takeAll("mu"):
		text = "key path unapplied method %0 : "
	case r.takeAll("MA"):
		text = "key path applied method %0 : "
	case getter:
		text = "key path getter for %0 : "
	}
	serialized := r.take('q')

	types := r.node(swTypeList, "", 0)
	for r.top() == swType {
		types = r.add(types, r.pop())
	}
	if types == 0 || len(r.children(types)) == 0 {
		return 0
	}
	signature := r.popKind(swSignature)
	n := r.texted(swTemplate, text, r.pop())
	if signature != 0 {
		n = r.add(n, signature)
		text += "%1"
	} else {
		n = r.add(n, r.node(swText, "", 0))
	}
	text += "%2"
	if serialized {
		text += ", serialized"
	}
	n = r.add(n, r.reverse(types, 0))
	if n != 0 {
		r.nodes[n].text = text
	}
	return n
}

// keyPathIndex reads a function that compares or hashes the indices in a key path.
func (r *swiftReader) keyPathIndex(equals bool) swiftRef {
	text := "key path index hash operator for %1(%0)"
	if equals {
		text = "key path index equality operator for %1(%0)"
	}
	r.take('q')
	signature := r.popKind(swSignature)
	types := r.node(swCommaList, "", 0)
	for len(r.stack) > 0 {
		types = r.add(types, r.popKind(swType))
		if types == 0 {
			return 0
		}
	}
	if signature == 0 {
		signature = r.node(swText, "", 0)
		if types == 0 || len(r.children(types)) == 0 {
			return 0
		}
	}
	if types == 0 {
		return 0
	}
	return r.texted(swTemplate, text, r.reverse(types, 0), signature)
}

func (r *swiftReader) outlinedVariable() swiftRef {
	n := r.number()
	if n < 0 {
		return 0
	}
	what := "outlined variable #"
	if r.take('r') {
		what = "outlined read-only object #"
	} else if r.pos < len(r.in) {
		return 0
	}
	return r.node(swAttribute, what+strconv.Itoa(n)+" of ", 0)
}

// bridgedMethod reads an Objective-C method that was outlined with the conversion of its
// arguments.
func (r *swiftReader) bridgedMethod() swiftRef {
	from := r.pos
	if r.oneOf("opam") == 0 {
		return 0
	}
	for r.oneOf("nbg") != 0 {
	}
	text := r.in[from:r.pos]
	if !r.take('_') {
		return 0
	}
	return r.node(swAttribute, "outlined bridged method ("+text+") of ", 0)
}
