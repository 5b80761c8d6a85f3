package rust

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"symkit/internal/demangle/lex"
)

// constant reads the value of a generic argument or the length of an array. The tag of the
// value's type comes first and decides how the value is written. inner is set if the value is
// part of an expression. As in Rust, an argument gets braces unless it is a literal.
func (p *parser) constant(inner bool) {
	if !p.enter() {
		return
	}
	defer p.leave()

	switch tag := p.peek(); tag {
	case 'B':
		p.pos++
		p.backref(func() { p.constant(inner) })
	case 'e', 'R', 'Q', 'A', 'T', 'V':
		literal := tag == 'R' && p.pos+1 < len(p.in) && p.in[p.pos+1] == 'e'
		if inner || literal {
			p.composed()
			return
		}
		p.put("{")
		p.composed()
		p.put("}")
	default:
		p.literal()
	}
}

// literal reads a value that is written without an operator.
func (p *parser) literal() {
	switch p.next() {
	case 'p':
		p.put("_")

	// Integers without and with a sign.
	case 'h', 't', 'm', 'y', 'o', 'j':
		p.integer()
	case 'a', 's', 'l', 'x', 'n', 'i':
		if p.take('n') {
			p.put("-")
		}
		p.integer()

	// Values that are numbers: false and true, the code point of a character.
	case 'b':
		switch n, ok := p.small(); {
		case ok && n == 0:
			p.put("false")
		case ok && n == 1:
			p.put("true")
		default:
			p.fail()
		}
	case 'c':
		n, ok := p.small()
		if !ok || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
			p.fail()
			return
		}
		p.quote('\'', string(rune(n)))
	default:
		p.fail()
	}
}

// composed reads a value that is made of others, or of characters.
func (p *parser) composed() {
	one := func() { p.constant(true) }
	switch tag := p.next(); tag {
	// A reference to a string is written as a literal, and a string without a reference as
	// the literal with a star before it.
	case 'e':
		p.put("*")
		p.stringConstant()
	case 'R', 'Q':
		if tag == 'R' && p.take('e') {
			p.stringConstant()
			return
		}
		p.put("&")
		if tag == 'Q' {
			p.put("mut ")
		}
		p.constant(true)

	// Arrays, tuples, structures and variants of enumerations.
	case 'A':
		p.put("[")
		p.list(one)
		p.put("]")
	case 'T':
		p.put("(")
		if p.list(one) == 1 {
			p.put(",")
		}
		p.put(")")
	default:
		p.structConstant(one)
	}
}

// hex reads hexadecimal digits up to an underscore, and skips the underscore.
func (p *parser) hex() string {
	start := p.pos
	for lex.IsHex(p.peek()) {
		p.pos++
	}
	digits := string(p.in[start:p.pos])
	if !p.take('_') {
		p.fail()
	}
	return digits
}

func (p *parser) small() (uint64, bool) {
	digits := p.hex()
	if digits == "" {
		return 0, !p.bad
	}
	n, err := strconv.ParseUint(digits, 16, 64)
	return n, err == nil && !p.bad
}

// integer writes a number in decimal, or in hexadecimal if it has more than 64 bits.
func (p *parser) integer() {
	digits := p.hex()
	trimmed := strings.TrimLeft(digits, "0")
	if len(trimmed) > 16 {
		p.put("0x" + trimmed)
		return
	}

	n, err := strconv.ParseUint("0"+trimmed, 16, 64)
	if err != nil {
		p.fail()
	}
	p.put(strconv.FormatUint(n, 10))
}

func (p *parser) stringConstant() {
	digits := p.hex()
	if p.bad || len(digits)%2 != 0 {
		p.fail()
		return
	}

	// Two digits for each byte of UTF-8.
	text := make([]byte, 0, len(digits)/2)
	for i := 0; i < len(digits); i += 2 {
		text = append(text, lex.Unhex(digits[i])<<4|lex.Unhex(digits[i+1]))
	}
	if !utf8.Valid(text) {
		p.fail()
		return
	}
	p.quote('"', string(text))
}

// quote writes characters between quotation marks, with Rust's escapes.
func (p *parser) quote(mark rune, text string) {
	p.out = utf8.AppendRune(p.out, mark)
	for _, r := range text {
		if i := strings.IndexRune("\x00\t\n\r\\", r); i >= 0 {
			p.put(`\` + `0tnr\`[i:i+1])
			continue
		}

		// Characters that change the one before them are escaped, as those that cannot be printed.
		switch {
		case r == mark:
			p.put(`\`)
		case !unicode.IsPrint(r) || unicode.In(r, unicode.Mn, unicode.Me, unicode.Other_Grapheme_Extend):
			p.put(`\u{` + strconv.FormatUint(uint64(r), 16) + "}")
			continue
		}
		p.out = utf8.AppendRune(p.out, r)
	}
	p.out = utf8.AppendRune(p.out, mark)
}

// structConstant reads the value of a structure or of an enumeration's variant, the parts with
// one.
func (p *parser) structConstant(one func()) {
	p.path(true)
	switch p.next() {
	case 'U':
	case 'T':
		p.put("(")
		p.list(one)
		p.put(")")
	case 'S':
		p.put(" { ")
		p.list(func() {
			name, _ := p.identifier()
			p.put(name + ": ")
			one()
		})
		p.put(" }")
	default:
		p.fail()
	}
}
