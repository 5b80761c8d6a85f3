package swift

// typeNode writes a type, a part of one, or a function of the intermediate language.
func (p *printer) typeNode(n ref, depth int) {
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
		p.parameterName(node.index>>parameterShift, node.index&(1<<parameterShift-1))
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
func (p *printer) wrapped(n ref, depth int, before, after string) {
	if len(p.children(n)) == 0 {
		return
	}
	p.write(before)
	p.list(n, depth, ", ")
	p.write(after)
}

func (p *printer) tupleElement(n ref, depth int) {
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
func (p *printer) metatype(n ref, depth int) {
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
func (p *printer) bound(n ref, depth int) {
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
func (p *printer) isStandard(t ref, name string) bool {
	t = p.inType(t)
	module, id := p.nodes[p.child(t, 0)], p.nodes[p.child(t, 1)]
	return module.kind == swModule && module.text == "Swift" && id.kind == swIdentifier && id.text == name
}
