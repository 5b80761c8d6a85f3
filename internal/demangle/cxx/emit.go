package cxx

import (
	"strconv"

	"symkit/internal/demangle/lex"
)

// Most of a name is written in the order in which it is read. Therefore every function
// that reads a part of the name appends the text of the part to x.out, and sets
// x.rendered if the appended text is the whole text of the part. The place of that text
// is kept in the node (done); where the node is written again, the text is copied. Only
// parts that are written in another order than they are read, such as a return type
// before a name, are written from the tree afterwards. Text that was appended for such a
// part stays in x.out, unused except for the nodes in it that are complete.

// maxEmitted bounds x.out while a name is read, in bytes.
const maxEmitted = 4 * lex.MaxLength

// emit appends text to x.out.
func (x *tree) emit(text string) { x.out = append(x.out, text...) }

// emitWord adds the node of a word, and appends its text.
func (x *tree) emitWord(i uint32) ref {
	from := len(x.out)
	x.emit(words[i])
	x.rendered = true
	return x.whole(x.word(i), from)
}

// emitNumber appends a number between two texts.
func (x *tree) emitNumber(before string, n int, after string) {
	x.emit(before)
	x.out = strconv.AppendInt(x.out, int64(n), 10)
	x.emit(after)
}

// emitNode appends the text of a node that was read before, if the text is known.
func (x *tree) emitNode(a ref) {
	n := &x.nodes[x.argumentOf(a)]
	from, to := n.done[0], n.done[1]
	switch {
	case to > 0 && len(x.out)+int(to-from) <= maxEmitted:
		x.out = append(x.out, x.out[from:to]...)
		x.rendered = true
	case n.kind == kindBuiltin:
		x.emit(builtins[n.text[0]])
		x.rendered = true
	default:
		x.rendered = n.kind == kindPack && n.text[0] == n.text[1]
	}
}

// whole notes that out[from:] is the text of a, a new node, if x.rendered is set.
func (x *tree) whole(a ref, from int) ref {
	if x.rendered && a != 0 {
		x.nodes[a].done = [2]uint32{uint32(from), uint32(len(x.out))}
	}
	return a
}

// ends reports whether x.out ends with c.
func (x *tree) ends(c byte) bool { return len(x.out) > 0 && x.out[len(x.out)-1] == c }

// emitQualifiers appends the qualifiers of a type.
func (x *tree) emitQualifiers(q qualifiers) {
	for ; q != 0; q >>= 4 {
		x.emit(" ")
		x.emit(qualifierWords[q&15])
	}
}

// emittedList is the state of a list whose elements are appended one after the other.
type emittedList struct {
	rendered bool // x.out has the whole text of the list
	before   int  // length of x.out before the last element
	first    bool // no element has any text yet
	// sparing means that empty packs are left out, as in writeList. Without it the
	// list is a pack, whose elements may still get declarations around them.
	sparing bool
}

// next begins an element.
func (l *emittedList) next(x *tree) {
	l.before = len(x.out)
	if !l.first {
		x.emit(", ")
	}
}

// add ends the element a.
func (l *emittedList) add(x *tree, a ref) {
	l.rendered = l.rendered && x.rendered
	switch empty := x.isEmpty(a); {
	case !l.sparing && (empty || !x.simple(a)):
		l.rendered, l.first = false, false
	case empty && x.rendered && len(x.out) == l.before:
	case empty && x.rendered: // remove the comma
		x.retract(l.before)
	case empty:
	default:
		l.first = false
	}
}
