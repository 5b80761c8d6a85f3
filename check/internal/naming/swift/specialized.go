package swift

import "strings"

// specialized reads a specialization, of which nothing more is written.
func (s *stack) specialized(c byte) *entry {
	if c == 't' {
		for again := true; again; again = s.take("t") {
			for s.in != "" && isDigit(s.in[0]) {
				s.next()
			}
		}
		if strings.IndexByte("gGB", s.next()) < 0 {
			return s.fail()
		}
	}
	s.take("q")
	s.take("a")
	if !isDigit(s.next()) {
		return s.fail()
	}
	switch c {
	case 'p', 'P':
		s.need("t")
	case 'f':
		s.arguments()
	default:
		s.typeList()
	}
	return &entry{kind: kindMark, text: "specialized "}
}

// arguments reads what a function is specialized for: a letter and options for each parameter, the
// constants of which are on the stack.
func (s *stack) arguments() {
	onStack := ""
	for !s.take("_") && !s.bad {
		onStack = string(rune(s.argument())) + onStack
	}
	if !s.take("n") {
		s.argument()
	}
	for _, what := range onStack {
		switch what {
		case 'T':
			for s.pop("t") != nil {
			}
			s.need("i")
		case 'I':
			s.need("i")
		}
	}
}

// argument reads an argument: T if it has types and a name on the stack, I if it has a name.
func (s *stack) argument() byte {
	switch c := s.next(); c {
	case 'c':
		return 'T'
	case 'n', 'i', 's', 'r', 'x':
	case 'e', 'd', 'g', 'o':
		for s.in != "" && strings.IndexByte("DGOX", s.in[0]) >= 0 {
			s.next()
		}
	case 'p':
		switch s.next() {
		case 'f', 'g':
			return 'I'
		case 'k':
			return 'T'
		case 'i', 'd':
			for s.in != "" && isDigit(s.in[0]) {
				s.next()
			}
		case 's':
			s.next()
			return 'I'
		default:
			s.bad = true
		}
	default:
		s.bad = true
	}
	return ' '
}

// conformance reads an entry after H.
func (s *stack) conformance() *entry {
	list := func() {
		if s.pop("y") != nil {
			return
		}
		for first := false; !first && !s.bad; {
			first = s.pop("_") != nil
			s.need("C")
		}
	}
	switch s.next() {
	case 'A':
		s.index()
		s.protocol()
		s.need("t")
		s.need("C")
	case 'C':
		list()
		if s.pop("q") == nil {
			s.need("im")
			s.protocol()
		}
		s.need("t")
	case 'D':
		s.index()
		s.protocol()
		s.need("t")
	case 'I':
		s.index()
		s.protocol()
		s.need("C")
	case 'O':
		s.need("t")
		s.need("C")
	case 'P', 'p':
		s.protocol()
		return &entry{kind: 'q'}
	case 'X':
		list()
	case 'c':
		return s.filled("C", "protocol conformance descriptor runtime record for %0")
	case 'n':
		return s.filled("T", "nominal type descriptor runtime record for %0")
	case 'r':
		return s.filled("P", "protocol descriptor runtime record for %0")
	case 'o':
		return s.filled("*", "opaque type descriptor runtime record for %0")
	case 'F':
		return &entry{kind: kindMark}
	default:
		return nil
	}
	return &entry{kind: kindConforms}
}
