package swift

import "strings"

// shortened are the standard library's types after S and Sc.
const (
	shortened = "AAutoreleasingUnsafeMutablePointer aArray bBool DDictionary dDouble fFloat hSet IDefaultIndices iInt " +
		"JCharacter NClosedRange nRange OObjectIdentifier PUnsafePointer pUnsafeMutablePointer RUnsafeBufferPointer " +
		"rUnsafeMutableBufferPointer SString sSubstring uUInt VUnsafeRawPointer vUnsafeMutableRawPointer " +
		"WUnsafeRawBufferPointer wUnsafeMutableRawBufferPointer qOptional BBinaryFloatingPoint EEncodable eDecodable " +
		"FFloatingPoint GRandomNumberGenerator HHashable jNumeric KBidirectionalCollection kRandomAccessCollection " +
		"LComparable lCollection MMutableCollection mRangeReplaceableCollection QEquatable TSequence tIteratorProtocol " +
		"UUnsignedInteger XRangeExpression xStrideable YRawRepresentable yStringProtocol ZSignedInteger zBinaryInteger"
	concurrent = "AActor CCheckedContinuation cUnsafeContinuation ECancellationError eUnownedSerialExecutor " +
		"FExecutor fSerialExecutor GTaskGroup gThrowingTaskGroup hTaskExecutor IAsyncIteratorProtocol iAsyncSequence " +
		"JUnownedJob MMainActor PTaskPriority SAsyncStream sAsyncThrowingStream TTask tUnsafeCurrentTask"
	protocolLetters = "BEeFGHjKkLlMmQTtUXxYyZz"
)

// standard reads an entry after S.
func (s *stack) standard() *entry {
	switch {
	case s.take("o"), s.take("C"):
		return &entry{kind: kindModule, name: "__C"}
	case s.take("g"):
		t := s.need("t")
		return s.sub(typed(inParens(t)+"?", true))
	}
	count := 1
	if s.in != "" && isDigit(s.in[0]) {
		count = s.digits()
	}
	table, letters := shortened, protocolLetters
	if s.take("c") {
		table, letters = concurrent, "AFfhIi"
	}
	c := s.next()
	for name := range strings.FieldsSeq(table) {
		if name[0] != c {
			continue
		}
		kind := byte('V')
		switch {
		case strings.IndexByte(letters, c) >= 0:
			kind = 'P'
		case name == "qOptional":
			kind = 'O'
		case name == "MMainActor":
			kind = 'C'
		}
		e := nominal(kind, &entry{kind: kindModule, name: "Swift"}, name[1:], false)
		for i := 1; i < count; i++ {
			if len(s.all) > 1<<10 {
				return s.fail()
			}
			s.push(e)
		}
		return e
	}
	return nil
}

// place writes a declaration in its context. apart is set if the context follows, with a declaration
// that is local, and typed if the declaration cannot be in front of another.
func (e *entry) place(name, rest string, apart, typed bool) {
	joint := " in "
	if strings.HasPrefix(name, "default argument ") || strings.HasPrefix(name, "variable initialization") ||
		strings.HasPrefix(name, "property wrapper ") {
		joint = " of "
	}
	context := e.parent
	switch {
	case apart:
		e.after, e.hasAfter = context.text, true
	default:
		if context.prefix != "" {
			name = context.prefix + "." + name
		}
		e.after, e.hasAfter = context.after, context.hasAfter
	}
	e.prefix = name
	e.text = name + rest
	if e.hasAfter {
		e.text += joint + e.after
	}
	if apart || typed {
		e.prefix, e.after, e.hasAfter = "", e.text, true
	}
}

// context pops what a declaration is in.
func (s *stack) context() *entry {
	e := s.pop("imtc")
	switch {
	case e == nil, e.kind == kindType && e.declared == 0:
		s.bad = true
		return &entry{}
	case e.kind == kindIdentifier:
		return &entry{kind: kindModule, name: e.text}
	}
	return e
}

// declaredName pops a declaration's name. local is set if the name has a number.
func (s *stack) declaredName() (name string, local bool) {
	e := s.need("inp")
	return e.text, e.hasAfter
}

// declared reads a type.
func (s *stack) declared(kind byte) *entry {
	name, local := s.declaredName()
	return s.sub(nominal(kind, s.context(), name, local))
}

// local reads what distinguishes declarations of one name.
func (s *stack) local() *entry {
	switch {
	case s.take("L"):
		s.need("i")
		e := *s.need("inp")
		e.kind = kindPrivate
		return &e
	case s.take("l"):
		s.need("i")
		return &entry{kind: kindPrivate}
	case s.in != "" && isLetter(s.in[0]):
		c := s.next()
		return &entry{kind: kindOtherName, text: "related decl '" + string(rune(c)) + "' for " + s.need("inp").text}
	}
	n := s.index()
	name, _ := s.declaredName()
	return &entry{kind: kindOtherName, text: name + " #" + itoa(n+1), hasAfter: true}
}

// extension reads an extension: members are those of the type, with the extension's parameters.
func (s *stack) extension() *entry {
	sig := s.pop("s")
	s.need("im")
	t := s.need("t")
	e := &entry{kind: kindContext, parent: t, extends: true, prefix: t.text, text: t.text}
	if sig != nil {
		e.name = sig.text
		e.prefix += sig.text
		e.text += sig.text
	}
	if t.declared == 0 {
		s.bad = true
	}
	return e
}

// operatorName reads an operator, whose identifier has a letter for each character.
func (s *stack) operatorName() *entry {
	letters := map[rune]rune{
		'a': '&', 'c': '@', 'd': '/', 'e': '=', 'g': '>', 'l': '<', 'm': '*', 'n': '!', 'o': '|', 'p': '+', 'q': '?', 'r': '%',
		's': '-', 't': '~', 'x': '^', 'z': '.',
	}
	var text strings.Builder
	for _, c := range s.need("i").text {
		o := letters[c]
		if c >= 0x80 {
			o = c
		}
		if o == 0 {
			return s.fail()
		}
		text.WriteRune(o)
	}
	switch s.next() {
	case 'i':
		text.WriteString(" infix")
	case 'p':
		text.WriteString(" prefix")
	case 'P':
		text.WriteString(" postfix")
	default:
		return nil
	}
	return &entry{kind: kindOtherName, text: text.String()}
}
