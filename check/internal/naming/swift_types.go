package naming

import (
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// lists pops the arguments of a generic type and of those around it.
func (s *swiftStack) lists() (lists [][]*swiftEntry) {
	for s.pop("g") != nil {
	}
	for {
		var list []*swiftEntry
		for t := s.pop("t"); t != nil; t = s.pop("t") {
			list = append([]*swiftEntry{t}, list...)
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
func (s *swiftStack) bound() *swiftEntry {
	lists := s.lists()
	e := s.bind(s.need("t"), lists)
	if e == nil {
		return s.fail()
	}
	return s.sub(e)
}

// bind returns a type with arguments for itself and the types around it.
func (s *swiftStack) bind(t *swiftEntry, lists [][]*swiftEntry) *swiftEntry {
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
			parent = &swiftEntry{kind: swiftContext, parent: inner, extends: true, name: parent.name,
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
	e := swiftTyped(bound.text+"<"+joined(args, ", ")+">", true)
	if bound.parent.kind == swiftModule && bound.parent.name == "Swift" {
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

func joined(list []*swiftEntry, between string) string {
	var b strings.Builder
	for i, e := range list {
		if i > 0 {
			b.WriteString(between)
		}
		b.WriteString(e.text)
	}
	return b.String()
}

// typeList pops a list of types.
func (s *swiftStack) typeList() (list []*swiftEntry) {
	if s.pop("y") != nil {
		return nil
	}
	for first := false; !first && !s.bad; {
		first = s.pop("_") != nil
		list = append([]*swiftEntry{s.need("t")}, list...)
	}
	return list
}

// tuple reads a tuple.
func (s *swiftStack) tuple() *swiftEntry {
	e := swiftTyped("()", true)
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
func (s *swiftStack) function(convention string) *swiftEntry {
	var notes strings.Builder
	for e := s.pop("ah"); e != nil; e = s.pop("ah") {
		notes.WriteString(e.text)
	}
	var parameters *swiftEntry
	if s.pop("y") != nil {
		parameters = &swiftEntry{tuple: true, parameters: -1}
	} else {
		parameters = s.need("t")
	}
	if s.pop("y") == nil {
		s.need("t")
	}

	e := swiftTyped("", false)
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
func (e *swiftEntry) parens(labels []string) string {
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
func (s *swiftStack) note() *swiftEntry {
	switch s.next() {
	case 'a', 'T':
		return &swiftEntry{kind: swiftHidden}
	case 'A':
		return &swiftEntry{kind: swiftNote, text: "@isolated(any) "}
	case 'b':
		return &swiftEntry{kind: swiftNote, text: "@Sendable "}
	case 'c':
		return &swiftEntry{kind: swiftNote, text: "@" + s.need("t").text + " "}
	case 'C':
		return &swiftEntry{kind: swiftNote, text: "nonisolated(nonsending) "}
	case 'K':
		s.need("t")
		return &swiftEntry{kind: swiftHidden}
	case 'j':
		text, ok := map[byte]string{'f': "(_forward) ", 'r': "(reverse) ", 'd': " ", 'l': "(_linear) "}[s.next()]
		if !ok {
			return nil
		}
		return &swiftEntry{kind: swiftNote, text: "@differentiable" + text}
	case 'i':
		return swiftTyped("isolated "+s.need("t").text, false)
	case 'k':
		return swiftTyped("@noDerivative "+s.need("t").text, false)
	case 't':
		return swiftTyped("_const "+s.need("t").text, false)
	case 'g':
		return swiftTyped("@const "+s.need("t").text, false)
	case 'u':
		return swiftTyped("sending "+s.need("t").text, false)
	}
	return nil
}
