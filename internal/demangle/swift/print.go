package swift

import (
	"strconv"

	"symkit/internal/demangle/lex"
)

// printer writes nodes.
type printer struct {
	*arena
	out         []byte
	steps       int // nodes that were written
	maxSteps    int
	maxBytes    int
	specialized bool // "specialized" is written, which is written once
	failed      bool
}

// symbol writes a whole symbol: the attributes from the outside in, then the rest.
func (p *printer) symbol(stack []ref) bool {
	if k := len(stack) - 1; k > 0 && p.kind(stack[k]) == swSuffix {
		stack = stack[:k]
	}
	applied := false
	for len(stack) > 0 && p.kind(stack[len(stack)-1]).in(swIsAttribute) {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if applied {
			p.write(" for ")
			applied = false
		}
		applied = p.kind(n) == swPartialApply
		p.print(n, 0)
	}
	if len(stack) == 0 && applied && !p.failed {
		return true // of what is not known
	}
	if len(stack) != 1 {
		return false
	}
	if applied {
		p.write(" for ")
	}
	n := p.inType(stack[0])
	if k := p.kind(n); (k == swParameter || k.in(swIsName)) && len(p.out) == 0 {
		return false // nothing has such a name
	}
	p.print(n, 0)
	return !p.failed
}

func (p *printer) write(s string) {
	if len(p.out)+len(s) > p.maxBytes {
		p.failed = true
	}
	if !p.failed {
		p.out = append(p.out, s...)
	}
}

// list writes the children of a node.
func (p *printer) list(n ref, depth int, separator string) {
	for i, c := range p.children(n) {
		if i > 0 {
			p.write(separator)
		}
		p.print(c, depth)
	}
}

// print writes a node.
func (p *printer) print(n ref, depth int) { p.context(n, depth, false) }

// context is print for a node that may be written in front of a name, if prefix is set. It
// returns a context that cannot be, which follows the name.
func (p *printer) context(n ref, depth int, prefix bool) ref {
	p.steps++
	if n == 0 || depth > maxDepth || p.steps > p.maxSteps || p.failed {
		p.failed = true
		return 0
	}
	depth++

	node := p.nodes[n]
	switch node.kind {
	case swType:
		p.print(p.child(n, 0), depth)
	case swModule, swAnonymous, swLabels, swTupleLabel:
	case swIdentifier, swOperator:
		p.failed = p.failed || !isSwiftText(node.text)
		p.write(node.text)
	case swText, swSimple, swBuiltin, swBuiltinTuple, swAttribute:
		p.write(node.text)
	case swInteger:
		p.write(strconv.Itoa(node.index))
	case swTemplate, swSugar, swRequirement, swConformance, swConcrete, swDependentConformance, swPackConformance,
		swOpaqueConformance, swConformanceInType, swConformanceInProtocol, swRelatedName, swDerivative, swIsolation, swExpansionPlace:
		p.template(n, depth)
	case swSpecialization:
		if !p.specialized {
			p.write("specialized ")
		}
		p.specialized = true
	case swPartialApply:
		p.write("partial apply")
	case swLocalName:
		p.print(p.child(n, 1), depth)
		p.write(" #")
		p.write(strconv.Itoa(p.nodes[p.child(n, 0)].index + 1))
	case swPrivateName:
		if name := p.child(n, 1); name != 0 {
			p.print(name, depth)
		}
	case swStatic:
		p.write("static ")
		p.print(p.child(n, 0), depth)
	case swOpaqueResultOf:
		p.write("<<opaque return type of ")
		p.print(p.child(n, 0), depth)
		p.write(">>")
	case swExtension:
		p.print(p.child(n, 1), depth)
		if signature := p.child(n, 2); signature != 0 {
			p.print(signature, depth)
		}
	case swAccessor:
		return p.accessor(n, depth, prefix)
	default:
		if after, ok := p.declaration(n, depth, prefix); ok {
			return after
		}
		p.typeNode(n, depth)
	}
	return 0
}

// template writes the text of a node with its children: %0 is the first, ^0 the first in
// parentheses if it needs them.
func (p *printer) template(n ref, depth int) {
	text := p.nodes[n].text
	from := 0
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '%' && text[i] != '^' || !lex.IsDigit(text[i+1]) {
			continue
		}
		p.write(text[from:i])
		c := p.child(n, int(text[i+1]-'0'))
		if text[i] == '^' {
			p.parenthesized(c, depth)
		} else {
			p.print(c, depth)
		}
		from = i + 2
	}
	p.write(text[from:])
}

// parenthesized writes a type in front of a suffix.
func (p *printer) parenthesized(n ref, depth int) {
	if p.isPlain(n) {
		p.print(n, depth)
		return
	}
	p.write("(")
	p.print(n, depth)
	p.write(")")
}

// isPlain reports whether a type needs no parentheses.
func (p *printer) isPlain(n ref) bool {
	for p.kind(n) == swType {
		n = p.child(n, 0)
	}
	switch p.kind(n) {
	case swProtocols:
		return len(p.children(p.child(n, 0))) <= 1
	case swProtocolsObject:
		return len(p.children(p.child(p.child(n, 0), 0))) == 0
	}
	return p.kind(n).in(swIsPlain)
}
