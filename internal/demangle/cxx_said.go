package demangle

import "strconv"

// Most of a name is written in the order in which it is read, so it is written
// at once: every function that reads a part of the name appends its text to
// x.out and leaves in x.said whether that is all of its text. A node whose text
// is there has done, and wherever it is written again the text is copied. Only
// what is written in another order, around types or behind what a template
// returns, is put together from the tree; what was said of it meanwhile stays in
// x.out, unused but for the parts that are whole.

// maxSaid bounds what x.out has more than one reading of a name while that is read.
const maxSaid = 4 * MaxLength

// say appends text.
func (x *cxxTree) say(text string) { x.out = append(x.out, text...) }

// sayWord is word with its text.
func (x *cxxTree) sayWord(i uint32) ref {
	from := len(x.out)
	x.say(cxxWords[i])
	x.said = true
	return x.whole(x.word(i), from)
}

// sayNumber appends a number between two texts.
func (x *cxxTree) sayNumber(before string, n int, after string) {
	x.say(before)
	x.out = strconv.AppendInt(x.out, int64(n), 10)
	x.say(after)
}

// sayNode appends the text of a node that was read before, if that is known.
func (x *cxxTree) sayNode(a ref) {
	n := &x.nodes[x.use(a)]
	from, to := n.done[0], n.done[1]
	switch {
	case to > 0 && len(x.out)+int(to-from) <= maxSaid:
		x.out = append(x.out, x.out[from:to]...)
		x.said = true
	case n.kind == kindBuiltin:
		x.say(cxxBuiltins[n.text[0]])
		x.said = true
	default:
		x.said = n.kind == kindPack && n.text[0] == n.text[1]
	}
}

// whole notes that out[from:] is the text of a, a new node, if it was said.
func (x *cxxTree) whole(a ref, from int) ref {
	if x.said && a != 0 {
		x.nodes[a].done = [2]uint32{uint32(from), uint32(len(x.out))}
	}
	return a
}

// ends tells whether what was said last ends with c.
func (x *cxxTree) ends(c byte) bool { return len(x.out) > 0 && x.out[len(x.out)-1] == c }

// sayQualifiers appends the qualifiers of a type.
func (x *cxxTree) sayQualifiers(q qualifiers) {
	for ; q != 0; q >>= 4 {
		x.say(" ")
		x.say(qualifierWords[q&15])
	}
}

// saidList is the state of a list whose elements are said one after the other.
type saidList struct {
	said   bool // all of it
	before int  // length of x.out before the last element
	first  bool // nothing is in it yet
	// sparing is writeList's. Without it the list is one around which types may
	// still be written.
	sparing bool
}

// next begins an element.
func (l *saidList) next(x *cxxTree) {
	if l.before = len(x.out); !l.first {
		x.say(", ")
	}
}

// add ends the element a.
func (l *saidList) add(x *cxxTree, a ref) {
	l.said = l.said && x.said
	switch empty := x.isEmpty(x.use(a)); {
	case !l.sparing && (empty || !x.simple(a)):
		l.said, l.first = false, false
	case empty && x.said && len(x.out) == l.before:
	case empty && x.said: // without any text
		x.unsay(l.before)
	case empty:
	default:
		l.first = false
	}
}
