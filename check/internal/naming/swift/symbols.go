package swift

// labels pops the labels of a function's parameters.
func (s *stack) labels(t *entry) []string {
	if s.pop("y") != nil || t.parameters <= 0 || t.convention != "" {
		return nil
	}
	labels := make([]string, t.parameters)
	for i := range labels {
		labels[len(labels)-1-i] = s.need("i_").text
	}
	return labels
}

// after returns what follows the name of a function.
func (t *entry) signature(labels []string) string {
	if t.parameters < 0 {
		return ""
	}
	return t.generic + t.prefix + t.parens(labels)
}

// declare returns a declaration.
func declare(context *entry, name, rest string, apart, typed bool) *entry {
	e := &entry{kind: kindContext, parent: context, parameters: -1}
	e.place(name, rest, apart, typed)
	return e
}

func (s *stack) plainFunction() *entry {
	sig := s.pop("s")
	t := s.function("")
	labels := s.labels(t)
	if sig != nil {
		t.generic = sig.text
	}
	name, local := s.declaredName()
	rest := t.signature(labels)
	if local {
		rest = " " + rest
	}
	return declare(s.context(), name, rest, local, true)
}

func (s *stack) variable() *entry {
	t := s.need("t")
	s.labels(t)
	name, local := s.declaredName()
	context := s.context()
	accessor, ok := s.accessor()
	switch {
	case !ok:
		return nil
	case accessor == "":
	case local:
		name = accessor + " of " + name
	case name == "":
		name = accessor
	default:
		name += "." + accessor
	}
	return declare(context, name, "", local, true)
}

func (s *stack) subscript() *entry {
	s.pop("p")
	t := s.need("t")
	labels := s.labels(t)
	context := s.context()
	accessor, ok := s.accessor()
	switch {
	case !ok:
		return nil
	case accessor == "":
		return declare(context, "subscript", t.signature(labels), false, true)
	}
	return declare(context, "subscript."+accessor, "", false, true)
}

// accessor reads which accessor it is, none for the declaration itself.
func (s *stack) accessor() (string, bool) {
	c := s.next()
	if c == 'p' {
		return "", true
	}
	code := string(rune(c))
	if c == 'a' || c == 'l' {
		code += string(rune(s.next()))
	}
	text, ok := map[string]string{
		"g": "getter", "G": "getter", "s": "setter", "m": "materializeForSet", "w": "willset", "W": "didset", "r": "read",
		"y": "read2", "M": "modify", "x": "modify2", "i": "init",
		"aO": "owningMutableAddressor", "ao": "nativeOwningMutableAddressor", "aP": "nativePinningMutableAddressor",
		"au": "unsafeMutableAddressor", "lO": "owningAddressor", "lo": "nativeOwningAddressor", "lp": "nativePinningAddressor",
		"lu": "unsafeAddressor",
	}[code]
	return text, ok
}

// unnamed reads a function without a name of its own.
func (s *stack) unnamed() *entry {
	switch c := s.next(); c {
	case 'D', 'd', 'Z':
		context := s.context()
		name := "deinit"
		if context.declared == 'C' && c != 'd' {
			name = map[byte]string{'D': "__deallocating_deinit", 'Z': "__isolated_deallocating_deinit"}[c]
		}
		return declare(context, name, "", false, false)
	case 'E':
		return declare(s.context(), "__ivar_destroyer", "", false, false)
	case 'e':
		return declare(s.context(), "__ivar_initializer", "", false, false)
	case 'i':
		return declare(s.context(), "variable initialization expression", "", true, false)
	case 'P':
		return declare(s.context(), "property wrapper backing initializer", "", true, false)
	case 'W':
		return declare(s.context(), "property wrapper init from projected value", "", true, false)
	case 'C', 'c':
		return s.initializer(c)
	case 'U', 'u':
		name := "closure #"
		if c == 'u' {
			name = "implicit closure #"
		}
		name += itoa(s.index() + 1)
		s.need("t")
		return declare(s.context(), name, "", true, false)
	case 'A':
		n := s.index()
		return declare(s.context(), "default argument "+itoa(n), "", true, false)
	case 'M':
		return s.expansion()
	}
	return nil
}

func (s *stack) initializer(c byte) *entry {
	private := s.pop("p")
	t := s.need("t")
	before := len(s.all)
	labels := s.labels(t)
	if c == 'c' && private != nil && len(s.all) == before {
		return nil // Swift's own program writes the type as its name
	}
	context := s.context()
	name := "init"
	if c == 'C' && context.declared == 'C' {
		name = "__allocating_init"
	}
	return declare(context, name, t.signature(labels), false, true)
}

// expansion reads what a macro made.
func (s *stack) expansion() *entry {
	c := s.next()
	if c == 'X' {
		line, column := s.index(), s.index()
		buffer := s.need("i").text
		return &entry{
			kind: kindExpansion,
			text: "module " + s.need("i").text + " file " + buffer + " line " + itoa(line) + " column " + itoa(column),
		}
	}
	macro := s.need("i").text
	name, text := macro, ""
	switch c {
	case 'f':
		s.pop("p")
		text = "freestanding macro expansion #"
	case 'u':
		text = "unique name #"
	default:
		role := map[byte]string{
			'a': "accessor", 'r': "member attribute", 'm': "member", 'p': "peer", 'c': "conformance", 'e': "extension",
			'q': "preamble", 'b': "body",
		}[c]
		if role == "" {
			return nil
		}
		name, _ = s.declaredName()
		text = role + " macro @" + macro + " expansion #"
	}
	context := s.pop("x")
	if context == nil {
		context = s.context()
	}
	e := declare(context, text+itoa(s.index()+1)+" of "+name, "", true, true)
	e.kind = kindExpansion
	return e
}
