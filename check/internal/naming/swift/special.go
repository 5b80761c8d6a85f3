package swift

// metatype reads the type of a type.
func (s *stack) metatype(representation string) *entry {
	t := s.need("t")
	end := ".Type"
	if t.protocols {
		end = ".Protocol"
	}
	return typed(representation+inParens(t)+end, true)
}

// special reads a type after X.
func (s *stack) special() *entry {
	switch s.next() {
	case 'E', 'U':
		return s.function("")
	case 'A', 'K':
		return s.function("@autoclosure ")
	case 'f':
		return s.function("@convention(thin) ")
	case 'L':
		return s.function("@escaping @convention(block) ")
	case 'B':
		return s.function("@convention(block) ")
	case 'C':
		return s.function("@convention(c) ")
	case 'o':
		return typed("unowned "+s.need("t").text, false)
	case 'u':
		return typed("unowned(unsafe) "+s.need("t").text, false)
	case 'w':
		return typed("weak "+s.need("t").text, false)
	case 'b':
		return typed("@box "+s.need("t").text, true)
	case 'D':
		s.need("t")
		return typed("Self", true)
	case 'M':
		return s.metatype(s.representation())
	case 'm':
		text := s.representation()
		return existential(text + s.need("t").text + ".Type")
	case 'p':
		return existential(s.need("t").text + ".Type")
	case 'P':
		var needs []*entry
		for first := false; !first && !s.bad; {
			first = s.pop("_") != nil
			needs = append([]*entry{s.need("r")}, needs...)
		}
		return typed("any "+s.need("t").text+"<"+joined(needs, ", ")+">", false)
	case 'c':
		super := s.need("t").text
		e := s.protocols(super + " & ")
		e.suffixed = false
		return e
	case 'l':
		e := s.protocols("")
		if e.text == "Any" {
			e.text = "Swift.AnyObject"
			return e
		}
		e.text += " & Swift.AnyObject"
		e.suffixed = false
		return e
	case 'x', 'X':
		return nil
	case 'Y':
		return s.declared('Y')
	case 'e':
		return typed("<ERROR TYPE>", true)
	}
	return nil
}

// representation reads how a metatype is represented.
func (s *stack) representation() string {
	switch s.next() {
	case 't':
		return "@thin "
	case 'T':
		return "@thick "
	case 'o':
		return "@objc_metatype "
	}
	s.bad = true
	return ""
}

// existential returns a type of which the values are known by their protocols.
func existential(text string) *entry {
	e := typed(text, true)
	e.protocols = true
	return e
}
