package demangle

// swiftReader reads a name from left to right.
type swiftReader struct {
	swiftArena
	in            string
	pos           int
	stack         []swiftRef
	substitutions []swiftRef
	words         []string // of the identifiers before, for identifiers that repeat them
	oldLabels     bool     // the labels of parameters are in the tuple of their types
	scratch       []byte   // an identifier
	out           []byte   // the printer's buffer
}

func (r *swiftReader) begin(in string, oldLabels bool) {
	r.reset()
	r.in, r.pos, r.oldLabels = in, 0, oldLabels
	r.stack, r.substitutions, r.words = r.stack[:0], r.substitutions[:0], r.words[:0]
}

// peek returns the next character, 0 at the end.
func (r *swiftReader) peek() byte {
	if r.pos < len(r.in) {
		return r.in[r.pos]
	}
	return 0
}

func (r *swiftReader) next() byte {
	c := r.peek()
	if c != 0 {
		r.pos++
	}
	return c
}

func (r *swiftReader) take(c byte) bool {
	if c != 0 && r.peek() == c {
		r.pos++
		return true
	}
	return false
}

func (r *swiftReader) takeAll(s string) bool {
	if len(r.in)-r.pos >= len(s) && r.in[r.pos:r.pos+len(s)] == s {
		r.pos += len(s)
		return true
	}
	return false
}

// oneOf takes the next character if it is in set, else it returns 0.
func (r *swiftReader) oneOf(set string) byte {
	for i := range len(set) {
		if r.take(set[i]) {
			return set[i]
		}
	}
	return 0
}

func (r *swiftReader) push(n swiftRef) bool {
	r.stack = append(r.stack, n)
	return len(r.stack) <= swiftMaxStack
}

// top returns the kind of the top of the stack.
func (r *swiftReader) top() swiftKind {
	if len(r.stack) == 0 {
		return swNone
	}
	return r.kind(r.stack[len(r.stack)-1])
}

// pop takes the top of the stack, 0 if the stack is empty.
func (r *swiftReader) pop() swiftRef {
	if len(r.stack) == 0 {
		return 0
	}
	n := r.stack[len(r.stack)-1]
	r.stack = r.stack[:len(r.stack)-1]
	return n
}

// popKind pops a node of one kind, or nothing.
func (r *swiftReader) popKind(k swiftKind) swiftRef {
	if r.top() != k {
		return 0
	}
	return r.pop()
}

// popIn pops a node whose kind is in a set, or nothing.
func (r *swiftReader) popIn(set uint8) swiftRef {
	if !r.top().in(set) {
		return 0
	}
	return r.pop()
}

// popEntity pops a type or a context.
func (r *swiftReader) popEntity() swiftRef {
	if r.top() == swType {
		return r.pop()
	}
	return r.popIn(swIsContext)
}

// popInType pops a type, and returns what it is.
func (r *swiftReader) popInType() swiftRef { return r.child(r.popKind(swType), 0) }

func (r *swiftReader) popModule() swiftRef {
	if r.top() == swIdentifier {
		n := r.pop()
		return r.node(swModule, r.nodes[n].text, 0)
	}
	return r.popKind(swModule)
}

func (r *swiftReader) popContext() swiftRef {
	if m := r.popModule(); m != 0 {
		return m
	}
	if r.top() != swType {
		return r.popIn(swIsContext)
	}
	c := r.popInType()
	if !r.kind(c).in(swIsContext) {
		return 0
	}
	return c
}

// substitutable registers a node for substitutions.
func (r *swiftReader) substitutable(n swiftRef) swiftRef {
	if n != 0 {
		r.substitutions = append(r.substitutions, n)
	}
	return n
}

// natural reads a decimal number, -1 if there is none or if it is too large.
func (r *swiftReader) natural() int {
	if !isDigit(r.peek()) {
		return -1
	}
	n := 0
	for isDigit(r.peek()) {
		n = n*10 + int(r.next()-'0')
		if n > 1<<30 {
			return -1
		}
	}
	return n
}

// number reads INDEX: "_" is 0, "0_" is 1. It returns -1 if there is none.
func (r *swiftReader) number() int {
	if r.take('_') {
		return 0
	}
	n := r.natural()
	if n < 0 || !r.take('_') {
		return -1
	}
	return n + 1
}

// numberNode is number as a node.
func (r *swiftReader) numberNode() swiftRef {
	n := r.number()
	if n < 0 {
		return 0
	}
	return r.node(swInteger, "", n)
}
