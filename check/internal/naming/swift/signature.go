package swift

import "strings"

// signature reads generic parameters.
func (s *stack) signature(counted bool) *entry {
	counts := []int{1}
	if counted {
		counts = nil
		for !s.take("l") {
			n := 0
			if !s.take("z") {
				n = s.index() + 1
			}
			counts = append(counts, n)
			if s.bad || n > 128 || len(counts) > 128 {
				return s.fail()
			}
		}
	}
	marks := map[string]string{}
	for e := s.pop("r"); e != nil; e = s.pop("r") {
		if e.name != "" {
			marks[e.name] = e.prefix
		}
	}
	var b strings.Builder
	for depth, n := range counts {
		if depth > 0 {
			b.WriteString("><")
		}
		for i := range n {
			if i > 0 {
				b.WriteString(", ")
			}
			// Depth and index are exchanged in Swift's own program.
			b.WriteString(marks[parameterText(i, depth)])
			b.WriteString(parameterText(depth, i))
		}
	}
	return &entry{kind: kindSignature, text: "<" + b.String() + ">"}
}

// requirement reads a requirement of generic parameters.
func (s *stack) requirement() *entry {
	if s.in == "" {
		return nil
	}
	c := s.in[0]
	if strings.IndexByte("VvcCbBtTsSmMlLpPQhiI", c) >= 0 {
		s.next()
	} else {
		c = 0
	}
	protocol := ""
	if c == 'i' || c == 'I' {
		n := s.index()
		protocol = "Swift.<bit " + itoa(n) + ">"
		if n < 2 {
			protocol = []string{"Swift.Copyable", "Swift.Escapable"}[n]
		}
	}

	var t *entry
	switch {
	case c != 0 && strings.IndexByte("ctmp", c) >= 0:
		t = s.member(false, s.parameter())
	case c != 0 && strings.IndexByte("CTMP", c) >= 0:
		t = s.member(true, s.parameter())
	case c != 0 && strings.IndexByte("BSLQI", c) >= 0:
		t = s.need("t")
	default:
		t = s.parameter()
	}

	e := &entry{kind: kindNeed}
	switch c {
	case 'V':
		s.need("t")
		e.name, e.prefix = t.text, "let "
	case 'v':
		e.name, e.prefix = t.text, "each "
	case 0, 'p', 'P', 'Q':
		e.text = t.text + ": " + s.protocol()
	case 'i', 'I':
		e.text = t.text + ": ~" + protocol
	case 'c', 'C', 'b', 'B':
		e.text = t.text + ": " + s.need("t").text
	case 't', 'T', 's', 'S':
		e.text = t.text + " == " + s.need("t").text
	case 'h':
		e.text = t.text + ".shape == " + s.need("t").text + ".shape"
	default:
		layout := s.next()
		if strings.IndexByte("URNCDTB", layout) < 0 {
			return nil
		}
		e.text = t.text + ": " + map[byte]string{
			'U': "_UnknownLayout", 'R': "_RefCountedObject", 'N': "_NativeRefCountedObject", 'C': "AnyObject",
			'D': "_NativeClass", 'T': "_Trivial",
		}[layout]
	}
	return e
}

// builtin reads a type of the compiler.
func (s *stack) builtin() *entry {
	c := s.next()
	text, ok := map[byte]string{
		'A': "ImplicitActor", 'b': "BridgeObject", 'B': "UnsafeValueBuffer", 'e': "Executor", 'I': "IntLiteral",
		'O': "UnknownObject", 'o': "NativeObject", 'p': "RawPointer", 'j': "Job", 'D': "DefaultActorStorage",
		'd': "NonDefaultDistributedActorStorage", 'c': "RawUnsafeContinuation", 't': "SILToken", 'w': "Word", 'P': "PackIndex",
		'f': "FPIEEE", 'i': "Int", 'v': "Vec", 'T': "TheTupleType",
	}[c]
	if !ok {
		return nil
	}
	switch c {
	case 'f', 'i':
		text += itoa(s.index() - 1)
	case 'v':
		n := s.index() - 1
		text += itoa(n) + "x" + strings.TrimPrefix(s.need("t").text, "Builtin.")
	}
	return typed("Builtin."+text, true)
}
