// Package dlang demangles the names of D.
package dlang

import (
	"bytes"

	"symkit/internal/demangle/lex"
)

// Text demangles D's names (D's ABI specification, "Name Mangling"), written
// as the D compilers' own demanglers do, without the return type:
// "_D4main3fooFiZv" is "main.foo(int)".
func Text(name []byte) (string, bool) {
	if string(name) == "_Dmain" {
		return "D main", true
	}

	// A thunk is named after its function.
	if rest, ok := thunk(name); ok {
		text, ok := Text(rest)
		return "thunk to " + text, ok
	}
	if len(name) < 3 || !lex.IsDigit(name[2]) && name[2] != '_' && name[2] != 'Q' {
		return "", false
	}
	p := parser{in: name, pos: 2}
	p.mangled()
	if p.bad || p.pos != len(p.in) || len(p.out) == 0 {
		return "", false
	}
	return string(p.out), true
}

// thunk finds the function in the name of a thunk, which adjusts the pointer
// to an interface: gdc's "_DTi16_D...", ldc's "_DThn16_...".
func thunk(name []byte) (function []byte, ok bool) {
	rest, gdc := bytes.CutPrefix(name, []byte("_DTi"))
	if !gdc {
		rest, ok = bytes.CutPrefix(name, []byte("_DThn"))
		if !ok {
			return nil, false
		}
	}

	// The offset, and the name without its _D (gdc keeps the D).
	digits := len(rest) - len(bytes.TrimLeft(rest, "0123456789"))
	rest, ok = bytes.CutPrefix(rest[digits:], []byte("_"))
	if !ok || digits == 0 {
		return nil, false
	}
	if gdc {
		rest, ok = bytes.CutPrefix(rest, []byte("D"))
	}
	if !ok || len(rest) == 0 || !lex.IsDigit(rest[0]) {
		return nil, false
	}
	return append([]byte("_D"), rest...), true
}

const (
	maxDepth = 256
	// maxSteps bounds the work on names whose back references multiply.
	maxSteps = 1 << 16
)

// parser reads a name from front to back and appends text to out. bad stays set after the
// first failure. To follow a back reference, parser sets pos to the target of the
// reference, and restores pos afterwards.
type parser struct {
	in    []byte
	pos   int
	out   []byte
	depth int
	steps int
	bad   bool
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

// peek returns the byte at pos+n, or 0 at the end.
func (p *parser) peek(n int) byte {
	if p.pos+n < len(p.in) {
		return p.in[p.pos+n]
	}
	return 0
}

// take skips s if it is next, and reports whether it was.
func (p *parser) take(s string) bool {
	if bytes.HasPrefix(p.in[p.pos:], []byte(s)) {
		p.pos += len(s)
		return true
	}
	return false
}

func (p *parser) put(s string) { p.out = append(p.out, s...) }

// number reads a decimal number.
func (p *parser) number() (n int) {
	if !lex.IsDigit(p.peek(0)) {
		p.fail()
		return 0
	}
	for lex.IsDigit(p.peek(0)) {
		n = n*10 + int(p.peek(0)-'0')
		if n > 1<<24 { // far above maxInput
			p.fail()
			return 0
		}
		p.pos++
	}
	return n
}

// mangled reads QualifiedName Type, or QualifiedName Z, which has no type.
func (p *parser) mangled() {
	if !p.enter() {
		return
	}
	defer p.leave()
	p.qualified(true)
	if p.take("Z") {
		return
	}

	// The type is read, as the name must be valid to its end, but not written.
	end := len(p.out)
	p.typ()
	p.out = p.out[:end]
}

// backref reads Q and a number in base 26, whose last digit is a lower-case letter, and
// returns the position that many bytes before the Q.
func (p *parser) backref() int {
	q := p.pos
	if !p.take("Q") {
		p.fail()
		return 0
	}

	// Upper-case digits, and a lower-case one at the end.
	for n := 0; ; p.pos++ {
		c := p.peek(0)
		if n > len(p.in) {
			break
		}
		if lex.IsLower(c) {
			p.pos++
			n = n*26 + int(c-'a')
			if n > 0 && n <= q {
				return q - n
			}
			break
		}
		if !lex.IsUpper(c) {
			break
		}
		n = n*26 + int(c-'A')
	}
	p.fail()
	return 0
}

// at runs f at position back, and then continues where it was.
func (p *parser) at(back int, f func()) {
	if p.bad || !p.enter() {
		return
	}
	defer p.leave()
	next := p.pos
	p.pos = back
	f()
	p.pos = next
}

// isName reports whether a SymbolName is next.
func (p *parser) isName() bool {
	switch c := p.peek(0); {
	case lex.IsDigit(c):
		return true
	case c == '_':
		return p.peek(1) == '_' && (p.peek(2) == 'T' || p.peek(2) == 'U')
	case c == 'Q':
		look := *p
		back := look.backref()
		return !look.bad && lex.IsDigit(p.in[back])
	}
	return false
}

// qualified reads a QualifiedName and writes its identifiers with dots between them. An
// identifier of a function is followed by its parameters and, if modifiers is set, by
// the modifiers of a method's this.
func (p *parser) qualified(modifiers bool) {
	for first := true; !p.bad && (first || p.isName()); {
		if p.take("0") { // anonymous
			for p.take("0") {
			}
			if !p.isName() {
				break
			}
			continue
		}

		// A name with a dot before it.
		if !first {
			p.put(".")
		}
		first = false
		p.identifier()
		if p.bad || p.peek(0) != 'M' && !p.isCallConvention() {
			continue
		}

		// Text that looks like a function's parameters is the type of a variable if nothing
		// follows it.
		look := *p
		mods := ""
		if look.take("M") {
			mods = look.modifiers()
		}
		look.signature(nil, nil)
		if modifiers {
			look.put(mods)
		}
		if look.bad || look.pos >= len(look.in) {
			p.steps = look.steps
			break
		}
		*p = look
	}
}

// identifier reads one name: plain, a template instance or a reference.
func (p *parser) identifier() {
	if !p.enter() {
		return
	}
	defer p.leave()

	// A reference to an identifier before it, a template instance, or a length and a
	// name.
	switch c := p.peek(0); {
	case c == 'Q':
		back := p.backref()
		p.at(back, p.lname)
	case c == '_':
		p.template(-1)
	default:
		start := p.pos
		n := p.number()
		if p.bad || n == 0 || n > len(p.in)-p.pos {
			p.fail()
			return
		}
		name := p.in[p.pos : p.pos+n]
		switch {
		case n >= 5 && (bytes.HasPrefix(name, []byte("__T")) || bytes.HasPrefix(name, []byte("__U"))):
			p.template(n)
		case n >= 4 && bytes.HasPrefix(name, []byte("__S")) && allDigits(name[3:]):
			// An artificial parent, which distinguishes names in one function.
			p.pos += n
			p.identifier()
		default:
			p.pos = start
			p.lname()
		}
	}
}

func allDigits(s []byte) bool {
	for _, b := range s {
		if !lex.IsDigit(b) {
			return false
		}
	}
	return true
}

// specialNames maps names that compilers make to the text of a function, or to a kind that
// is put before the whole name.
var specialNames = [...]struct {
	name string // and the letters that must follow it
	keep int    // how many of these letters are not part of the name
	text string
	kind string
}{
	{"__ctor", 0, "this", ""},
	{"__dtor", 0, "~this", ""},
	{"__postblitMFZ", 0, "this(this)", ""},
	{"__initZ", 1, "", "initializer for "},
	{"__vtblZ", 1, "", "vtable for "},
	{"__ClassZ", 1, "", "ClassInfo for "},
	{"__InterfaceZ", 1, "", "Interface for "},
	{"__ModuleInfoZ", 1, "", "ModuleInfo for "},
}

// lname reads a length and a name.
func (p *parser) lname() {
	n := p.number()
	if p.bad || n == 0 || n > len(p.in)-p.pos {
		p.fail()
		return
	}

	rest := p.in[p.pos:]

	// Names with a meaning, if the length is theirs.
	for _, s := range specialNames {
		if !bytes.HasPrefix(rest, []byte(s.name)) {
			continue
		}

		// The length counts the name only; that of a postblit has a fixed signature.
		end := len(s.name) - s.keep
		if s.text == "this(this)" && n != len("__postblit") || s.text != "this(this)" && n != end {
			continue
		}
		p.pos += end
		p.put(s.text)
		if s.kind != "" {
			p.out = append([]byte(s.kind), bytes.TrimSuffix(p.out, []byte("."))...)
		}
		return
	}
	p.out = append(p.out, rest[:n]...)
	p.pos += n
}
