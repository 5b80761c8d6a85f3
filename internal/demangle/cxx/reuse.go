package cxx

import (
	"encoding/binary"
	"math/bits"
)

// Consecutive names mostly have a common prefix: the names of a class's members are the
// same up to the member's own name. A part of the last name that lies within the common
// prefix need not be read again. The result of reading a part depends only on what is
// before it, so reading the part again would add the same nodes, elements, candidates and
// text. These are left where they are, and the part is reused by setting their lengths to
// those after the part was read.

// sameParts keeps the parts of the last name that are also in the next one, in, and
// drops the others. It also drops the places of texts that were written only when the
// last name was complete, since these texts are overwritten.
func (x *tree) sameParts(in []byte) {
	x.same = commonPrefix(x.in, in)
	if x.scopeAt > 0 { // later parts may depend on the rule for scopes
		x.same = min(x.same, x.scopeAt)
	}

	// Parts are in the order of their ends: drop those that reach too far.
	for i := range x.parts {
		if int(x.parts[i].end) >= x.same {
			x.parts = x.parts[:i]
			break
		}
	}

	for _, a := range x.written {
		x.nodes[a].done = [2]uint32{}
	}

	// partAt needs no clearing: reusePart checks the start of the part that it finds.
	if len(x.partAt) < len(in) {
		x.partAt, x.parts = make([]uint16, 2*len(in)), x.parts[:0]
	}
}

// reused skips the part that begins at pos if the last name had the same part, and
// returns its node; 0 if there is no such part.
func (x *tree) reused() ref {
	if x.pos >= x.same {
		return 0
	}
	return x.reusePart()
}

func (x *tree) reusePart() ref {
	i := int(x.partAt[x.pos])
	if i >= len(x.parts) || int(x.parts[i].start) != x.pos {
		return 0
	}

	p := &x.parts[i]
	x.pos, x.rendered, x.steps = int(p.end), p.rendered, int(p.steps)
	x.nodes, x.elems, x.subs, x.out = x.nodes[:p.nodes], x.elems[:p.elems], x.subs[:p.subs], x.out[:p.out]
	return p.node
}

// remember keeps the part read since start, whose node is a, for the next name. Only
// parts that end with an E are kept: these end there whatever follows in the next
// name, and shorter ones are not worth it.
func (x *tree) remember(a ref, start int) ref {
	if x.failed || x.reread > 0 || x.in[x.pos-1] != 'E' {
		return a
	}

	x.partAt[start] = uint16(len(x.parts))
	x.parts = append(x.parts, part{})
	p := &x.parts[len(x.parts)-1] // see node
	p.start, p.end, p.node, p.rendered, p.steps = uint32(start), uint32(x.pos), a, x.rendered, uint32(x.steps)
	p.nodes, p.elems, p.subs, p.out = uint32(len(x.nodes)), uint32(len(x.elems)), uint32(len(x.subs)), uint32(len(x.out))
	return a
}

// retract removes all text after the first n bytes of x.out. That text has overwritten
// text of the last name, so no later part of the last name can be reused.
func (x *tree) retract(n int) {
	x.out, x.same = x.out[:n], min(x.same, x.pos)
	for i := range x.parts {
		if int(x.parts[i].end) > x.pos {
			x.parts = x.parts[:i]
			break
		}
	}
}

// commonPrefix returns the length of the common prefix of a and b.
func commonPrefix(a, b []byte) (n int) {
	most := min(len(a), len(b))
	for ; n+8 <= most; n += 8 {
		if x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
	}
	for n < most && a[n] == b[n] {
		n++
	}
	return n
}
