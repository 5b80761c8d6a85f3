package demangle

import "strconv"

// typeNode writes a type, a part of one, or a function of the intermediate language.
func (p *swiftPrinter) typeNode(n swiftRef, depth int) {
	node := p.nodes[n]
	switch node.kind {
	case swBoundClass, swBoundStruct, swBoundEnum, swBoundProtocol, swBoundNominal, swBoundAlias:
		p.bound(n, depth)
	case swFunctionType:
		p.function(n, 0, depth)
	case swLabelled:
		p.function(p.inType(p.child(n, 1)), p.child(n, 0), depth)
	case swArguments:
		p.parameters(n, 0)
	case swResult, swTypeList:
		p.list(n, depth, "")
	case swCommaList, swRequirements:
		p.list(n, depth, ", ")
	case swPath:
		p.list(n, depth, ".")
	case swConformances:
		p.wrapped(n, depth, "(", ")")
	case swTuple:
		p.wrapped(n, depth, "(", ")")
		if node.n == 0 {
			p.write("()")
		}
	case swTupleElement:
		p.tupleElement(n, depth)
	case swPack:
		p.write(node.text)
		p.write("Pack{")
		p.list(n, depth, ", ")
		p.write("}")
	case swInOut:
		p.write("inout ")
		p.print(p.child(n, 0), depth)
	case swMetatype, swExistentialMetatype:
		p.metatype(n, depth)
	case swProtocols:
		if len(p.children(p.child(n, 0))) == 0 {
			p.write("Any")
		}
		p.list(p.child(n, 0), depth, " & ")
	case swProtocolsClass:
		p.print(p.child(n, 1), depth)
		p.write(" & ")
		p.list(p.child(p.child(n, 0), 0), depth, " & ")
	case swProtocolsObject:
		list := p.child(p.child(n, 0), 0)
		p.list(list, depth, " & ")
		if len(p.children(list)) > 0 {
			p.write(" & ")
		}
		p.write("Swift.AnyObject")
	case swConstrained:
		p.write("any ")
		p.print(p.child(n, 0), depth)
		p.wrapped(p.child(n, 1), depth, "<", ">")
	case swParameter:
		p.parameterName(node.index>>32, node.index&(1<<32-1))
	case swMember:
		p.print(p.child(n, 0), depth)
		p.write(".")
		p.print(p.child(n, 1), depth)
	case swAssociated:
		if protocol := p.child(n, 1); protocol != 0 {
			p.print(protocol, depth)
			p.write(".")
		}
		p.print(p.child(n, 0), depth)
	case swAssociatedRef, swOpaque:
		p.print(p.child(n, 0), depth)
		p.write(".")
		p.print(p.child(n, 1), depth)
	case swSignature:
		p.signature(n)
	case swGenericType:
		p.print(p.child(n, 0), depth)
		if p.needsBlank(p.child(n, 1)) {
			p.write(" ")
		}
		p.print(p.child(n, 1), depth)
	case swBoxLayout:
		p.box(n, depth)
	case swImplFunction:
		p.implFunction(n, depth)
	case swImplParameter, swImplResult:
		p.write(node.text)
		p.print(p.child(n, 0), depth)
	default:
		p.failed = true // a marker that nothing took
	}
}

// wrapped writes a list in brackets, nothing if it is empty.
func (p *swiftPrinter) wrapped(n swiftRef, depth int, before, after string) {
	if len(p.children(n)) == 0 {
		return
	}
	p.write(before)
	p.list(n, depth, ", ")
	p.write(after)
}

func (p *swiftPrinter) tupleElement(n swiftRef, depth int) {
	if label := p.childOf(n, swTupleLabel); label != 0 {
		p.write(p.nodes[label].text)
		p.write(": ")
	}
	p.print(p.childOf(n, swType), depth)
	if p.childOf(n, swVariadic) != 0 {
		p.write("...")
	}
}

// metatype writes the type of a type.
func (p *swiftPrinter) metatype(n swiftRef, depth int) {
	p.write(p.nodes[n].text)
	t := p.child(n, 0)
	if p.kind(n) == swExistentialMetatype {
		p.print(t, depth)
		p.write(".Type")
		return
	}
	t = p.inType(t)
	p.parenthesized(t, depth)
	switch p.kind(t) {
	case swExistentialMetatype, swProtocols, swProtocolsClass, swProtocolsObject:
		p.write(".Protocol")
	default:
		p.write(".Type")
	}
}

// bound writes a type with its arguments: Optional, Array and Dictionary as they are written in programs.
func (p *swiftPrinter) bound(n swiftRef, depth int) {
	generic, args := p.child(n, 0), p.child(n, 1)
	switch k := p.kind(n); {
	case k == swBoundProtocol:
		p.print(args, depth)
		p.write(" as ")
		p.print(generic, depth)
		return
	case k == swBoundEnum && p.isStandard(generic, "Optional") && len(p.children(args)) == 1:
		p.parenthesized(p.child(args, 0), depth)
		p.write("?")
		return
	case k == swBoundEnum && p.isStandard(generic, "ImplicitlyUnwrappedOptional") && len(p.children(args)) == 1:
		p.parenthesized(p.child(args, 0), depth)
		p.write("!")
		return
	case k == swBoundStruct && p.isStandard(generic, "Array") && len(p.children(args)) == 1:
		p.wrapped(args, depth, "[", "]")
		return
	case k == swBoundStruct && p.isStandard(generic, "Dictionary") && len(p.children(args)) == 2:
		p.write("[")
		p.list(args, depth, " : ")
		p.write("]")
		return
	}
	p.print(generic, depth)
	p.write("<")
	p.list(args, depth, ", ")
	p.write(">")
}

// isStandard reports whether a type is one of the standard library.
func (p *swiftPrinter) isStandard(t swiftRef, name string) bool {
	t = p.inType(t)
	module, id := p.nodes[p.child(t, 0)], p.nodes[p.child(t, 1)]
	return module.kind == swModule && module.text == "Swift" && id.kind == swIdentifier && id.text == name
}

// function writes the annotations and the labels of a function's type.
func (p *swiftPrinter) function(f, labels swiftRef, depth int) {
	if p.kind(f) != swFunctionType {
		p.failed = true
		return
	}
	if convention := p.nodes[f].text; convention != swiftFunctionTypes['E'] {
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
func (p *swiftPrinter) parameters(arguments, labels swiftRef) {
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
func (p *swiftPrinter) parameterName(depth, index int) {
	for more := true; more; more = index > 0 {
		p.write(string(rune('A' + index%26)))
		index /= 26
	}
	if depth > 0 {
		p.write(strconv.Itoa(depth))
	}
}

// signature writes generic parameters without their requirements.
func (p *swiftPrinter) signature(n swiftRef) {
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
func (p *swiftPrinter) genericParameter(markers []swiftRef, level, index int) {
	p.steps += len(markers)
	if p.steps > swiftMaxSteps {
		p.failed = true
		return
	}
	for _, m := range markers {
		// Swift's own program compares the depth with the index.
		if at := p.nodes[p.inType(p.child(m, 0))]; at.kind != swParameter || at.index != index<<32|level {
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
func (p *swiftPrinter) box(n swiftRef, depth int) {
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
func (p *swiftPrinter) implFunction(n swiftRef, depth int) {
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
func (p *swiftPrinter) implValues(n swiftRef, k swiftKind, depth int) {
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
