package naming

import "strings"

// protocols reads a list of protocols.
func (s *swiftStack) protocols(first string) *swiftEntry {
	var names []string
	if s.pop("y") == nil {
		for last := false; !last && !s.bad; {
			last = s.pop("_") != nil
			names = append([]string{s.protocol()}, names...)
		}
	}
	e := swiftTyped(first+strings.Join(names, " & "), len(names) <= 1)
	e.protocols = true
	if len(names) == 0 && first == "" {
		e.text = "Any"
	}
	return e
}

// protocol pops a protocol.
func (s *swiftStack) protocol() string {
	if t := s.pop("t"); t != nil {
		if t.declared != 'P' {
			s.bad = true
		}
		return t.text
	}
	name, local := s.declaredName()
	return nominal('P', s.context(), name, local).text
}

// parameterText returns the name of a generic parameter.
func parameterText(depth, index int) string {
	var text strings.Builder
	for more := true; more; more = index > 0 {
		text.WriteString(string(rune('A' + index%26)))
		index /= 26
	}
	if depth > 0 {
		text.WriteString(itoa(depth))
	}
	return text.String()
}

// parameter reads a generic parameter.
func (s *swiftStack) parameter() *swiftEntry {
	switch {
	case s.take("d"):
		depth := s.index() + 1
		return swiftTyped(parameterText(depth, s.index()), true)
	case s.take("z"):
		return swiftTyped("A", true)
	case s.take("s"):
		return swiftTyped("Self", true)
	}
	return swiftTyped(parameterText(0, s.index()+1), true)
}

// associated pops the name of an associated type.
func (s *swiftStack) associated() string {
	text := ""
	if t := s.pop("t"); t != nil {
		if t.declared != 'P' {
			s.bad = true
		}
		text = t.text + "."
	}
	return text + s.need("i").text
}

// path pops the names of associated types of associated types.
func (s *swiftStack) path() string {
	text := ""
	for first := false; !first && !s.bad; {
		first = s.pop("_") != nil
		text = "." + s.associated() + text
	}
	return text
}

// member returns an associated type; base is nil if it is on the stack.
func (s *swiftStack) member(many bool, base *swiftEntry) *swiftEntry {
	var text string
	if many {
		text = s.path()
	} else {
		text = "." + s.associated()
	}
	if base == nil {
		base = s.need("t")
	}
	return s.sub(swiftTyped(base.text+text, true))
}

// dependent reads a type after Q.
func (s *swiftStack) dependent() *swiftEntry {
	switch c := s.next(); c {
	case 'a':
		name := s.need("i").text
		return s.sub(swiftTyped(s.need("t").text+"."+name, true))
	case 'O':
		return s.hidden()
	case 'o':
		n := s.index()
		s.lists()
		return s.sub(swiftTyped(s.need("c").text+"."+itoa(n), false))
	case 'r':
		return swiftTyped("some", false)
	case 'R':
		s.index()
		return swiftTyped("some", false)
	case 'x', 'X':
		return s.member(c == 'X', nil)
	case 'y', 'Y':
		base := s.parameter()
		return s.member(c == 'Y', base)
	case 'z', 'Z':
		return s.member(c == 'Z', swiftTyped("A", true))
	case 'p':
		s.need("t")
		return swiftTyped("repeat "+s.need("t").text, false)
	case 'e':
		n := s.index()
		return swiftTyped("/* level: "+itoa(n)+" */ each "+s.need("t").text, false)
	case 'P':
		return swiftTyped("Pack{"+joined(s.typeList(), ", ")+"}", true)
	case 'S':
		text := "@indirect "
		if s.next() == 'd' {
			text = "@direct "
		}
		return swiftTyped(text+"Pack{"+joined(s.typeList(), ", ")+"}", true)
	}
	return nil
}

// hidden reads the result of a function whose type is not known.
func (s *swiftStack) hidden() *swiftEntry {
	text := "<<opaque return type of " + s.context().text + ">>"
	return &swiftEntry{kind: swiftContext, text: text, prefix: text}
}
