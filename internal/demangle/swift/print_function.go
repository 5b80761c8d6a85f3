package swift

import "strconv"

// function writes the annotations and the labels of a function's type.
func (p *printer) function(f, labels ref, depth int) {
	if p.kind(f) != swFunctionType {
		p.failed = true
		return
	}
	if convention := p.nodes[f].text; convention != functionTypes['E'] {
		p.write(convention)
	}
	for i := range p.children(f) {
		switch c := p.child(f, i); p.kind(c) {
		case swIsolation:
			p.print(c, depth)
		case swDifferentiable:
			p.write(p.nodes[c].text)
		case swSendable:
			p.write("@Sendable ")
		}
	}
	p.parameters(p.childOf(f, swArguments), labels)
}

// parameters writes the labels of parameters.
func (p *printer) parameters(arguments, labels ref) {
	tuple := p.inType(p.child(arguments, 0))
	if p.kind(tuple) != swTuple {
		p.write("(_:)")
		return
	}
	p.write("(")
	for i, e := range p.children(tuple) {
		label := p.childOf(e, swTupleLabel)
		if labels != 0 && len(p.children(labels)) > 0 {
			label = p.child(labels, i)
			if label == 0 {
				p.failed = true
			}
		}
		if text := p.nodes[label].text; text != "" {
			p.write(text)
		} else {
			p.write("_")
		}
		p.write(":")
	}
	p.write(")")
}

// parameterName writes a generic parameter: A, B, ..., and the depth of its context.
func (p *printer) parameterName(depth, index int) {
	for more := true; more; more = index > 0 {
		p.write(string(rune('A' + index%26)))
		index /= 26
	}
	if depth > 0 {
		p.write(strconv.Itoa(depth))
	}
}

// signature writes generic parameters without their requirements.
func (p *printer) signature(n ref) {
	const most = 128 // at each depth
	levels := 0
	for p.kind(p.child(n, levels)) == swParameterCount {
		levels++
	}
	markers := p.children(n)[levels:]
	for i, c := range markers {
		if p.kind(c) == swRequirement {
			markers = markers[:i]
			break
		}
	}

	p.write("<")
	for level := range levels {
		if level > 0 {
			p.write("><")
		}
		for i := range p.nodes[p.child(n, level)].index {
			if i > 0 {
				p.write(", ")
			}
			if i >= most {
				p.write("...")
				break
			}
			p.genericParameter(markers, level, i)
			if p.failed {
				return
			}
		}
	}
	p.write(">")
}

// genericParameter writes a parameter of a signature. Packs and values are marked.
func (p *printer) genericParameter(markers []ref, level, index int) {
	p.steps += len(markers)
	if p.steps > p.maxSteps {
		p.failed = true
		return
	}
	for _, m := range markers {
		// Swift's own program compares the depth with the index.
		if at := p.nodes[p.inType(p.child(m, 0))]; at.kind != swParameter || at.index != index<<parameterShift|level {
			continue
		}
		if p.kind(m) == swPackMarker {
			p.write("each ")
		} else {
			p.write("let ")
		}
	}
	p.parameterName(level, index)
}

// box writes a box of captured variables.
func (p *printer) box(n ref, depth int) {
	if signature := p.child(n, 1); signature != 0 {
		p.print(signature, depth)
		p.write(" ")
	}
	p.write("{")
	for i, field := range p.children(p.child(n, 0)) {
		if i > 0 {
			p.write(",")
		}
		if t := p.inType(field); p.kind(t) == swInOut {
			p.write(" var ")
			p.print(p.child(t, 0), depth)
		} else {
			p.write(" let ")
			p.print(field, depth)
		}
	}
	p.write(" }")
	if args := p.child(n, 2); args != 0 {
		p.write(" <")
		p.list(args, depth, ", ")
		p.write(">")
	}
}

// implFunction writes a function of the intermediate language: attributes, (parameters) -> (results).
func (p *printer) implFunction(n ref, depth int) {
	for _, c := range p.children(n) {
		switch p.kind(c) {
		case swImplParameter, swImplResult, swImplSubstitutions, swImplInvocation, swImplSending:
		default:
			p.print(c, depth)
			p.write(" ")
		}
	}
	substitutions, invocation := p.childOf(n, swImplSubstitutions), p.childOf(n, swImplInvocation)
	if substitutions != 0 {
		p.write("@substituted ")
		p.print(p.child(substitutions, 0), depth)
		p.write(" ")
	}

	p.implValues(n, swImplParameter, depth)
	p.write(" -> ")
	if p.childOf(n, swImplSending) != 0 {
		p.write("sending ")
	}
	p.implValues(n, swImplResult, depth)

	if substitutions != 0 {
		p.write(" for <")
		p.print(p.child(substitutions, 1), depth)
		p.write(">")
	}
	if invocation != 0 {
		p.write(" for <")
		p.print(p.child(invocation, 0), depth)
		p.write(">")
	}
}

// implValues writes the parameters or the results.
func (p *printer) implValues(n ref, k kind, depth int) {
	separator := "("
	for _, c := range p.children(n) {
		if p.kind(c) == k {
			p.write(separator)
			p.print(c, depth)
			separator = ", "
		}
	}
	if separator == "(" {
		p.write(separator)
	}
	p.write(")")
}
