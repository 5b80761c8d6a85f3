package swift

import (
	"strings"
)

// lists pops the arguments of a generic type and of those around it.
func (s *stack) lists() (lists [][]*entry) {
	for s.pop("g") != nil {
	}
	for {
		var list []*entry
		for t := s.pop("t"); t != nil; t = s.pop("t") {
			list = append([]*entry{t}, list...)
		}
		lists = append(lists, list)
		if s.pop("y") != nil {
			return lists
		}
		s.need("_")
		if s.bad {
			return lists
		}
	}
}

// bound reads a type with arguments.
func (s *stack) bound() *entry {
	lists := s.lists()
	e := s.bind(s.need("t"), lists)
	if e == nil {
		return s.fail()
	}
	return s.sub(e)
}

// bind returns a type with arguments for itself and the types around it.
func (s *stack) bind(t *entry, lists [][]*entry) *entry {
	if s.bad || t == nil || t.declared == 0 || t.parent == nil {
		return nil
	}
	bound := *t
	if rest := lists[1:]; len(rest) > 0 {
		// An extension's parameters stay.
		parent := t.parent
		if parent.extends {
			inner := s.bind(parent.parent, rest)
			if inner == nil {
				return nil
			}
			parent = &entry{kind: kindContext, parent: inner, extends: true, name: parent.name,
				prefix: inner.text + parent.name, text: inner.text + parent.name}
		} else {
			parent = s.bind(parent, rest)
		}
		if parent == nil {
			return nil
		}
		bound = *nominal(t.declared, parent, t.name, t.hasAfter && t.prefix == "")
	}
	args := lists[0]
	if len(args) == 0 {
		return &bound
	}

	// Optional, arrays and dictionaries have forms of their own.
	e := typed(bound.text+"<"+joined(args, ", ")+">", true)
	if bound.parent.kind == kindModule && bound.parent.name == "Swift" {
		switch {
		case bound.declared == 'O' && bound.name == "Optional" && len(args) == 1:
			e.text = inParens(args[0]) + "?"
		case bound.declared == 'V' && bound.name == "Array" && len(args) == 1:
			e.text = "[" + args[0].text + "]"
		case bound.declared == 'V' && bound.name == "Dictionary" && len(args) == 2:
			e.text = "[" + args[0].text + " : " + args[1].text + "]"
		}
	}
	if bound.declared == 'P' {
		return nil
	}
	// What is declared in it has its text in front.
	e.prefix = e.text
	return e
}

// typeList pops a list of types.
func (s *stack) typeList() (list []*entry) {
	if s.pop("y") != nil {
		return nil
	}
	for first := false; !first && !s.bad; {
		first = s.pop("_") != nil
		list = append([]*entry{s.need("t")}, list...)
	}
	return list
}

// tuple reads a tuple.
func (s *stack) tuple() *entry {
	e := typed("()", true)
	e.tuple = true
	if s.pop("y") != nil {
		return e
	}
	var parts []string
	for first := false; !first && !s.bad; {
		first = s.pop("_") != nil
		many := ""
		if s.pop("d") != nil {
			many = "..."
		}
		label, text := "", ""
		if i := s.pop("i"); i != nil {
			label, text = i.text, i.text+": "
		}
		parts = append([]string{text + s.need("t").text + many}, parts...)
		e.labels = append([]string{label}, e.labels...)
	}
	e.text = "(" + strings.Join(parts, ", ") + ")"
	return e
}

// function reads a function's type.
func (s *stack) function(convention string) *entry {
	var notes strings.Builder
	for e := s.pop("ah"); e != nil; e = s.pop("ah") {
		notes.WriteString(e.text)
	}
	var parameters *entry
	if s.pop("y") != nil {
		parameters = &entry{tuple: true, parameters: -1}
	} else {
		parameters = s.need("t")
	}
	if s.pop("y") == nil {
		s.need("t")
	}

	e := typed("", false)
	e.parameters = 1
	if parameters.tuple && parameters.parameters < 0 {
		e.parameters, e.labels, e.tuple = len(parameters.labels), parameters.labels, true
	}
	e.prefix = convention + notes.String()
	e.text = e.prefix + e.parens(e.labels)
	e.convention = convention
	return e
}

// parens returns the labels of a function's parameters.
func (e *entry) parens(labels []string) string {
	if !e.tuple {
		return "(_:)"
	}
	var b strings.Builder
	b.WriteByte('(')
	for i := range e.parameters {
		label := "_"
		if i < len(labels) && labels[i] != "" {
			label = labels[i]
		}
		b.WriteString(label)
		b.WriteByte(':')
	}
	b.WriteByte(')')
	return b.String()
}

// note reads what is written at a type.
func (s *stack) note() *entry {
	switch s.next() {
	case 'a', 'T':
		return &entry{kind: kindHidden}
	case 'A':
		return &entry{kind: kindNote, text: "@isolated(any) "}
	case 'b':
		return &entry{kind: kindNote, text: "@Sendable "}
	case 'c':
		return &entry{kind: kindNote, text: "@" + s.need("t").text + " "}
	case 'C':
		return &entry{kind: kindNote, text: "nonisolated(nonsending) "}
	case 'K':
		s.need("t")
		return &entry{kind: kindHidden}
	case 'j':
		text, ok := map[byte]string{'f': "(_forward) ", 'r': "(reverse) ", 'd': " ", 'l': "(_linear) "}[s.next()]
		if !ok {
			return nil
		}
		return &entry{kind: kindNote, text: "@differentiable" + text}
	case 'i':
		return typed("isolated "+s.need("t").text, false)
	case 'k':
		return typed("@noDerivative "+s.need("t").text, false)
	case 't':
		return typed("_const "+s.need("t").text, false)
	case 'g':
		return typed("@const "+s.need("t").text, false)
	case 'u':
		return typed("sending "+s.need("t").text, false)
	}
	return nil
}
