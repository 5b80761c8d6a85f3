package gosym

// Nested yields the calls in the order of a tree walk: each call comes after its parent
// and before the next call at or above the parent's depth; calls with one parent come
// in the order of Calls. The tree is kept as two lists of indexes: the first child of
// each call, and the next call with the same parent.
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

		// Up to the first call that has a next one.
		for i >= 0 && in.next[i] < 0 {
			i = in.Calls[i].Parent
		}
		if i >= 0 {
			i = in.next[i]
		}
	}
}

// link fills child, the first child of each call, and next, the following call of the
// same parent. The last element of next is the first call without a parent.
func (in *Inlines) link() {
	in.child, in.next = in.child[:0], in.next[:0]
	for range in.Calls {
		in.child, in.next = append(in.child, -1), append(in.next, -1)
	}
	in.next = append(in.next, -1)

	// Backwards, each call is put before those of its parent seen so far.
	for i := len(in.Calls) - 1; i >= 0; i-- {
		first := &in.next[len(in.Calls)]
		if parent := in.Calls[i].Parent; parent >= 0 {
			first = &in.child[parent]
		}
		in.next[i], *first = *first, int32(i)
	}
}
