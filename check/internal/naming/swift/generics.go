package swift

import "strings"

// protocols reads a list of protocols.
func (s *stack) protocols(first string) *entry {
	var names []string
	if s.pop("y") == nil {
		for last := false; !last && !s.bad; {
			last = s.pop("_") != nil
			names = append([]string{s.protocol()}, names...)
		}
	}
	e := typed(first+strings.Join(names, " & "), len(names) <= 1)
	e.protocols = true
	if len(names) == 0 && first == "" {
		e.text = "Any"
	}
	return e
}

// protocol pops a protocol.
func (s *stack) protocol() string {
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
func (s *stack) parameter() *entry {
	switch {
	case s.take("d"):
		depth := s.index() + 1
		return typed(parameterText(depth, s.index()), true)
	case s.take("z"):
		return typed("A", true)
	case s.take("s"):
		return typed("Self", true)
	}
	return typed(parameterText(0, s.index()+1), true)
}

// associated pops the name of an associated type.
func (s *stack) associated() string {
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
func (s *stack) path() string {
	text := ""
	for first := false; !first && !s.bad; {
		first = s.pop("_") != nil
		text = "." + s.associated() + text
	}
	return text
}

// member returns an associated type; base is nil if it is on the stack.
func (s *stack) member(many bool, base *entry) *entry {
	var text string
	if many {
		text = s.path()
	} else {
		text = "." + s.associated()
	}
	if base == nil {
		base = s.need("t")
	}
	return s.sub(typed(base.text+text, true))
}

// dependent reads a type after Q.
func (s *stack) dependent() *entry {
	switch c := s.next(); c {
	case 'a':
		name := s.need("i").text
		return s.sub(typed(s.need("t").text+"."+name, true))
	case 'O':
		return s.hidden()
	case 'o':
		n := s.index()
		s.lists()
		return s.sub(typed(s.need("c").text+"."+itoa(n), false))
	case 'r':
		return typed("some", false)
	case 'R':
		s.index()
		return typed("some", false)
	case 'x', 'X':
		return s.member(c == 'X', nil)
	case 'y', 'Y':
		base := s.parameter()
		return s.member(c == 'Y', base)
	case 'z', 'Z':
		return s.member(c == 'Z', typed("A", true))
	case 'p':
		s.need("t")
		return typed("repeat "+s.need("t").text, false)
	case 'e':
		n := s.index()
		return typed("/* level: "+itoa(n)+" */ each "+s.need("t").text, false)
	case 'P':
		return typed("Pack{"+joined(s.typeList(), ", ")+"}", true)
	case 'S':
		text := "@indirect "
		if s.next() == 'd' {
			text = "@direct "
		}
		return typed(text+"Pack{"+joined(s.typeList(), ", ")+"}", true)
	}
	return nil
}

// hidden reads the result of a function whose type is not known.
func (s *stack) hidden() *entry {
	text := "<<opaque return type of " + s.context().text + ">>"
	return &entry{kind: kindContext, text: text, prefix: text}
}
