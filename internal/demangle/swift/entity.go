package swift

import "symkit/internal/demangle/lex"

// operatorCharacters are the characters of operators, in the order of the letters for
// them.
const operatorCharacters = "& @/= >    <*!|+?%-~   ^ ."

// operatorName reads whether an operator is infix, prefix or postfix. Its name is an identifier
// of letters that stand for its characters.
func (r *Reader) operatorName() ref {
	name := r.nodes[r.popKind(swIdentifier)].text
	text := make([]byte, 0, len(name)+len(" postfix"))
	for i := range len(name) {
		c := name[i]
		if c < 0x80 {
			if !lex.IsLower(c) || operatorCharacters[c-'a'] == ' ' {
				return 0
			}
			c = operatorCharacters[c-'a']
		}
		text = append(text, c)
	}
	if len(text) == 0 {
		return 0
	}

	switch r.next() {
	case 'i':
		text = append(text, " infix"...)
	case 'p':
		text = append(text, " prefix"...)
	case 'P':
		text = append(text, " postfix"...)
	default:
		return 0
	}
	return r.node(swOperator, string(text), 0)
}

// localName reads what distinguishes declarations of one name: a number in a function, a
// discriminator in a file, a letter for what Clang's importer derived.
func (r *Reader) localName() ref {
	switch c := r.peek(); {
	case r.take('L'):
		discriminator := r.popKind(swIdentifier)
		return r.with(swPrivateName, discriminator, r.popIn(swIsName))
	case r.take('l'):
		return r.with(swPrivateName, r.popKind(swIdentifier))
	case 'a' <= c && c <= 'j' || 'A' <= c && c <= 'J':
		r.pos++
		return r.texted(swRelatedName, "related decl '"+string(rune(c))+"' for %0", r.pop())
	}
	number := r.numberNode()
	return r.with(swLocalName, number, r.popIn(swIsName))
}

// extension reads the context that an extension of a type is: the type, the module that has the
// extension, and the extension's constraints.
func (r *Reader) extension() ref {
	signature := r.popKind(swSignature)
	module := r.popModule()
	n := r.popInType()
	if !r.kind(n).in(swIsNominal) {
		return 0
	}
	e := r.with(swExtension, module, n)
	if signature != 0 {
		e = r.add(e, signature)
	}
	return e
}

func (r *Reader) function() ref {
	signature := r.popKind(swSignature)
	t := r.functionType("")
	labels, ok := r.labels(t)
	if !ok {
		return 0
	}
	if signature != 0 {
		t = r.typ(r.with(swGenericType, signature, t))
	}
	return r.named(swFunction, labels, t)
}

// entity reads a declaration that has a name and a type.
func (r *Reader) entity(k kind) ref {
	t := r.popKind(swType)
	labels, ok := r.labels(t)
	if !ok {
		return 0
	}
	return r.named(k, labels, t)
}

// named pops name and context, and returns the declaration.
func (r *Reader) named(k kind, labels, t ref) ref {
	name := r.popIn(swIsName)
	n := r.with(k, r.popContext(), name)
	if labels != 0 {
		n = r.add(n, labels)
	}
	return r.add(n, t)
}

// labels pops the labels of the parameters of a function's type: 0 for types of other kinds and
// for functions without parameters. If ok is false, there should be labels and are none.
func (r *Reader) labels(t ref) (labels ref, ok bool) {
	if !r.oldLabels && r.popKind(swEmptyList) != 0 {
		return r.node(swLabels, "", 0), true
	}

	// The parameters are a tuple or one type.
	f := r.inType(t)
	if r.kind(f) == swGenericType {
		f = r.inType(r.child(f, 1))
	}
	if convention := r.nodes[f].text; r.kind(f) != swFunctionType || convention != "" && convention != functionTypes['E'] {
		return 0, true
	}
	tuple := r.inType(r.child(r.childOf(f, swArguments), 0))
	count, isTuple := 1, r.kind(tuple) == swTuple
	if isTuple {
		count = len(r.children(tuple))
	}
	if count == 0 {
		return 0, true
	}
	if r.oldLabels {
		return r.tupleLabels(tuple, isTuple)
	}

	labels = r.node(swLabels, "", 0)
	named := false
	for range count {
		k := r.top()
		if k != swIdentifier && k != swFirst {
			return 0, false
		}
		named = named || k == swIdentifier
		labels = r.add(labels, r.pop())
	}
	if labels == 0 {
		return 0, false
	}
	if !named {
		return r.node(swLabels, "", 0), true
	}
	return r.reverse(labels, 0), true
}

// tupleLabels takes the labels out of a tuple.
func (r *Reader) tupleLabels(tuple ref, isTuple bool) (ref, bool) {
	labels := r.node(swLabels, "", 0)
	if !isTuple {
		return labels, labels != 0
	}
	named := false
	for i := range r.children(tuple) {
		label := r.childOf(r.child(tuple, i), swTupleLabel)
		if label != 0 {
			named = true
			labels = r.add(labels, r.node(swIdentifier, r.nodes[label].text, 0))
		} else {
			labels = r.add(labels, r.node(swFirst, "", 0))
		}
	}
	if !named {
		labels = r.node(swLabels, "", 0)
	}
	return labels, labels != 0
}
