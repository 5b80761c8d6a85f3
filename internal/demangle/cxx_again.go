package demangle

import (
	"encoding/binary"
	"math/bits"
)

// Names that come one after the other mostly begin alike: those of a class are
// the same up to what they are called in it. A part of the last name that ends
// where the names are still the same need not be read again: reading it would
// add what it added then, for that follows from what is in front of it. So
// nodes, elements, candidates and text of the last name stay where they are, and
// to read such a part is to take note of how many of each there were behind it.

// cxxPart is a part of a name that was read: a type or a template's arguments.
type cxxPart struct {
	start, end uint32 // of the name
	node       ref
	said       bool
	// Lengths of nodes, elems, subs and out when it was read, and steps.
	nodes, elems, subs, out, steps uint32
}

// sameParts makes the parts of the last name that are also in the next one, in,
// those that are there to be found. What was noted while the last name was
// written out is forgotten: that text is not kept.
func (x *cxxTree) sameParts(in []byte) {
	x.same = commonPrefix(x.in, in)
	if x.scopeAt > 0 { // from here on the parts may depend on the rule for scopes
		x.same = min(x.same, x.scopeAt)
	}
	for i := range x.parts {
		if int(x.parts[i].end) >= x.same {
			x.parts = x.parts[:i]
			break
		}
	}
	for _, a := range x.written {
		x.nodes[a].done = [2]uint32{}
	}
	if len(x.partAt) < len(in) {
		x.partAt, x.parts = make([]uint16, 2*len(in)), x.parts[:0]
	}
}

// again reads the part that begins here if the last name had it too; 0 if not.
func (x *cxxTree) again() ref {
	if x.pos >= x.same {
		return 0
	}
	return x.samePart()
}

func (x *cxxTree) samePart() ref {
	i := int(x.partAt[x.pos])
	if i >= len(x.parts) || int(x.parts[i].start) != x.pos {
		return 0
	}
	p := &x.parts[i]
	x.pos, x.said, x.steps = int(p.end), p.said, int(p.steps)
	x.nodes, x.elems, x.subs, x.out = x.nodes[:p.nodes], x.elems[:p.elems], x.subs[:p.subs], x.out[:p.out]
	return p.node
}

// remember notes that a is what was read from start on, for the next name. Only
// what ends with an E is worth it, and ends there whatever comes next.
func (x *cxxTree) remember(a ref, start int) ref {
	if x.failed || x.reread > 0 || x.in[x.pos-1] != 'E' {
		return a
	}
	x.partAt[start] = uint16(len(x.parts))
	x.parts = append(x.parts, cxxPart{})
	p := &x.parts[len(x.parts)-1] // see node
	p.start, p.end, p.node, p.said, p.steps = uint32(start), uint32(x.pos), a, x.said, uint32(x.steps)
	p.nodes, p.elems, p.subs, p.out = uint32(len(x.nodes)), uint32(len(x.elems)), uint32(len(x.subs)), uint32(len(x.out))
	return a
}

// unsay takes back what was said after the first n bytes of x.out. It has been
// written over text of the last name: what follows is to be read anew.
func (x *cxxTree) unsay(n int) {
	x.out, x.same = x.out[:n], min(x.same, x.pos)
	for i := range x.parts {
		if int(x.parts[i].end) > x.pos {
			x.parts = x.parts[:i]
			break
		}
	}
}

// commonPrefix returns how many bytes at the beginning of a and b are the same.
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
