package swift

import "symkit/internal/demangle/lex"

// operator reads one operator, and returns the node to push, 0 if it cannot be read.
func (r *Reader) operator() ref {
	switch c := r.next(); c {
	case 'A':
		return r.multiple()
	case 'B':
		return r.builtin()
	case 'C':
		return r.nominal(swClass)
	case 'D': // a type alone, as in debugging information
		return r.typeMangling()
	case 'E':
		return r.extension()
	case 'F':
		return r.function()
	case 'G':
		return r.boundGeneric()
	case 'H':
		return r.conformanceOperator()
	case 'I':
		return r.implFunction()
	case 'K':
		return r.node(swThrows, "", 0)
	case 'L':
		return r.localName()
	case 'M':
		return r.metadata()
	case 'N':
		return r.texted(swTemplate, "type metadata for %0", r.popKind(swType))
	case 'O':
		return r.nominal(swEnum)
	case 'P':
		return r.nominal(swProtocol)
	case 'Q':
		return r.archetype()
	case 'R':
		return r.requirement()
	case 'S':
		return r.standard()
	case 'T':
		return r.thunk()
	case 'V':
		return r.nominal(swStruct)
	case 'W':
		return r.witness()
	case 'X':
		return r.specialType()
	case 'Y':
		return r.annotation()
	case 'Z':
		return r.with(swStatic, r.popEntity())
	case 'a':
		return r.nominal(swAlias)
	case 'c':
		return r.functionType("")
	case 'd':
		return r.node(swVariadic, "", 0)
	case 'f':
		return r.functionEntity()
	case 'g':
		return r.with(swRetroactive, r.numberNode(), r.popAnyConformance())
	case '.':
		// Copies that are made after Swift's mangling: "with unmangled suffix", which is not shown.
		r.pos = len(r.in)
		return r.node(swSuffix, "", 0)
	default:
		return r.lowerOperator(c)
	}
}

// lowerOperator reads the operators after g, and identifiers.
func (r *Reader) lowerOperator(c byte) ref {
	switch c {
	case 'h':
		return r.qualified("__shared %0")
	case 'i':
		return r.subscript()
	case 'l':
		return r.signature(false)
	case 'm':
		return r.typ(r.with(swMetatype, r.popKind(swType)))
	case 'n':
		return r.qualified("__owned %0")
	case 'o':
		return r.operatorName()
	case 'p':
		return r.typ(r.protocolList())
	case 'q':
		return r.typ(r.parameterIndex())
	case 'r':
		return r.signature(true)
	case 's':
		return r.node(swModule, "Swift", 0)
	case 't':
		return r.typ(r.list(swTuple, (*Reader).popTupleElement))
	case 'u':
		signature := r.popKind(swSignature)
		return r.typ(r.with(swGenericType, signature, r.popKind(swType)))
	case 'v':
		return r.accessor(r.entity(swVariable))
	case 'w':
		return r.valueWitness()
	case 'x':
		return r.typ(r.parameter(0, 0))
	case 'y':
		return r.node(swEmptyList, "", 0)
	case 'z':
		return r.typ(r.with(swInOut, r.popInType()))
	case '_':
		return r.node(swFirst, "", 0)
	case '$':
		return r.integer()
	}
	if lex.IsDigit(c) {
		r.pos--
		return r.identifier()
	}
	return 0
}

// qualified pops a type and returns it with a qualifier.
func (r *Reader) qualified(template string) ref {
	return r.typ(r.texted(swTemplate, template, r.popInType()))
}

// typeMangling reads a type, with the labels of its parameters if it is a function.
func (r *Reader) typeMangling() ref {
	t := r.popKind(swType)
	labels, ok := r.labels(t)
	if !ok {
		return 0
	}
	if labels == 0 {
		return r.texted(swTemplate, "%0", t)
	}
	return r.with(swLabelled, labels, t)
}

// annotation reads what is written at a function type, and a few qualifiers.
func (r *Reader) annotation() ref {
	switch r.next() {
	case 'a':
		return r.node(swAsync, "", 0)
	case 'A':
		return r.node(swIsolation, "@isolated(any) ", 0)
	case 'b':
		return r.node(swSendable, "", 0)
	case 'c':
		return r.texted(swIsolation, "@%0 ", r.popInType())
	case 'C':
		return r.node(swIsolation, "nonisolated(nonsending) ", 0)
	case 'i':
		return r.qualified("isolated %0")
	case 'j':
		return r.differentiable()
	case 'k':
		return r.qualified("@noDerivative %0")
	case 'K':
		return r.with(swThrows, r.popInType())
	case 't':
		return r.qualified("_const %0")
	case 'g':
		return r.qualified("@const %0")
	case 'T':
		return r.node(swSendingResult, "", 0)
	case 'u':
		return r.qualified("sending %0")
	}
	return 0
}
