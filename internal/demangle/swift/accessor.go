package swift

import "symkit/internal/demangle/lex"

// subscript reads a subscript and its accessor.
func (r *Reader) subscript() ref {
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

// accessors are the names of accessors.
var accessors = lex.CodeTable{
	{"g", "getter"}, {"s", "setter"}, {"G", "getter"}, {"m", "materializeForSet"}, {"w", "willset"}, {"W", "didset"},
	{"r", "read"}, {"y", "read2"}, {"M", "modify"}, {"x", "modify2"}, {"i", "init"},
	{"aO", "owningMutableAddressor"}, {"ao", "nativeOwningMutableAddressor"}, {"aP", "nativePinningMutableAddressor"},
	{"au", "unsafeMutableAddressor"},
	{"lO", "owningAddressor"}, {"lo", "nativeOwningAddressor"}, {"lp", "nativePinningAddressor"}, {"lu", "unsafeAddressor"},
}

// accessor reads the accessor of a variable or a subscript, or that there is none.
func (r *Reader) accessor(storage ref) ref {
	c := r.next()
	if c == 'p' {
		return storage
	}
	code := []byte{c}
	if c == 'a' || c == 'l' {
		code = append(code, r.next())
	}
	text, ok := accessors.Text(code)
	if !ok {
		return 0
	}
	return r.texted(swAccessor, text, storage)
}

// functionEntity reads a function without a name.
func (r *Reader) functionEntity() ref {
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

func (r *Reader) initializer(k kind) ref {
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

func (r *Reader) closure(text string) ref {
	number := r.numberNode()
	t := r.popKind(swType)
	return r.texted(swClosure, text, r.popContext(), number, t)
}

// macros are the kinds of macros that are attached to a declaration.
var macros = lex.CodeTable{
	{"a", "accessor"}, {"r", "member attribute"}, {"m", "member"}, {"p", "peer"}, {"c", "conformance"}, {"e", "extension"},
	{"q", "preamble"}, {"b", "body"},
}

// expansion reads the expansion of a macro.
func (r *Reader) expansion() ref {
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
		kind, ok := macros.Text([]byte{c})
		name = r.popIn(swIsName)
		if !ok || macro == 0 || name == 0 {
			return 0
		}
		text = kind + " macro @" + r.nodes[macro].text + " expansion #"
	}

	// The context of an expansion can be another one.
	var context ref
	if k := r.top(); k == swExpansion || k == swExpansionPlace {
		context = r.pop()
	} else {
		context = r.popContext()
	}
	return r.texted(swExpansion, text, context, name, r.numberNode())
}
