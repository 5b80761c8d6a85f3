package inlines

import (
	"symkit/internal/dwarfx"
	"symkit/internal/limitof"
)

// GCC 4.1 writes the calls that are inlined into an inlined call as its siblings. Such a call, whose
// ranges all lie in those of an earlier sibling, is that sibling's child.

// nestStepsPerCall bounds the siblings that a call is compared with, on average over the calls of a
// unit, and nestSteps is added for all of them. Calls beyond stay where they are.
const nestStepsPerCall, nestSteps = 1 << 8, 1 << 20

// nestNode is a call, or at index 0 the function, while calls are nested. Its children are a list of
// indices, from first over next to last; 0 ends it.
type nestNode struct {
	first, next, last int32
	depth             uint32
	high              uint64 // the end of its children
}

// nest makes children of the calls in list, all calls of a function, that lie in an earlier sibling.
// list stays in the order of a tree.
func (p *Placer) nest(list []dwarfx.Inline) {
	deepest := p.limits.Int(limitof.DIEDepth)
	p.nodes = append(p.nodes[:0], make([]nestNode, len(list)+1)...)
	p.path = append(p.path[:0], 0)
	for i := range list {
		in := &list[i]
		in.Ranges.To = in.Ranges.From + uint32(len(joined(p.spans[in.Ranges.From:in.Ranges.To])))

		// The path leads to the parent that the DIEs give the call.
		p.path = p.path[:min(int(in.Depth)+1, len(p.path))]
		node, parent := int32(i+1), p.path[len(p.path)-1]
		p.path = append(p.path, node)
		for int(p.nodes[parent].depth) < deepest {
			around := p.siblingAround(list, parent, in)
			if around == 0 {
				break
			}
			parent = around
		}
		p.adopt(list, parent, node)
	}
	p.flatten(list)
}

// siblingAround returns the first child of parent whose ranges contain those of in, or 0.
func (p *Placer) siblingAround(list []dwarfx.Inline, parent int32, in *dwarfx.Inline) int32 {
	ranges := p.spans[in.Ranges.From:in.Ranges.To]
	if len(ranges) == 0 || ranges[0].Lo >= p.nodes[parent].high {
		return 0
	}
	for k := p.nodes[parent].first; k != 0 && p.nestLeft > 0; k = p.nodes[k].next {
		p.nestLeft--
		if contains(p.spans[list[k-1].Ranges.From:list[k-1].Ranges.To], ranges) {
			return k
		}
	}
	return 0
}

// adopt makes node the last child of parent.
func (p *Placer) adopt(list []dwarfx.Inline, parent, node int32) {
	up, in := &p.nodes[parent], &list[node-1]
	for _, r := range p.spans[in.Ranges.From:in.Ranges.To] {
		up.high = max(up.high, r.Hi)
	}
	if up.first == 0 {
		up.first = node
	} else {
		p.nodes[up.last].next = node
	}
	up.last = node
	p.nodes[node].depth = up.depth + 1
}

// flatten puts list in the order of the tree, each call before those in it.
func (p *Placer) flatten(list []dwarfx.Inline) {
	p.nested = p.nested[:0]
	p.path = append(p.path[:0], p.nodes[0].first)
	for len(p.path) > 0 {
		last := len(p.path) - 1
		node := p.path[last]
		if node == 0 {
			p.path = p.path[:last]
			continue
		}
		in := list[node-1]
		in.Depth = p.nodes[node].depth - 1
		p.nested = append(p.nested, in)
		p.path[last] = p.nodes[node].next
		p.path = append(p.path, p.nodes[node].first)
	}
	copy(list, p.nested)
}

// contains reports whether each of inner lies in one of outer; both are in order.
func contains(outer, inner []dwarfx.Range) bool {
	for _, r := range inner {
		for len(outer) > 0 && outer[0].Hi < r.Hi {
			outer = outer[1:]
		}
		if len(outer) == 0 || outer[0].Lo > r.Lo {
			return false
		}
	}
	return true
}
