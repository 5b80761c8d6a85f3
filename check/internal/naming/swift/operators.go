package swift

import "strings"

// Text returns the text of a linkage name. It returns false for a name that the package cannot read.
func Text(linkage string) (string, bool) {
	const most = 1 << 14 // bytes, of which the largest real names have a tenth
	name := strings.TrimPrefix(linkage, "_")
	if len(name) < 4 || len(name) > most || name[0] != '$' || !strings.ContainsRune("sSe", rune(name[1])) {
		return "", false
	}
	s := stack{in: name[2:]}
	for len(s.in) > 0 && !s.bad {
		if rest, ok := strings.CutPrefix(s.in, "."); ok && rest != "" {
			break // a copy's suffix
		}
		e := s.operator()
		if e == nil || len(s.all) > 1<<10 || s.size > 1<<12+64*len(name) {
			return "", false
		}
		s.push(e)
	}
	return s.symbol()
}

// IsName reports whether a linkage name has the form of Swift's.
func IsName(linkage string) bool {
	name := strings.TrimPrefix(linkage, "_")
	if len(name) < 4 || name[0] != '$' || !strings.ContainsRune("sSe", rune(name[1])) {
		return false
	}
	c := name[2] | 0x20
	return '0' <= name[2] && name[2] <= '9' || 'a' <= c && c <= 'z'
}

// operator reads one operator; it returns nil if it cannot.
func (s *stack) operator() *entry {
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
		return &entry{kind: kindHidden, name: "throws"}
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
		return &entry{kind: kindContext, text: "static " + e.text, prefix: "static " + e.text, parent: e}
	case 'c':
		return s.function("")
	case 'f':
		return s.unnamed()
	case 'g':
		s.index()
		s.need("C")
		return &entry{kind: kindRetroactive}
	case 'h':
		return typed("__shared "+s.need("t").text, false)
	case 'n':
		return typed("__owned "+s.need("t").text, false)
	case 'z':
		return typed("inout "+s.need("t").text, false)
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
		return &entry{kind: kindModule, name: "Swift"}
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
		return typed("A", true)
	case 'y', '_', 'd':
		return &entry{kind: c}
	case '$':
		return nil
	}
	return nil
}

// substitution repeats entries.
func (s *stack) substitution() *entry {
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

func (s *stack) subAt(i int) *entry {
	if i >= len(s.subs) {
		return s.fail()
	}
	return s.subs[i]
}
