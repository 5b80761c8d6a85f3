package swift

import "strconv"

// completionHandler reads the block that calls an asynchronous function.
func (r *Reader) completionHandler(predefined bool) ref {
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
func (r *Reader) reabstraction(self bool) ref {
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
func (r *Reader) keyPathAccessor(getter bool) ref {
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
func (r *Reader) keyPathIndex(equals bool) ref {
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

func (r *Reader) outlinedVariable() ref {
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
func (r *Reader) bridgedMethod() ref {
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
