package dlang

import (
	"strconv"

	"symkit/internal/demangle/lex"
)

// template reads __T LName TemplateArgs Z. size is the length in bytes that the name
// states before it, or -1 if it states none.
func (p *parser) template(size int) {
	start := p.pos
	if !p.enter() {
		return
	}
	defer p.leave()
	if !p.take("__T") && !p.take("__U") || !p.isName() || p.peek(0) == '0' {
		p.fail()
		return
	}
	p.identifier()
	p.put("!(")
	p.templateArgs()
	p.put(")")
	if size >= 0 && p.pos-start != size {
		p.fail()
	}
}

func (p *parser) templateArgs() {
	for first := true; !p.bad; first = false {
		if p.take("Z") {
			return
		}
		if !first {
			p.put(", ")
		}
		p.take("H") // a specialized parameter
		switch {
		case p.take("S"):
			p.templateSymbol()
		case p.take("T"):
			p.typ()
		case p.take("V"):
			p.templateValue()
		case p.take("X"): // mangled by other rules
			n := p.number()
			if n > len(p.in)-p.pos {
				p.fail()
				return
			}
			p.out = append(p.out, p.in[p.pos:p.pos+n]...)
			p.pos += n
		default:
			p.fail()
		}
	}
}

// templateSymbol reads an argument that is a symbol: a whole mangled name, a reference
// or a qualified name. Before D 2.077 a length came first, whose digits cannot be
// distinguished from those of the first name's length.
func (p *parser) templateSymbol() {
	if p.take("_D") {
		p.nested()
		return
	}
	if p.peek(0) == 'Q' {
		p.qualified(false)
		return
	}

	// All digits could be the length, or only some of them.
	start, digits := p.pos, 0
	for lex.IsDigit(p.peek(digits)) {
		digits++
	}
	// Try the longest length first. It is right if the symbol has exactly that length.
	for n := digits; n > 0; n-- {
		size, err := strconv.Atoi(string(p.in[start : start+n]))
		if err != nil || size == 0 || size > len(p.in)-start-n {
			continue
		}
		look := *p
		look.pos = start + n
		if look.take("_D") {
			look.nested()
		} else {
			look.qualified(false)
		}
		p.steps = look.steps
		if !look.bad && look.pos == start+n+size {
			*p = look
			return
		}
	}
	p.qualified(false)
}

// nested reads a mangled name after its _D.
func (p *parser) nested() {
	if !lex.IsDigit(p.peek(0)) && p.peek(0) != '_' && p.peek(0) != 'Q' {
		p.fail()
		return
	}
	p.mangled()
}

// templateValue reads a type and a value of it.
func (p *parser) templateValue() {
	c := p.peek(0)
	if c == 'Q' {
		look := *p
		back := look.backref()
		if !look.bad {
			c = p.in[back]
		}
	}

	// The text of the type is written only before a structure's fields.
	start := len(p.out)
	p.typ()
	name := string(p.out[start:])
	p.out = p.out[:start]
	p.value(name, c)
}

// value reads a Value. name is the text of its type, c the type's letter.
func (p *parser) value(name string, c byte) {
	if !p.enter() {
		return
	}
	defer p.leave()
	switch next := p.peek(0); {
	case next == 'n':
		p.pos++
		p.put("null")
	case next == 'N':
		p.pos++
		p.put("-")
		p.integer(c)
	case next == 'i':
		p.pos++
		p.integer(c)
	case lex.IsDigit(next):
		p.integer(c)
	case next == 'e':
		p.pos++
		p.real()
	case next == 'c':
		p.pos++
		p.real()
		p.put("+")
		if !p.take("c") {
			p.fail()
		}
		p.real()
		p.put("i")
	case next == 'a' || next == 'w' || next == 'd':
		p.stringValue()
	case next == 'A':
		p.pos++
		p.elements(c == 'H')
	case next == 'S':
		p.pos++
		p.put(name)
		p.list("(", ")")
	case next == 'f':
		p.pos++
		if !p.take("_D") {
			p.fail()
			return
		}
		p.nested()
	default:
		p.fail()
	}
}

// elements reads an array literal or, if pairs is set, an associative one.
func (p *parser) elements(pairs bool) {
	if !pairs {
		p.list("[", "]")
		return
	}
	p.put("[")
	for i, n := 0, p.number(); i < n && !p.bad; i++ {
		if i > 0 {
			p.put(", ")
		}
		p.value("", 0)
		p.put(":")
		p.value("", 0)
	}
	p.put("]")
}

func (p *parser) list(open, end string) {
	p.put(open)
	for i, n := 0, p.number(); i < n && !p.bad; i++ {
		if i > 0 {
			p.put(", ")
		}
		p.value("", 0)
	}
	p.put(end)
}

// suffixes maps the letters of types to the suffixes of their integers.
var suffixes = lex.CodeTable{{"h", "u"}, {"t", "u"}, {"k", "u"}, {"l", "L"}, {"m", "uL"}}

// integer reads a number and writes it as a literal of type c.
func (p *parser) integer(c byte) {
	start := p.pos
	for lex.IsDigit(p.peek(0)) {
		p.pos++
	}
	digits := string(p.in[start:p.pos])
	if digits == "" {
		p.fail()
		return
	}

	switch c {
	case 'a', 'u', 'w':
		n, err := strconv.ParseUint(digits, 10, 32)
		if err != nil {
			p.fail()
			return
		}
		p.put(character(c, n))
	case 'b':
		if digits == "0" {
			p.put("false")
		} else {
			p.put("true")
		}
	default:
		suffix, _ := suffixes.Text([]byte{c})
		p.put(digits + suffix)
	}
}

// character returns a character literal. Printable ASCII is not escaped.
func character(c byte, n uint64) string {
	if c == 'a' && n >= 0x20 && n < 0x7f {
		return "'" + string(rune(n)) + "'"
	}

	// Everything else has as many digits as the type has.
	width := map[byte]int{'a': 2, 'u': 4, 'w': 8}[c]
	prefix := map[byte]string{'a': `'\x`, 'u': `'\u`, 'w': `'\U`}[c]
	s := strconv.FormatUint(n, 16)
	for len(s) < width {
		s = "0" + s
	}
	return prefix + s + "'"
}

// real reads a floating-point number: NAN, INF, or hexadecimal digits and an
// exponent, with N for minus.
func (p *parser) real() {
	switch {
	case p.take("NAN"):
		p.put("NaN")
		return
	case p.take("INF"):
		p.put("Inf")
		return
	case p.take("NINF"):
		p.put("-Inf")
		return
	}

	if p.take("N") {
		p.put("-")
	}
	if !isHexUpper(p.peek(0)) {
		p.fail()
		return
	}

	// One digit before the point, the rest after it.
	p.put("0x")
	p.out = append(p.out, p.peek(0), '.')
	for p.pos++; isHexUpper(p.peek(0)); p.pos++ {
		p.out = append(p.out, p.peek(0))
	}

	// The exponent, a power of 2.
	if !p.take("P") {
		p.fail()
		return
	}
	p.put("p")
	if p.take("N") {
		p.put("-")
	}
	start := p.pos
	p.number()
	p.out = append(p.out, p.in[start:p.pos]...)
}

func isHexUpper(b byte) bool { return lex.IsDigit(b) || 'A' <= b && b <= 'F' }

// stringValue reads a string of char, wchar or dchar: the number of bytes, and two
// hexadecimal digits for each byte.
func (p *parser) stringValue() {
	kind := p.peek(0)
	p.pos++
	n := p.number()
	if p.bad || !p.take("_") || n > (len(p.in)-p.pos)/2 {
		p.fail()
		return
	}
	p.put(`"`)
	for range n {
		hi, lo := p.peek(0), p.peek(1)
		if !lex.IsHex(hi) || !lex.IsHex(lo) {
			p.fail()
			return
		}
		p.pos += 2
		p.stringByte(lex.Unhex(hi)<<4 | lex.Unhex(lo))
	}
	p.put(`"`)
	if kind != 'a' {
		p.out = append(p.out, kind)
	}
}

var escapes = lex.CodeTable{{"\t", `\t`}, {"\n", `\n`}, {"\r", `\r`}, {"\f", `\f`}, {"\v", `\v`}}

func (p *parser) stringByte(c byte) {
	const hex = "0123456789abcdef"
	switch s, ok := escapes.Text([]byte{c}); {
	case ok:
		p.put(s)
	case c >= 0x20 && c < 0x7f:
		p.out = append(p.out, c)
	default:
		p.out = append(p.out, '\\', 'x', hex[c>>4], hex[c&15])
	}
}
