package swift

import "strings"

const thunkTexts = `c E curry thunk of %0
j E dispatch thunk of %0
q E method descriptor for %0
C T coroutine continuation prototype for %0
V EE vtable thunk for %0 dispatching to %1
W EC protocol witness for %0 in conformance %1
S E protocol self-conformance witness for %0
l A associated type descriptor for %0
L P protocol requirements base descriptor for %0
M A default associated type metadata accessor for %0
n PNT associated conformance descriptor for %2.%1: %0
N PNT default associated conformance accessor for %2.%1: %0
b PT base conformance descriptor for %1: %0
U T* %1 with global actor constraint %0`

// thunk reads an entry after T.
func (s *stack) thunk() *entry {
	c := s.next()
	mark := func(text string) *entry { return &entry{kind: kindMark, text: text} }
	switch c {
	case 'o':
		return mark("@objc ")
	case 'O':
		return mark("@nonobjc ")
	case 'D':
		return mark("dynamic ")
	case 'd':
		return mark("super ")
	case 'u':
		return mark("async function pointer to ")
	case 'E', 'F', 'm', 'X', 'x', 'I':
		return mark("")
	case 'Y', 'Q':
		s.index()
		return mark("")
	case 'a', 'A':
		return &entry{kind: kindForwarder, text: "partial apply"}
	case 'w':
		text, ok := map[byte]string{
			'b': "", 'B': "back deployment fallback for ", 'c': "coro function pointer to ", 'd': "default override of ",
			'S': "#_hasSymbol query for ",
		}[s.next()]
		if !ok {
			return nil
		}
		return mark(text)
	case 'T':
		if !s.take("I") {
			return nil
		}
		return s.filled("E", "identity thunk of %0")
	case 'R', 'r':
		s.pop("s")
		to := s.need("t")
		if from := s.pop("t"); from != nil {
			to = from
		}
		return s.other("thunk for ", to.text)
	case 'y':
		return s.selfThunk()
	case 'K', 'k':
		return s.keyPath(c)
	case 'H', 'h':
		return s.keyPathIndex(c)
	case 'v':
		n := s.index()
		if s.take("r") {
			return mark("outlined read-only object #" + itoa(n) + " of ")
		}
		if s.in != "" {
			return nil
		}
		return mark("outlined variable #" + itoa(n) + " of ")
	case 'e':
		kind, rest, ok := strings.Cut(s.in, "_")
		s.in = rest
		if !ok || kind == "" || strings.IndexByte("opam", kind[0]) < 0 || strings.Trim(kind[1:], "nbg") != "" {
			return nil
		}
		return mark("outlined bridged method (" + kind + ") of ")
	}
	switch {
	case c == 'J':
		return s.derivative()
	case strings.IndexByte("gGBsitpPf", c) >= 0:
		return s.specialized(c)
	}
	return s.tabled(thunkTexts, c)
}

func (s *stack) selfThunk() *entry {
	sig := s.pop("s")
	self, to := s.need("t").text, s.need("t").text
	text := "reabstraction thunk "
	if sig != nil {
		text += sig.text + " "
	}
	return s.other(text, "from ", s.need("t").text, " to ", to, " self ", self)
}

func (s *stack) keyPath(c byte) *entry {
	text := map[byte]string{'K': "key path getter for ", 'k': "key path setter for "}[c]
	if s.take("mu") {
		text = "key path unapplied method "
	} else if s.take("MA") {
		text = "key path applied method "
	}
	end := ""
	if s.take("q") {
		end = ", serialized"
	}
	types := ""
	for t := s.pop("t"); t != nil; t = s.pop("t") {
		types = t.text + types
	}
	if sig := s.pop("s"); sig != nil {
		types = sig.text + types
	}
	return s.other(text, s.need("").text, " : ", types, end)
}

func (s *stack) keyPathIndex(c byte) *entry {
	s.take("q")
	text := "key path index hash operator for "
	if c == 'H' {
		text = "key path index equality operator for "
	}
	if sig := s.pop("s"); sig != nil {
		text += sig.text
	}
	types := ""
	for len(s.all) > 0 && !s.bad {
		types = ", " + s.need("t").text + types
	}
	return s.other(text, "(", strings.TrimPrefix(types, ", "), ")")
}
