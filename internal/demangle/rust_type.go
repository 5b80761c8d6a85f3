package demangle

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// rBasic maps tags of one letter to the basic types.
var rBasic = [256]string{
	'a': "i8", 'b': "bool", 'c': "char", 'd': "f64", 'e': "str", 'f': "f32", 'h': "u8", 'i': "isize", 'j': "usize",
	'l': "i32", 'm': "u32", 'n': "i128", 'o': "u128", 's': "i16", 't': "u16", 'u': "()", 'v': "...", 'x': "i64",
	'y': "u64", 'z': "!", 'p': "_",
}

// typ reads a type: its tag decides which of the grammar's rules follows. A letter that is no
// tag of a type begins a path.
func (p *rparser) typ() {
	if !p.enter() {
		return
	}
	defer p.leave()

	tag := p.next()
	if s := rBasic[tag]; s != "" {
		p.put(s)
		return
	}

	switch tag {
	// References, with their lifetime unless it is erased, and pointers.
	case 'R', 'Q':
		p.put("&")
		if p.take('L') {
			if index := p.base62(); index > 0 {
				p.lifetime(index)
				p.put(" ")
			}
		}
		if tag == 'Q' {
			p.put("mut ")
		}
		p.typ()
	case 'P':
		p.put("*const ")
		p.typ()
	case 'O':
		p.put("*mut ")
		p.typ()

	// Arrays, slices and tuples.
	case 'A', 'S':
		p.put("[")
		p.typ()
		if tag == 'A' {
			p.put("; ")
			p.constant()
		}
		p.put("]")
	case 'T':
		p.put("(")
		if p.list(p.typ) == 1 {
			p.put(",")
		}
		p.put(")")

	// Function pointers and trait objects can bind lifetimes.
	case 'F':
		p.binder(p.function)
	case 'D':
		p.put("dyn ")
		p.binder(p.bounds)
		if !p.take('L') {
			p.fail()
		} else if index := p.base62(); index > 0 {
			p.put(" + ")
			p.lifetime(index)
		}

	case 'B':
		p.backref(p.typ)
	default:
		p.pos--
		p.path(false)
	}
}

// function reads the signature of a function pointer.
func (p *rparser) function() {
	if p.take('U') {
		p.put("unsafe ")
	}
	if p.take('K') {
		abi := "C"
		if !p.take('C') {
			abi = strings.ReplaceAll(p.plainIdentifier(), "_", "-")
		}
		p.put(`extern "` + abi + `" `)
	}
	p.put("fn(")
	p.list(p.typ)
	p.put(")")
	if !p.take('u') {
		p.put(" -> ")
		p.typ()
	}
}

// bounds reads the traits of a trait object.
func (p *rparser) bounds() {
	for n := 0; !p.bad && !p.take('E'); n++ {
		if n > 0 {
			p.put(" + ")
		}

		// Associated types join the arguments of the path.
		open := p.openPath()
		for !p.bad && p.take('p') {
			if open {
				p.put(", ")
			} else {
				p.put("<")
				open = true
			}
			p.put(p.plainIdentifier() + " = ")
			p.typ()
		}
		if open {
			p.put(">")
		}
	}
}

// openPath reads a path. If the path has arguments, openPath writes no closing bracket,
// so that associated types can follow, and returns true.
func (p *rparser) openPath() (open bool) {
	switch {
	case p.take('I'):
		p.path(false)
		p.put("<")
		p.list(p.genericArg)
		return true
	case p.take('B'):
		p.backref(func() { open = p.openPath() })
		return open
	}
	p.path(false)
	return false
}

// constant reads the value of a generic argument or the length of an array. The tag of the
// value's type comes first and decides how the value is written.
func (p *rparser) constant() {
	if !p.enter() {
		return
	}
	defer p.leave()

	switch tag := p.next(); tag {
	case 'p':
		p.put("_")
	case 'B':
		p.backref(p.constant)

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
		p.put(strconv.QuoteRune(rune(n)))

	// Strings and references. A reference to a string is written as a literal, and a string
	// without a reference as the literal with a star before it.
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
		p.constant()

	// Values made of others.
	case 'A':
		p.put("[")
		p.list(p.constant)
		p.put("]")
	case 'T':
		p.put("(")
		if p.list(p.constant) == 1 {
			p.put(",")
		}
		p.put(")")
	case 'V':
		p.structConstant()
	default:
		p.fail()
	}
}

// hex reads hexadecimal digits up to an underscore, and skips the underscore.
func (p *rparser) hex() string {
	start := p.pos
	for isHex(p.peek()) {
		p.pos++
	}
	digits := string(p.in[start:p.pos])
	if !p.take('_') {
		p.fail()
	}
	return digits
}

func (p *rparser) small() (uint64, bool) {
	digits := p.hex()
	if digits == "" {
		return 0, !p.bad
	}
	n, err := strconv.ParseUint(digits, 16, 64)
	return n, err == nil && !p.bad
}

// integer writes a number in decimal, or in hexadecimal if it has more than 64 bits.
func (p *rparser) integer() {
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

func (p *rparser) stringConstant() {
	digits := p.hex()
	if p.bad || len(digits)%2 != 0 {
		p.fail()
		return
	}

	// Two digits for each byte of UTF-8.
	text := make([]byte, 0, len(digits)/2)
	for i := 0; i < len(digits); i += 2 {
		text = append(text, unhex(digits[i])<<4|unhex(digits[i+1]))
	}
	if !utf8.Valid(text) {
		p.fail()
		return
	}
	p.put(strconv.Quote(string(text)))
}

// structConstant reads the value of a structure or of an enumeration's variant.
func (p *rparser) structConstant() {
	p.path(true)
	switch p.next() {
	case 'U':
	case 'T':
		p.put("(")
		p.list(p.constant)
		p.put(")")
	case 'S':
		p.put(" { ")
		p.list(func() {
			name, _ := p.identifier()
			p.put(name + ": ")
			p.constant()
		})
		p.put(" }")
	default:
		p.fail()
	}
}
