package gosym

// Nested yields the calls so that each comes behind the one it is in and before
// the next one at or above that one's depth; calls in the same one come in the
// order of Calls.
func (in *Inlines) Nested(yield func(*Call) bool) {
	in.link()
	for i := in.next[len(in.Calls)]; i >= 0; {
		if !yield(&in.Calls[i]) {
			return
		}
		if child := in.child[i]; child >= 0 {
			i = child
			continue
		}
		for i >= 0 && in.next[i] < 0 {
			i = in.Calls[i].Parent
		}
		if i >= 0 {
			i = in.next[i]
		}
	}
}

// link makes child, the first call in each, and next, the one behind it in the
// same call; next has the first of all at its end.
func (in *Inlines) link() {
	in.child, in.next = in.child[:0], in.next[:0]
	for range in.Calls {
		in.child, in.next = append(in.child, -1), append(in.next, -1)
	}
	in.next = append(in.next, -1)
	for i := len(in.Calls) - 1; i >= 0; i-- {
		first := &in.next[len(in.Calls)]
		if parent := in.Calls[i].Parent; parent >= 0 {
			first = &in.child[parent]
		}
		in.next[i], *first = *first, int32(i)
	}
}
