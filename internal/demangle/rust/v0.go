// Package rust demangles the names of rustc: those of its first mangling, which have C++'s form, and those of the
// second.
package rust

import (
	"bytes"
	"math"
	"strconv"

	"symkit/internal/demangle/lex"
)

// V0 demangles the names of rustc's second mangling (RFC 2603, the rustc book's
// "v0 Symbol Format"). The text has no hashes of crates and no types of constants.
//
// The demangling library reads these names, too, but takes a closure within a closure,
// whose names are both empty ("00"), for one closure.
func V0(name []byte) (string, bool) {
	s, ok := bytes.CutPrefix(name, []byte("_R"))
	if !ok || len(s) == 0 || !lex.IsUpper(s[0]) {
		return "", false
	}

	if n := bytes.IndexAny(s, ".$"); n >= 0 {
		s = s[:n] // suffix of the compiler
	}
	if !lex.IsWord(s) {
		return "", false
	}

	// After the path may come the crate that made this instance, which is not written.
	p := parser{in: s}
	p.path(true)
	if p.pos < len(p.in) {
		end := len(p.out)
		p.path(false)
		p.out = p.out[:end]
	}
	if p.bad || p.pos != len(p.in) {
		return "", false
	}
	return string(p.out), len(p.out) > 0
}

const (
	maxDepth = 500
	// maxSteps bounds the work on names whose back references multiply.
	maxSteps = 1 << 16
)

// parser reads a name from front to back and appends text to out. bad stays set after the
// first failure.
type parser struct {
	in        []byte
	pos       int
	out       []byte
	depth     int
	steps     int
	lifetimes uint64 // number of lifetimes bound by the enclosing binders
	bad       bool
}

func (p *parser) fail() { p.bad = true }

// enter bounds recursion and work; leave must follow.
func (p *parser) enter() bool {
	p.depth++
	p.steps++
	if p.depth > maxDepth || p.steps > maxSteps || len(p.out) > lex.MaxLength {
		p.fail()
	}
	return !p.bad
}

func (p *parser) leave() { p.depth-- }

func (p *parser) peek() byte {
	if p.pos < len(p.in) {
		return p.in[p.pos]
	}
	return 0
}

// next reads a byte; 0, which is in no name, at the end.
func (p *parser) next() byte {
	c := p.peek()
	if c == 0 {
		p.fail()
		return 0
	}
	p.pos++
	return c
}

func (p *parser) take(c byte) bool {
	if p.peek() != c || p.bad {
		return false
	}
	p.pos++
	return true
}

func (p *parser) put(s string) { p.out = append(p.out, s...) }

// base62 reads a number in base 62 up to an underscore. The underscore alone is 0; with
// digits the number is one more than the value of the digits.
func (p *parser) base62() (n uint64) {
	if p.take('_') {
		return 0
	}
	for !p.bad && !p.take('_') {
		// Digits, lower case, then upper case.
		var d uint64
		switch c := p.next(); {
		case lex.IsDigit(c):
			d = uint64(c - '0')
		case lex.IsLower(c):
			d = uint64(c-'a') + 10
		case lex.IsUpper(c):
			d = uint64(c-'A') + 36
		default:
			p.fail()
		}
		if n > (math.MaxUint64-1-d)/62 {
			p.fail()
			return 0
		}
		n = n*62 + d
	}
	return n + 1
}

// optional reads tag and a number and returns the number plus one, or 0 without the tag.
func (p *parser) optional(tag byte) uint64 {
	if !p.take(tag) {
		return 0
	}
	return p.base62() + 1
}

// identifier reads an optional disambiguator and a name. The length of the name has no
// leading zeros: the empty name is "0".
func (p *parser) identifier() (name string, disambiguator uint64) {
	disambiguator = p.optional('s')
	return p.plainIdentifier(), disambiguator
}

func (p *parser) plainIdentifier() string {
	encoded := p.take('u')
	c := p.next()
	if !lex.IsDigit(c) {
		p.fail()
		return ""
	}

	n := int(c - '0')
	if n > 0 {
		for lex.IsDigit(p.peek()) && n <= len(p.in) {
			n = n*10 + int(p.next()-'0')
		}
	}
	p.take('_')
	if p.bad || n > len(p.in)-p.pos {
		p.fail()
		return ""
	}

	// Identifiers with other characters than ASCII are in Punycode.
	name := p.in[p.pos : p.pos+n]
	p.pos += n
	if !encoded {
		return string(name)
	}
	text, ok := lex.Punycode(name)
	if !ok {
		return "lex.Punycode{" + undecoded(name) + "}"
	}
	return text
}

// undecoded returns an identifier that is no Punycode, with the delimiter that Punycode has.
func undecoded(name []byte) string {
	i := bytes.LastIndexByte(name, '_')
	if i <= 0 {
		return string(name[i+1:])
	}
	return string(name[:i]) + "-" + string(name[i+1:])
}

// backref reads the position that a B refers to, and runs f there.
func (p *parser) backref(f func()) {
	at := p.pos - 1
	to := p.base62()
	if p.bad || to >= uint64(at) || !p.enter() {
		p.fail()
		return
	}

	next := p.pos
	p.pos = int(to)
	f()
	p.pos = next
	p.leave()
}

// path reads a path. value is set if the path names a value, whose generic arguments
// are written after "::".
func (p *parser) path(value bool) {
	if !p.enter() {
		return
	}
	defer p.leave()
	switch tag := p.next(); tag {
	case 'C':
		name, _ := p.identifier()
		p.put(name)
	case 'M', 'X', 'Y':
		if tag != 'Y' {
			p.implPath()
		}
		p.put("<")
		p.typ()
		if tag != 'M' {
			p.put(" as ")
			p.path(false)
		}
		p.put(">")
	case 'N':
		p.nested(value)
	case 'I':
		p.path(value)
		if value {
			p.put("::")
		}
		p.put("<")
		p.list(p.genericArg)
		p.put(">")
	case 'B':
		p.backref(func() { p.path(value) })
	default:
		p.fail()
	}
}

// implPath skips the path of an impl block, which is not written.
func (p *parser) implPath() {
	end := len(p.out)
	p.optional('s')
	p.path(false)
	if !p.bad {
		p.out = p.out[:end]
	}
}

func (p *parser) nested(value bool) {
	space := p.next()
	p.path(value)
	name, disambiguator := p.identifier()
	switch {
	case lex.IsUpper(space):
		kind := string(space)
		switch space {
		case 'C':
			kind = "closure"
		case 'S':
			kind = "shim"
		}
		p.put("::{" + kind)
		if name != "" {
			p.put(":" + name)
		}
		p.put("#" + strconv.FormatUint(disambiguator, 10) + "}")
	case !lex.IsLower(space):
		p.fail()
	case name != "":
		p.put("::" + name)
	}
}

// list reads elements up to E, and writes commas between them.
func (p *parser) list(element func()) (n int) {
	for ; !p.bad && !p.take('E'); n++ {
		if n > 0 {
			p.put(", ")
		}
		element()
	}
	return n
}

func (p *parser) genericArg() {
	switch {
	case p.take('L'):
		p.lifetime(p.base62())
	case p.take('K'):
		p.constant(false)
	default:
		p.typ()
	}
}

// lifetime writes a lifetime: index 0 is erased, others count from the innermost binder.
func (p *parser) lifetime(index uint64) {
	switch {
	case index == 0:
		p.put("'_")
	case index > p.lifetimes:
		p.fail()
	default:
		if n := p.lifetimes - index; n < 26 {
			p.put("'" + string(rune('a'+n)))
		} else {
			p.put("'_" + strconv.FormatUint(n, 10))
		}
	}
}

// binder reads the lifetimes that are bound in the part of the name that f reads.
func (p *parser) binder(f func()) {
	n := p.optional('G')
	if n > uint64(len(p.in)) {
		p.fail()
		return
	}

	// New lifetimes are numbered from the innermost one.
	if n > 0 {
		p.put("for<")
		for i := range n {
			if i > 0 {
				p.put(", ")
			}
			p.lifetimes++
			p.lifetime(1)
		}
		p.put("> ")
	}
	f()
	p.lifetimes -= n
}
