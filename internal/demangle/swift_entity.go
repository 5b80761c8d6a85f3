package demangle

// swiftOperatorCharacters are the characters of operators, in the order of the letters for
// them.
const swiftOperatorCharacters = "& @/= >    <*!|+?%-~   ^ ."

// operatorName reads whether an operator is infix, prefix or postfix. Its name is an identifier
// of letters that stand for its characters.
func (r *swiftReader) operatorName() swiftRef {
	name := r.nodes[r.popKind(swIdentifier)].text
	text := make([]byte, 0, len(name)+len(" postfix"))
	for i := range len(name) {
		c := name[i]
		if c < 0x80 {
			if !isLower(c) || swiftOperatorCharacters[c-'a'] == ' ' {
				return 0
			}
			c = swiftOperatorCharacters[c-'a']
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
func (r *swiftReader) localName() swiftRef {
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
func (r *swiftReader) extension() swiftRef {
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

func (r *swiftReader) function() swiftRef {
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
func (r *swiftReader) entity(k swiftKind) swiftRef {
	t := r.popKind(swType)
	labels, ok := r.labels(t)
	if !ok {
		return 0
	}
	return r.named(k, labels, t)
}

// named pops name and context, and returns the declaration.
func (r *swiftReader) named(k swiftKind, labels, t swiftRef) swiftRef {
	name := r.popIn(swIsName)
	n := r.with(k, r.popContext(), name)
	if labels != 0 {
		n = r.add(n, labels)
	}
	return r.add(n, t)
}

// labels pops the labels of the parameters of a function's type: 0 for types of other kinds and
// for functions without parameters. If ok is false, there should be labels and are none.
func (r *swiftReader) labels(t swiftRef) (labels swiftRef, ok bool) {
	if !r.oldLabels && r.popKind(swEmptyList) != 0 {
		return r.node(swLabels, "", 0), true
	}

	// The parameters are a tuple or one type.
	f := r.inType(t)
	if r.kind(f) == swGenericType {
		f = r.inType(r.child(f, 1))
	}
	if convention := r.nodes[f].text; r.kind(f) != swFunctionType || convention != "" && convention != swiftFunctionTypes['E'] {
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
func (r *swiftReader) tupleLabels(tuple swiftRef, isTuple bool) (swiftRef, bool) {
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

// subscript reads a subscript and its accessor.
func (r *swiftReader) subscript() swiftRef {
	private := r.popKind(swPrivateName)
	t := r.popKind(swType)
	labels, ok := r.labels(t)
	if !ok {
		return 0
	}
	n := r.with(swSubscript, r.popContext())
	if labels != 0 {
		n = r.add(n, labels)
	}
	n = r.add(n, t)
	if private != 0 {
		n = r.add(n, private)
	}
	return r.accessor(n)
}

// swiftAccessors are the names of accessors.
var swiftAccessors = codeTable{
	{"g", "getter"}, {"s", "setter"}, {"G", "getter"}, {"m", "materializeForSet"}, {"w", "willset"}, {"W", "didset"},
	{"r", "read"}, {"y", "read2"}, {"M", "modify"}, {"x", "modify2"}, {"i", "init"},
	{"aO", "owningMutableAddressor"}, {"ao", "nativeOwningMutableAddressor"}, {"aP", "nativePinningMutableAddressor"},
	{"au", "unsafeMutableAddressor"},
	{"lO", "owningAddressor"}, {"lo", "nativeOwningAddressor"}, {"lp", "nativePinningAddressor"}, {"lu", "unsafeAddressor"},
}

// accessor reads the accessor of a variable or a subscript, or that there is none.
func (r *swiftReader) accessor(storage swiftRef) swiftRef {
	c := r.next()
	if c == 'p' {
		return storage
	}
	code := []byte{c}
	if c == 'a' || c == 'l' {
		code = append(code, r.next())
	}
	text, ok := swiftAccessors.text(code)
	if !ok {
		return 0
	}
	return r.texted(swAccessor, text, storage)
}

// functionEntity reads a function without a name.
func (r *swiftReader) functionEntity() swiftRef {
	switch r.next() {
	case 'D':
		return r.texted(swDeinit, "__deallocating_deinit", r.popContext())
	case 'd':
		return r.texted(swDeinit, "", r.popContext())
	case 'Z':
		return r.texted(swDeinit, "__isolated_deallocating_deinit", r.popContext())
	case 'E':
		return r.texted(swInitial, "__ivar_destroyer", r.popContext())
	case 'e':
		return r.texted(swInitial, "__ivar_initializer", r.popContext())
	case 'i':
		return r.texted(swInitial, "variable initialization expression", r.popContext())
	case 'P':
		return r.texted(swInitial, "property wrapper backing initializer", r.popContext())
	case 'W':
		return r.texted(swInitial, "property wrapper init from projected value", r.popContext())
	case 'C':
		return r.initializer(swAllocator)
	case 'c':
		return r.initializer(swConstructor)
	case 'U':
		return r.closure("closure #")
	case 'u':
		return r.closure("implicit closure #")
	case 'A':
		number := r.numberNode()
		return r.with(swDefaultArgument, r.popContext(), number)
	case 'm':
		return r.entity(swMacro)
	case 'M':
		return r.expansion()
	case 'p':
		return r.entity(swGenericParameterDecl)
	}
	return 0
}

func (r *swiftReader) initializer(k swiftKind) swiftRef {
	private := r.popKind(swPrivateName)
	t := r.popKind(swType)
	labels, ok := r.labels(t)
	if !ok {
		return 0
	}
	n := r.with(k, r.popContext())
	if labels != 0 {
		n = r.add(n, labels)
	}
	n = r.add(n, t)
	if private != 0 {
		n = r.add(n, private)
	}
	return n
}

func (r *swiftReader) closure(text string) swiftRef {
	number := r.numberNode()
	t := r.popKind(swType)
	return r.texted(swClosure, text, r.popContext(), number, t)
}

// swiftMacros are the kinds of macros that are attached to a declaration.
var swiftMacros = codeTable{
	{"a", "accessor"}, {"r", "member attribute"}, {"m", "member"}, {"p", "peer"}, {"c", "conformance"}, {"e", "extension"},
	{"q", "preamble"}, {"b", "body"},
}

// expansion reads the expansion of a macro.
func (r *swiftReader) expansion() swiftRef {
	c := r.next()
	if c == 'X' {
		line, column := r.numberNode(), r.numberNode()
		buffer := r.popKind(swIdentifier)
		return r.texted(swExpansionPlace, "module %0 file %1 line %2 column %3", r.popKind(swIdentifier), buffer, line, column)
	}

	text := "freestanding macro expansion #"
	macro := r.popKind(swIdentifier)
	name := macro
	switch {
	case c == 'f':
		r.popKind(swPrivateName)
	case c == 'u':
		text = "unique name #"
	default:
		kind, ok := swiftMacros.text([]byte{c})
		name = r.popIn(swIsName)
		if !ok || macro == 0 || name == 0 {
			return 0
		}
		text = kind + " macro @" + r.nodes[macro].text + " expansion #"
	}

	// The context of an expansion can be another one.
	var context swiftRef
	if k := r.top(); k == swExpansion || k == swExpansionPlace {
		context = r.pop()
	} else {
		context = r.popContext()
	}
	return r.texted(swExpansion, text, context, name, r.numberNode())
}
