package swift

// popProtocol pops a protocol, which can be written as a type or as context and name.
func (r *Reader) popProtocol() ref {
	if r.top() == swType {
		n := r.pop()
		if r.kind(r.child(n, 0)) != swProtocol {
			return 0
		}
		return n
	}
	name := r.popIn(swIsName)
	return r.typ(r.with(swProtocol, r.popContext(), name))
}

// protocolList pops protocols that a type must all conform to.
func (r *Reader) protocolList() ref {
	return r.with(swProtocols, r.list(swTypeList, (*Reader).popProtocol))
}

// popConformance pops the conformance of a type to a protocol. Only the type is shown.
func (r *Reader) popConformance() ref {
	signature := r.popKind(swSignature)
	module := r.popModule()
	protocol := r.popProtocol()
	t := r.popKind(swType)
	property := ref(0)
	if t == 0 {
		property = r.popKind(swIdentifier)
		t = r.popKind(swType)
	}
	if signature != 0 {
		t = r.typ(r.with(swGenericType, signature, t))
	}
	if property != 0 {
		return r.texted(swConformance, "property behavior storage of %2 in %0 : %1", t, protocol, module)
	}
	return r.texted(swConformance, "%0", t, protocol, module)
}

// conformanceOperator reads an operator after H: a conformance among the arguments of a generic type,
// or a record for the runtime.
func (r *Reader) conformanceOperator() ref {
	switch r.next() {
	case 'A':
		index := r.conformanceIndex()
		protocol := r.popProtocol()
		inner := r.texted(swTemplate, "dependent associated conformance %0%1", r.popKind(swType), protocol)
		return r.dependent("associated", r.popDependentConformance(), inner, index)
	case 'C':
		return r.concrete()
	case 'D':
		index := r.conformanceIndex()
		protocol := r.popProtocol()
		return r.dependent("root", r.popKind(swType), protocol, index)
	case 'I':
		index := r.conformanceIndex()
		protocol := r.popProtocol()
		return r.dependent("inherited", r.popDependentConformance(), protocol, index)
	case 'O':
		t := r.popKind(swType)
		return r.texted(swOpaqueConformance, "opaque result conformance %0 of %1", r.popDependentConformance(), t)
	case 'P':
		return r.texted(swConformanceInType, "protocol conformance ref (type's module) %0", r.popProtocol())
	case 'p':
		return r.texted(swConformanceInProtocol, "protocol conformance ref (protocol's module) %0", r.popProtocol())
	case 'X':
		return r.texted(swPackConformance, "pack protocol conformance %0", r.list(swConformances, (*Reader).popAnyConformance))
	case 'c':
		return r.texted(swTemplate, "protocol conformance descriptor runtime record for %0", r.popConformance())
	case 'n':
		return r.texted(swTemplate, "nominal type descriptor runtime record for %0", r.popKind(swType))
	case 'o':
		return r.texted(swTemplate, "opaque type descriptor runtime record for %0", r.pop())
	case 'r':
		return r.texted(swTemplate, "protocol descriptor runtime record for %0", r.popProtocol())
	case 'F':
		return r.node(swAttribute, "", 0) // an accessible function's record
	}
	return 0
}

// conformanceIndex reads the number of a requirement among those of a signature, which may be
// unknown.
func (r *Reader) conformanceIndex() ref {
	n := r.number()
	switch {
	case n <= 0:
		return 0
	case n == 1:
		return r.node(swText, "", 0)
	}
	return r.texted(swTemplate, "#%0 ", r.node(swInteger, "", n-2))
}

func (r *Reader) dependent(kind string, from, to, index ref) ref {
	return r.texted(swDependentConformance, "dependent "+kind+" protocol conformance %2%0 to %1", from, to, index)
}

func (r *Reader) popDependentConformance() ref { return r.popKind(swDependentConformance) }

func (r *Reader) popAnyConformance() ref {
	switch r.top() {
	case swConcrete, swPackConformance, swDependentConformance, swOpaqueConformance:
		return r.pop()
	}
	return 0
}

// concrete reads a conformance of a known type.
func (r *Reader) concrete() ref {
	conditions := r.list(swConformances, (*Reader).popAnyConformance)
	var ref ref
	switch r.top() {
	case swConformanceInType, swConformanceInProtocol:
		ref = r.pop()
	default:
		module := r.popModule()
		ref = r.texted(swTemplate, "protocol conformance ref (retroactive) %0%1", r.popProtocol(), module)
	}

	text := "concrete protocol conformance %0 to %1"
	if conditions != 0 && len(r.children(conditions)) > 0 {
		text = "concrete protocol conformance %0 to %1 with conditional requirements: %2"
	}
	return r.texted(swConcrete, text, r.popKind(swType), ref, conditions)
}
