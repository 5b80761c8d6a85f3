package naming

import "strings"

// operator reads one operator; it returns nil if it cannot.
func (s *swiftStack) operator() *swiftEntry {
	if isDigit(s.in[0]) {
		return s.identifier()
	}
	switch c := s.next(); c {
	case 'A':
		return s.substitution()
	case 'B':
		return s.builtin()
	case 'C', 'V', 'O', 'P', 'a':
		return s.declared(c)
	case 'D': // a type alone
		t := s.need("t")
		labels := s.labels(t)
		if t.parameters >= 0 {
			return s.other(t.signature(labels))
		}
		return s.other(t.text)
	case 'E':
		return s.extension()
	case 'F':
		return s.plainFunction()
	case 'G':
		return s.bound()
	case 'H':
		return s.conformance()
	case 'I':
		return s.impl()
	case 'K':
		return &swiftEntry{kind: swiftHidden, name: "throws"}
	case 'L':
		return s.local()
	case 'M':
		return s.metadata()
	case 'N':
		return s.other("type metadata for ", s.need("t").text)
	case 'Q':
		return s.dependent()
	case 'R':
		return s.requirement()
	case 'S':
		return s.standard()
	case 'T':
		return s.thunk()
	case 'W':
		return s.witness()
	case 'X':
		return s.special()
	case 'Y':
		return s.note()
	case 'Z':
		e := s.need("tc")
		return &swiftEntry{kind: swiftContext, text: "static " + e.text, prefix: "static " + e.text, parent: e}
	case 'c':
		return s.function("")
	case 'f':
		return s.unnamed()
	case 'g':
		s.index()
		s.need("C")
		return &swiftEntry{kind: swiftRetroactive}
	case 'h':
		return swiftTyped("__shared "+s.need("t").text, false)
	case 'n':
		return swiftTyped("__owned "+s.need("t").text, false)
	case 'z':
		return swiftTyped("inout "+s.need("t").text, false)
	case 'i':
		return s.subscript()
	case 'v':
		return s.variable()
	case 'l', 'r':
		return s.signature(c == 'r')
	case 'm':
		return s.metatype("")
	case 'o':
		return s.operatorName()
	case 'p':
		return s.protocols("")
	case 'q':
		return s.parameter()
	case 's':
		return &swiftEntry{kind: swiftModule, name: "Swift"}
	case 't':
		return s.tuple()
	case 'u':
		sig, t := s.need("s"), *s.need("t")
		t.text = sig.text + spaced(&t) + t.text
		t.suffixed, t.generic, t.declared = true, sig.text+t.generic, 0
		return &t
	case 'w':
		return s.valueWitness()
	case 'x':
		return swiftTyped("A", true)
	case 'y', '_', 'd':
		return &swiftEntry{kind: c}
	case '$':
		return nil
	}
	return nil
}

// spaced returns the blank in front of a type that does not begin with parentheses or brackets.
func spaced(t *swiftEntry) string {
	if t.parameters >= 0 || strings.HasPrefix(t.text, "<") {
		return ""
	}
	return " "
}

// other returns an entry that nothing is made of.
func (s *swiftStack) other(parts ...string) *swiftEntry {
	return &swiftEntry{kind: swiftOther, text: strings.Join(parts, "")}
}

// substitution repeats entries.
func (s *swiftStack) substitution() *swiftEntry {
	count := 1
	for !s.bad && s.in != "" {
		c := s.in[0]
		switch {
		case isDigit(c):
			n := s.digits()
			if s.take("_") {
				return s.subAt(n + 27)
			}
			count = n
		case c == '_':
			s.next()
			return s.subAt(26)
		case isLetter(c):
			s.next()
			e := s.subAt(int(c|0x20) - 'a')
			for i := 1; i < count && e != nil; i++ {
				if len(s.all) > 1<<10 {
					return s.fail()
				}
				s.push(e)
			}
			if c < 'a' || e == nil {
				return e
			}
			s.push(e)
			count = 1
		default:
			return s.fail()
		}
	}
	return s.fail()
}

func (s *swiftStack) subAt(i int) *swiftEntry {
	if i >= len(s.subs) {
		return s.fail()
	}
	return s.subs[i]
}
