package swift

import (
	"slices"

	"symkit/internal/demangle/lex"
)

// Reader reads a name from left to right.
type Reader struct {
	arena
	in            string
	pos           int
	stack         []ref
	substitutions []ref
	words         []string // of the identifiers before, for identifiers that repeat them
	oldLabels     bool     // the labels of parameters are in the tuple of their types
	scratch       []byte   // an identifier
	out           []byte   // the printer's buffer
}

func (r *Reader) begin(in string, oldLabels bool) {
	r.reset()
	r.in, r.pos, r.oldLabels = in, 0, oldLabels
	r.stack, r.substitutions, r.words = r.stack[:0], r.substitutions[:0], r.words[:0]
}

// peek returns the next character, 0 at the end.
func (r *Reader) peek() byte {
	if r.pos < len(r.in) {
		return r.in[r.pos]
	}
	return 0
}

func (r *Reader) next() byte {
	c := r.peek()
	if c != 0 {
		r.pos++
	}
	return c
}

func (r *Reader) take(c byte) bool {
	if c != 0 && r.peek() == c {
		r.pos++
		return true
	}
	return false
}

func (r *Reader) takeAll(s string) bool {
	if len(r.in)-r.pos >= len(s) && r.in[r.pos:r.pos+len(s)] == s {
		r.pos += len(s)
		return true
	}
	return false
}

// oneOf takes the next character if it is in set, else it returns 0.
func (r *Reader) oneOf(set string) byte {
	for i := range len(set) {
		if r.take(set[i]) {
			return set[i]
		}
	}
	return 0
}

func (r *Reader) push(n ref) bool {
	r.stack = append(r.stack, n)
	return len(r.stack) <= maxStack
}

// top returns the kind of the top of the stack.
func (r *Reader) top() kind {
	if len(r.stack) == 0 {
		return swNone
	}
	return r.kind(r.stack[len(r.stack)-1])
}

// pop takes the top of the stack, 0 if the stack is empty.
func (r *Reader) pop() ref {
	if len(r.stack) == 0 {
		return 0
	}
	n := r.stack[len(r.stack)-1]
	r.stack = r.stack[:len(r.stack)-1]
	return n
}

// popKind pops a node of one kind, or nothing.
func (r *Reader) popKind(k kind) ref {
	if r.top() != k {
		return 0
	}
	return r.pop()
}

// popIn pops a node whose kind is in a set, or nothing.
func (r *Reader) popIn(set uint8) ref {
	if !r.top().in(set) {
		return 0
	}
	return r.pop()
}

// popEntity pops a type or a context.
func (r *Reader) popEntity() ref {
	if r.top() == swType {
		return r.pop()
	}
	return r.popIn(swIsContext)
}

// popInType pops a type, and returns what it is.
func (r *Reader) popInType() ref { return r.child(r.popKind(swType), 0) }

func (r *Reader) popModule() ref {
	if r.top() == swIdentifier {
		n := r.pop()
		return r.node(swModule, r.nodes[n].text, 0)
	}
	return r.popKind(swModule)
}

func (r *Reader) popContext() ref {
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
func (r *Reader) substitutable(n ref) ref {
	if n != 0 {
		r.substitutions = append(r.substitutions, n)
	}
	return n
}

// natural reads a decimal number, -1 if there is none or if it is too large.
func (r *Reader) natural() int {
	if !lex.IsDigit(r.peek()) {
		return -1
	}
	n := 0
	for lex.IsDigit(r.peek()) {
		n = n*10 + int(r.next()-'0')
		if n > 1<<30 {
			return -1
		}
	}
	return n
}

// number reads INDEX: "_" is 0, "0_" is 1. It returns -1 if there is none.
func (r *Reader) number() int {
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
func (r *Reader) numberNode() ref {
	n := r.number()
	if n < 0 {
		return 0
	}
	return r.node(swInteger, "", n)
}

// fullList is list for one that has elements.
func (r *Reader) fullList(k kind, pop func(*Reader) ref) ref {
	list := r.node(k, "", 0)
	for first := false; !first; {
		first = r.popKind(swFirst) != 0
		list = r.add(list, pop(r))
		if list == 0 {
			return 0
		}
	}
	return r.reverse(list, 0)
}

// list pops the elements of a list, of which the first was pushed after a marker; an empty
// list is a marker of its own.
func (r *Reader) list(k kind, pop func(*Reader) ref) ref {
	if r.popKind(swEmptyList) != 0 {
		return r.node(k, "", 0)
	}
	return r.fullList(k, pop)
}

func (r *Reader) popType() ref { return r.popKind(swType) }

func (r *Reader) popTypeList() ref { return r.list(swTypeList, (*Reader).popType) }

// reverse reverses the children of a node from one on.
func (r *Reader) reverse(n ref, from int) ref {
	slices.Reverse(r.children(n)[from:])
	return n
}
