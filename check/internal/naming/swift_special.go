package naming

// metatype reads the type of a type.
func (s *swiftStack) metatype(representation string) *swiftEntry {
	t := s.need("t")
	end := ".Type"
	if t.protocols {
		end = ".Protocol"
	}
	return swiftTyped(representation+inParens(t)+end, true)
}

// special reads a type after X.
func (s *swiftStack) special() *swiftEntry {
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
		return swiftTyped("unowned "+s.need("t").text, false)
	case 'u':
		return swiftTyped("unowned(unsafe) "+s.need("t").text, false)
	case 'w':
		return swiftTyped("weak "+s.need("t").text, false)
	case 'b':
		return swiftTyped("@box "+s.need("t").text, true)
	case 'D':
		s.need("t")
		return swiftTyped("Self", true)
	case 'M':
		return s.metatype(s.representation())
	case 'm':
		text := s.representation()
		return existential(text + s.need("t").text + ".Type")
	case 'p':
		return existential(s.need("t").text + ".Type")
	case 'P':
		var needs []*swiftEntry
		for first := false; !first && !s.bad; {
			first = s.pop("_") != nil
			needs = append([]*swiftEntry{s.need("r")}, needs...)
		}
		return swiftTyped("any "+s.need("t").text+"<"+joined(needs, ", ")+">", false)
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
		return swiftTyped("<ERROR TYPE>", true)
	}
	return nil
}

// representation reads how a metatype is represented.
func (s *swiftStack) representation() string {
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
func existential(text string) *swiftEntry {
	e := swiftTyped(text, true)
	e.protocols = true
	return e
}
