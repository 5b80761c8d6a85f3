package dlang

import "symkit/internal/demangle/lex"

// basicTypes maps letters to the basic types.
var basicTypes = [256]string{
	'a': "char", 'b': "bool", 'c': "creal", 'd': "double", 'e': "real", 'f': "float", 'g': "byte", 'h': "ubyte",
	'i': "int", 'j': "ireal", 'k': "uint", 'l': "long", 'm': "ulong", 'n': "typeof(null)", 'o': "ifloat",
	'p': "idouble", 'q': "cfloat", 'r': "cdouble", 's': "short", 't': "ushort", 'u': "wchar", 'v': "void", 'w': "dchar",
}

// typ reads a Type: its first letter decides which of the grammar's rules follows.
func (p *parser) typ() {
	if !p.enter() {
		return
	}
	defer p.leave()

	c := p.peek(0)
	if s := basicTypes[c]; s != "" {
		p.pos++
		p.put(s)
		return
	}

	switch c {
	// Qualified types.
	case 'O':
		p.wrapped(1, "shared(")
	case 'x':
		p.wrapped(1, "const(")
	case 'y':
		p.wrapped(1, "immutable(")
	case 'N':
		switch p.peek(1) {
		case 'g':
			p.wrapped(2, "inout(")
		case 'h':
			p.wrapped(2, "__vector(")
		case 'n':
			p.pos += 2
			p.put("typeof(*null)")
		default:
			p.fail()
		}

	// Arrays (dynamic, static with their length, associative), pointers and functions. A
	// pointer to a function is written like the function.
	case 'A':
		p.pos++
		p.typ()
		p.put("[]")
	case 'G':
		p.staticArray()
	case 'H':
		p.assocArray()
	case 'P':
		p.pointer()
	case 'F', 'U', 'W', 'V', 'R', 'Y':
		p.functionType()
		p.put("function")

	// Named types: classes, structs, enums, aliases, interfaces.
	case 'C', 'S', 'E', 'T', 'I':
		p.pos++
		p.qualified(false)

	case 'D':
		p.delegate()
	case 'B':
		p.tuple()

	// Integers of 128 bits, and references to earlier types.
	case 'z':
		p.wideInteger()
	case 'Q':
		back := p.backref()
		p.at(back, p.typ)
	default:
		p.fail()
	}
}

// wrapped skips n letters, which stand for the qualifier with, and reads the qualified type.
func (p *parser) wrapped(n int, with string) {
	p.pos += n
	p.put(with)
	p.typ()
	p.put(")")
}

// staticArray reads the length of an array and the type of its elements, which is written
// first.
func (p *parser) staticArray() {
	p.pos++
	start := p.pos
	for lex.IsDigit(p.peek(0)) {
		p.pos++
	}

	length := string(p.in[start:p.pos])
	p.typ()
	p.put("[" + length + "]")
}

// pointer reads the type that a pointer refers to.
func (p *parser) pointer() {
	p.pos++
	if p.isCallConvention() {
		p.functionType()
		p.put("function")
		return
	}
	p.typ()
	p.put("*")
}

// wideInteger reads an integer type of 128 bits.
func (p *parser) wideInteger() {
	switch {
	case p.take("zi"):
		p.put("cent")
	case p.take("zk"):
		p.put("ucent")
	default:
		p.fail()
	}
}

// assocArray reads the types of the key and of the value, which is written first.
func (p *parser) assocArray() {
	p.pos++
	start := len(p.out)
	p.typ()
	key := string(p.out[start:])
	p.out = p.out[:start]
	p.typ()
	p.put("[" + key + "]")
}

// delegate reads a function type with the modifiers of the delegate's context.
func (p *parser) delegate() {
	p.pos++
	mods := p.modifiers()
	if p.peek(0) == 'Q' {
		back := p.backref()
		p.at(back, p.functionType)
	} else {
		p.functionType()
	}
	p.put("delegate" + mods)
}

// tuple reads a number and as many types.
func (p *parser) tuple() {
	p.pos++
	n := p.number()
	p.put("Tuple!(")
	for i := 0; i < n && !p.bad; i++ {
		if i > 0 {
			p.put(", ")
		}
		p.typ()
	}
	p.put(")")
}

// modifiers reads the modifiers of a method's this or of a delegate's context.
func (p *parser) modifiers() (s string) {
	for {
		switch {
		case p.take("x"):
			return s + " const"
		case p.take("y"):
			return s + " immutable"
		case p.take("O"):
			s += " shared"
		case p.take("Ng"):
			s += " inout"
		default:
			return s
		}
	}
}

func (p *parser) isCallConvention() bool {
	switch p.peek(0) {
	case 'F', 'U', 'V', 'W', 'R', 'Y':
		return true
	}
	return false
}

// callConventions has the text of each linkage other than D's.
var callConventions = lex.CodeTable{
	{"F", ""}, {"U", "extern(C) "}, {"W", "extern(Windows) "}, {"V", "extern(Pascal) "}, {"R", "extern(C++) "}, {"Y", "extern(Objective-C) "},
}

// functionType reads the type of a function and writes it as
// "linkage return(parameters) attributes ".
func (p *parser) functionType() {
	if !p.enter() {
		return
	}
	defer p.leave()
	start := len(p.out)
	var linkage, attributes string
	p.signature(&linkage, &attributes)
	params := string(p.out[start:])
	p.out = p.out[:start]
	p.put(linkage)
	p.typ()
	p.put(params + " " + attributes)
}

// signature reads linkage, attributes and parameters, and writes the last.
func (p *parser) signature(linkage, attributes *string) {
	if !p.isCallConvention() {
		p.fail()
		return
	}
	if linkage != nil {
		*linkage, _ = callConventions.Text([]byte{p.peek(0)})
	}
	p.pos++
	s := p.attributes()
	if attributes != nil {
		*attributes = s
	}
	p.put("(")
	p.params()
	p.put(")")
}

var attributes = lex.CodeTable{
	{"a", "pure "}, {"b", "nothrow "}, {"c", "ref "}, {"d", "@property "}, {"e", "@trusted "}, {"f", "@safe "},
	{"i", "@nogc "}, {"j", "return "}, {"l", "scope "}, {"m", "@live "},
}

// attributes reads those of a function. Ng, Nh, Nk and Nn begin a parameter.
func (p *parser) attributes() (s string) {
	for p.peek(0) == 'N' {
		text, ok := attributes.Text([]byte{p.peek(1)})
		if !ok {
			break
		}
		s += text
		p.pos += 2
	}
	return s
}

// storage reads the classes of a parameter that may stand in either order.
func (p *parser) storage() {
	for {
		switch {
		case p.take("M"):
			p.put("scope ")
		case p.take("Nk"):
			p.put("return ")
		default:
			return
		}
	}
}

// params reads parameters up to the letter that closes them.
func (p *parser) params() {
	for first := true; !p.bad; first = false {
		switch {
		case p.take("X"): // (T t...)
			p.put("...")
			return
		case p.take("Y"): // (T t, ...)
			if !first {
				p.put(", ")
			}
			p.put("...")
			return
		case p.take("Z"):
			return
		}
		if !first {
			p.put(", ")
		}
		p.storage()
		switch {
		case p.take("I"):
			p.put("in ")
			if p.take("K") {
				p.put("ref ")
			}
		case p.take("J"):
			p.put("out ")
		case p.take("K"):
			p.put("ref ")
		case p.take("L"):
			p.put("lazy ")
		}
		p.typ()
	}
}
