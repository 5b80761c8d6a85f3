package demangle

import (
	"strconv"
)

// template reads __T LName TemplateArgs Z. Size is the number of bytes that a
// length in front promised, or -1.
func (p *dparser) template(size int) {
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

func (p *dparser) templateArgs() {
	for first := true; !p.bad; first = false {
		if p.take("Z") {
			return
		}
		if !first {
			p.put(", ")
		}
		p.take("H") // a specialised parameter
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

// templateSymbol reads an argument that is a symbol: a whole mangled name, a
// reference or a qualified name. Before D 2.077 a length stood in front, which
// may run into the digits of the first name.
func (p *dparser) templateSymbol() {
	if p.take("_D") {
		p.nested()
		return
	}
	if p.peek(0) == 'Q' {
		p.qualified(false)
		return
	}
	start, digits := p.pos, 0
	for isDigit(p.peek(digits)) {
		digits++
	}
	// The longest length that ends exactly at the end of what it counts.
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
		if p.steps = look.steps; !look.bad && look.pos == start+n+size {
			*p = look
			return
		}
	}
	p.qualified(false)
}

// nested reads a mangled name behind its _D.
func (p *dparser) nested() {
	if !isDigit(p.peek(0)) && p.peek(0) != '_' && p.peek(0) != 'Q' {
		p.fail()
		return
	}
	p.mangled()
}

// templateValue reads a type and a value of it.
func (p *dparser) templateValue() {
	c := p.peek(0)
	if c == 'Q' {
		look := *p
		if back := look.backref(); !look.bad {
			c = p.in[back]
		}
	}
	start := len(p.out)
	p.typ()
	name := string(p.out[start:])
	p.out = p.out[:start]
	p.value(name, c)
}

// value reads a Value. Name is that of its type, c the type's letter.
func (p *dparser) value(name string, c byte) {
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
	case isDigit(next):
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

// elements reads an array literal, or one of key and value pairs.
func (p *dparser) elements(pairs bool) {
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

func (p *dparser) list(open, end string) {
	p.put(open)
	for i, n := 0, p.number(); i < n && !p.bad; i++ {
		if i > 0 {
			p.put(", ")
		}
		p.value("", 0)
	}
	p.put(end)
}

// dSuffixes is what is written behind an integer of a type.
var dSuffixes = map[byte]string{'h': "u", 't': "u", 'k': "u", 'l': "L", 'm': "uL"}

// integer reads a number and writes it as a literal of type c.
func (p *dparser) integer(c byte) {
	start := p.pos
	for isDigit(p.peek(0)) {
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
		p.put(dChar(c, n))
	case 'b':
		if digits == "0" {
			p.put("false")
		} else {
			p.put("true")
		}
	default:
		p.put(digits + dSuffixes[c])
	}
}

// dChar writes a character literal: printable ASCII as it is.
func dChar(c byte, n uint64) string {
	if c == 'a' && n >= 0x20 && n < 0x7f {
		return "'" + string(rune(n)) + "'"
	}
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
func (p *dparser) real() {
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
	p.put("0x")
	p.out = append(p.out, p.peek(0), '.')
	for p.pos++; isHexUpper(p.peek(0)); p.pos++ {
		p.out = append(p.out, p.peek(0))
	}
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

func isHexUpper(b byte) bool { return isDigit(b) || 'A' <= b && b <= 'F' }

// stringValue reads a string of char, wchar or dchar: a length and that many
// bytes, two hexadecimal digits each.
func (p *dparser) stringValue() {
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
		if !isHex(hi) || !isHex(lo) {
			p.fail()
			return
		}
		p.pos += 2
		p.stringByte(unhex(hi)<<4 | unhex(lo))
	}
	p.put(`"`)
	if kind != 'a' {
		p.out = append(p.out, kind)
	}
}

var dEscapes = map[byte]string{'\t': `\t`, '\n': `\n`, '\r': `\r`, '\f': `\f`, '\v': `\v`}

func (p *dparser) stringByte(c byte) {
	const hex = "0123456789abcdef"
	switch s, ok := dEscapes[c]; {
	case ok:
		p.put(s)
	case c >= 0x20 && c < 0x7f:
		p.out = append(p.out, c)
	default:
		p.out = append(p.out, '\\', 'x', hex[c>>4], hex[c&15])
	}
}
