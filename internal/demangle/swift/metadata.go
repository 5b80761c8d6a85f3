package swift

import (
	"slices"

	"symkit/internal/demangle/lex"
)

// metadata are the operators after M, which take what they are for as thunks do.
var metadata = [128]struct{ pops, text string }{
	'a': {"T", "type metadata accessor for %0"},
	'A': {"C", "reflection metadata associated type descriptor %0"},
	'b': {"T", "canonical specialized generic type metadata accessor for %0"},
	'B': {"T", "reflection metadata builtin descriptor %0"},
	'c': {"C", "protocol conformance descriptor for %0"},
	'C': {"T", "reflection metadata superclass descriptor %0"},
	'D': {"T", "demangling cache variable for type metadata for %0"},
	'f': {"T", "full type metadata for %0"},
	'F': {"T", "reflection metadata field descriptor %0"},
	'g': {"*", "opaque type descriptor accessor for %0"},
	'h': {"*", "opaque type descriptor accessor impl for %0"},
	'i': {"T", "type metadata instantiation function for %0"},
	'I': {"T", "type metadata instantiation cache for %0"},
	'j': {"*", "opaque type descriptor accessor key for %0"},
	'J': {"*", "cache variable for noncanonical specialized generic type metadata for %0"},
	'k': {"*", "opaque type descriptor accessor var for %0"},
	'K': {"*", "metadata instantiation cache for %0"},
	'l': {"T", "type metadata singleton initialization cache for %0"},
	'L': {"T", "lazy cache variable for type metadata for %0"},
	'm': {"T", "metaclass for %0"},
	'M': {"T", "specialized generic metaclass for %0"},
	'n': {"T", "nominal type descriptor for %0"},
	'N': {"T", "noncanonical specialized generic type metadata for %0"},
	'o': {"T", "class metadata base offset for %0"},
	'p': {"P", "protocol descriptor for %0"},
	'P': {"T", "generic type metadata pattern for %0"},
	'q': {"*", "uniquable %0"},
	'Q': {"*", "opaque type descriptor for %0"},
	'r': {"T", "type metadata completion function for %0"},
	's': {"T", "ObjC resilient class stub for %0"},
	'S': {"P", "protocol self-conformance descriptor for %0"},
	't': {"T", "full ObjC resilient class stub for %0"},
	'u': {"T", "method lookup function for %0"},
	'U': {"T", "ObjC metadata update function for %0"},
	'V': {"E", "property descriptor for %0"},
	'z': {"T", "flag for loading of canonical specialized generic type metadata for %0"},
}

// descriptors are the operators after MX.
var descriptors = [128]struct{ pops, text string }{
	'E': {"X", "extension descriptor %0"}, 'M': {"M", "module descriptor %0"}, 'X': {"X", "anonymous descriptor %0"},
	'Y': {"*X", "anonymous descriptor %1"}, 'A': {"NT", "generic parameter reference for associated type %1%0"},
}

// metadata reads an operator after M.
func (r *Reader) metadata() ref {
	table, c := &metadata, r.next()
	if c == 'X' {
		table, c = &descriptors, r.next()
	}
	if c >= 128 || table[c].text == "" {
		return 0
	}
	return r.popped(swTemplate, table[c].pops, table[c].text)
}

// witnesses are the operators after W.
var witnesses = [128]struct{ pops, text string }{
	'C': {"E", "enum case for %0"}, 'V': {"T", "value witness table for %0"},
	'S': {"P", "protocol self-conformance witness table for %0"},
	'P': {"C", "protocol witness table for %0"}, 'p': {"C", "protocol witness table pattern for %0"},
	'G': {"C", "generic protocol witness table for %0"},
	'I': {"C", "instantiation function for generic protocol witness table for %0"},
	'r': {"C", "resilient protocol witness table for %0"},
	'l': {"CT", "lazy protocol witness table accessor for type %1 and conformance %0"},
	'L': {"CT", "lazy protocol witness table cache variable for type %1 and conformance %0"},
	'a': {"C", "protocol witness table accessor for %0"},
	't': {"DC", "associated type metadata accessor for %0 in %1"},
	'T': {"TNC", "associated type witness table accessor for %1 : %0 in %2"},
	'b': {"TC", "base witness table accessor for %0 in %1"},
}

// outlined are the operators after WO: work on values that is in a function of its own.
var outlined = lex.CodeTable{
	{"y", "copy"}, {"e", "consume"}, {"r", "retain"}, {"s", "release"},
	{"b", "init with take"}, {"B", "init with take"}, {"c", "init with copy"}, {"C", "init with copy"},
	{"d", "assign with take"}, {"D", "assign with take"}, {"f", "assign with copy"}, {"F", "assign with copy"},
	{"h", "destroy"}, {"H", "destroy"}, {"g", "enum get tag"}, {"i", "enum tag store"}, {"j", "enum project data for load"},
}

// witness reads an operator after W.
func (r *Reader) witness() ref {
	switch c := r.next(); c {
	case 'O':
		return r.outlined()
	case 'v':
		text := "indirect field offset for %0"
		if r.take('d') {
			text = "direct field offset for %0"
		} else if !r.take('i') {
			return 0
		}
		return r.popped(swTemplate, "E", text)
	case 'Z':
		return r.once("one-time initialization function for %0")
	case 'z':
		return r.once("one-time initialization token for %0")
	default:
		if c >= 128 || witnesses[c].text == "" {
			return 0
		}
		return r.popped(swTemplate, witnesses[c].pops, witnesses[c].text)
	}
}

func (r *Reader) outlined() ref {
	c := r.next()
	text, ok := outlined.Text([]byte{c})
	if !ok || (c == 'i' || c == 'j') && r.number() < 0 {
		return 0
	}

	// The signature is only shown where a value is copied or consumed as it is.
	signature := r.popKind(swSignature)
	t := r.popKind(swType)
	if signature != 0 && (c == 'y' || c == 'e') {
		return r.texted(swTemplate, "outlined "+text+" of %0%1", t, signature)
	}
	return r.texted(swTemplate, "outlined "+text+" of %0", t)
}

// once reads what initializes global variables.
func (r *Reader) once(text string) ref {
	names := r.node(swCommaList, "", 0)
	for r.popKind(swFirst) != 0 {
		names = r.add(names, r.popIn(swIsName))
	}
	context := r.popContext()
	if names == 0 || context == 0 {
		return 0
	}
	if len(r.children(names)) != 1 {
		text = text[:len(text)-len("%0")] + "(%0)"
	}
	return r.texted(swTemplate, text, r.reverse(names, 0))
}

// valueWitnesses are the functions of a type's value witness table.
var valueWitnesses = lex.CodeTable{
	{"al", "allocateBuffer"}, {"ca", "assignWithCopy"}, {"ta", "assignWithTake"}, {"de", "deallocateBuffer"}, {"xx", "destroy"},
	{"XX", "destroyBuffer"}, {"Xx", "destroyArray"}, {"CP", "initializeBufferWithCopyOfBuffer"},
	{"Cp", "initializeBufferWithCopy"}, {"cp", "initializeWithCopy"}, {"Tk", "initializeBufferWithTake"},
	{"tk", "initializeWithTake"}, {"pr", "projectBuffer"}, {"TK", "initializeBufferWithTakeOfBuffer"},
	{"Cc", "initializeArrayWithCopy"}, {"Tt", "initializeArrayWithTakeFrontToBack"},
	{"tT", "initializeArrayWithTakeBackToFront"}, {"xs", "storeExtraInhabitant"}, {"xg", "getExtraInhabitantIndex"},
	{"ug", "getEnumTag"}, {"up", "destructiveProjectEnumData"}, {"ui", "destructiveInjectEnumTag"},
	{"et", "getEnumTagSinglePayload"}, {"st", "storeEnumTagSinglePayload"},
}

func (r *Reader) valueWitness() ref {
	text, ok := valueWitnesses.Text([]byte{r.next(), r.next()})
	if !ok {
		return 0
	}
	return r.texted(swTemplate, text+" for %0", r.popKind(swType))
}

// derivative reads a function that automatic differentiation made: it is for all that is on the stack.
func (r *Reader) derivative() ref {
	c := r.oneOf("SOV")
	if c == 'O' {
		r.popKind(swSignature)
		to := r.popKind(swType)
		n := r.texted(swTemplate, "autodiff self-reordering reabstraction thunk for %0", r.popKind(swType))
		if _, ok := r.derivativeKind(); !ok || to == 0 {
			return 0
		}
		return n
	}

	kind, ok := r.derivativeKind()
	if !ok || len(r.stack) == 0 || !r.indices('p') || !r.indices('r') || c == 'S' && !r.indices('P') {
		return 0
	}
	text := kind + " of %0"
	all := r.stack
	switch {
	case c == 'S':
		text = "autodiff subset parameters thunk for " + kind + " from %0"
		if len(all) > 1 {
			all = all[:len(all)-1] // the type that it has afterwards
		}
	case r.top() == swSignature:
		all = all[:len(all)-1]
	}
	if c == 'V' {
		text = "vtable thunk for " + text
	}

	of := r.node(swTypeList, "", 0)
	for _, n := range slices.Clone(all) {
		of = r.add(of, n)
	}
	r.stack = r.stack[:0]
	return r.texted(swDerivative, text, of)
}

func (r *Reader) derivativeKind() (string, bool) {
	switch r.next() {
	case 'f':
		return "forward-mode derivative", true
	case 'r':
		return "reverse-mode derivative", true
	case 'd':
		return "differential", true
	case 'p':
		return "pullback", true
	}
	return "", false
}

// indices reads a set of parameters or results, which is not shown, and the letter after it.
func (r *Reader) indices(end byte) bool {
	from := r.pos
	for r.oneOf("SU") != 0 {
	}
	return r.pos > from && r.take(end)
}

// popped pops what pops says, and returns a node with it.
func (r *Reader) popped(k kind, pops, text string) ref {
	n := r.node(k, text, 0)
	for i := range len(pops) {
		var c ref
		switch pops[i] {
		case 'E':
			c = r.popEntity()
		case 'C':
			c = r.popConformance()
		case 'P':
			c = r.popProtocol()
		case 'T':
			c = r.popKind(swType)
		case 'A':
			c = r.associatedName()
		case 'N':
			c = r.fullList(swPath, (*Reader).associatedName)
		case 'M':
			c = r.popModule()
		case 'X':
			c = r.popContext()
		case 'D':
			c = r.popIn(swIsName)
		case '*':
			c = r.pop()
		}
		n = r.add(n, c)
	}
	return n
}
