package swift

import "strings"

// filled pops what a template is about, and returns the template with it: %0 is what is popped first.
func (s *stack) filled(pops, text string) *entry {
	var parts [3]string
	for i := range len(pops) {
		switch pops[i] {
		case 'E':
			parts[i] = s.need("tc").text
		case 'T':
			parts[i] = s.need("t").text
		case 'P':
			parts[i] = s.protocol()
		case 'A':
			parts[i] = s.associated()
		case 'N':
			parts[i] = strings.TrimPrefix(s.path(), ".")
		case 'D':
			parts[i], _ = s.declaredName()
		case 'X':
			parts[i] = s.context().text
		case 'M':
			s.need("im")
		case 'C':
			parts[i] = s.conforming()
		case '*':
			parts[i] = s.need("").text
		}
	}
	return s.other(strings.NewReplacer("%0", parts[0], "%1", parts[1], "%2", parts[2]).Replace(text))
}

// conforming pops a conformance, of which only the type is written.
func (s *stack) conforming() string {
	sig := s.pop("s")
	s.need("im")
	s.protocol()
	t := s.need("t")
	if sig != nil {
		return sig.text + spaced(t) + t.text
	}
	return t.text
}

// tabled returns the template with a code in a table of lines "code pops text".
func (s *stack) tabled(table string, code byte) *entry {
	for line := range strings.SplitSeq(table, "\n") {
		if line != "" && line[0] == code {
			pops, text, _ := strings.Cut(line[2:], " ")
			return s.filled(pops, text)
		}
	}
	return nil
}

const metadataTexts = `a T type metadata accessor for %0
b T canonical specialized generic type metadata accessor for %0
D T demangling cache variable for type metadata for %0
f T full type metadata for %0
g * opaque type descriptor accessor for %0
h * opaque type descriptor accessor impl for %0
i T type metadata instantiation function for %0
I T type metadata instantiation cache for %0
K * metadata instantiation cache for %0
l T type metadata singleton initialization cache for %0
L T lazy cache variable for type metadata for %0
m T metaclass for %0
n T nominal type descriptor for %0
p P protocol descriptor for %0
P T generic type metadata pattern for %0
Q * opaque type descriptor for %0
r T type metadata completion function for %0
u T method lookup function for %0
V E property descriptor for %0
c C protocol conformance descriptor for %0`

func (s *stack) metadata() *entry { return s.tabled(metadataTexts, s.next()) }

const witnessTexts = `C E enum case for %0
V T value witness table for %0
S P protocol self-conformance witness table for %0
P C protocol witness table for %0
p C protocol witness table pattern for %0
G C generic protocol witness table for %0
I C instantiation function for generic protocol witness table for %0
r C resilient protocol witness table for %0
l CT lazy protocol witness table accessor for type %1 and conformance %0
L CT lazy protocol witness table cache variable for type %1 and conformance %0
a C protocol witness table accessor for %0
t DC associated type metadata accessor for %0 in %1
T TNC associated type witness table accessor for %1 : %0 in %2
b TC base witness table accessor for %0 in %1`

// witness reads an entry after W.
func (s *stack) witness() *entry {
	switch c := s.next(); c {
	case 'O':
		return s.outlined()
	case 'v':
		if s.next() == 'd' {
			return s.filled("E", "direct field offset for %0")
		}
		return s.filled("E", "indirect field offset for %0")
	case 'Z', 'z':
		var names []string
		for s.pop("_") != nil {
			name, _ := s.declaredName()
			names = append([]string{name}, names...)
		}
		s.context()
		text := strings.Join(names, ", ")
		if len(names) != 1 {
			text = "(" + text + ")"
		}
		if c == 'Z' {
			return s.other("one-time initialization function for ", text)
		}
		return s.other("one-time initialization token for ", text)
	default:
		return s.tabled(witnessTexts, c)
	}
}

// outlined reads what is done to a value in a function of its own.
func (s *stack) outlined() *entry {
	c := s.next()
	work := map[byte]string{
		'y': "copy", 'e': "consume", 'r': "retain", 's': "release", 'b': "init with take", 'B': "init with take",
		'c': "init with copy", 'C': "init with copy", 'd': "assign with take", 'D': "assign with take", 'f': "assign with copy",
		'F': "assign with copy", 'h': "destroy", 'H': "destroy", 'g': "enum get tag", 'i': "enum tag store",
		'j': "enum project data for load",
	}[c]
	if work == "" {
		return nil
	}
	if c == 'i' || c == 'j' {
		s.index()
	}
	sig := s.pop("s")
	text := "outlined " + work + " of " + s.need("t").text
	if sig != nil && (c == 'y' || c == 'e') {
		text += sig.text
	}
	return s.other(text)
}

func (s *stack) valueWitness() *entry {
	if len(s.in) < 2 {
		return nil
	}
	text := map[string]string{
		"al": "allocateBuffer", "ca": "assignWithCopy", "ta": "assignWithTake", "de": "deallocateBuffer", "xx": "destroy",
		"XX": "destroyBuffer", "Xx": "destroyArray", "CP": "initializeBufferWithCopyOfBuffer", "Cp": "initializeBufferWithCopy",
		"cp": "initializeWithCopy", "Tk": "initializeBufferWithTake", "tk": "initializeWithTake", "pr": "projectBuffer",
		"TK": "initializeBufferWithTakeOfBuffer", "xs": "storeExtraInhabitant", "xg": "getExtraInhabitantIndex",
		"ug": "getEnumTag", "up": "destructiveProjectEnumData", "ui": "destructiveInjectEnumTag",
		"et": "getEnumTagSinglePayload", "st": "storeEnumTagSinglePayload",
	}[s.in[:2]]
	s.in = s.in[2:]
	if text == "" {
		return nil
	}
	return s.filled("T", text+" for %0")
}
