package rust

import "strings"

// basicTypes maps tags of one letter to the basic types.
var basicTypes = [256]string{
	'a': "i8", 'b': "bool", 'c': "char", 'd': "f64", 'e': "str", 'f': "f32", 'h': "u8", 'i': "isize", 'j': "usize",
	'l': "i32", 'm': "u32", 'n': "i128", 'o': "u128", 's': "i16", 't': "u16", 'u': "()", 'v': "...", 'x': "i64",
	'y': "u64", 'z': "!", 'p': "_",
}

// typ reads a type: its tag decides which of the grammar's rules follows. A letter that is no
// tag of a type begins a path.
func (p *parser) typ() {
	if !p.enter() {
		return
	}
	defer p.leave()

	if p.take('w') { // a parameter that takes a tuple's elements as arguments
		p.put("#[splat] ")
	}
	tag := p.next()
	if s := basicTypes[tag]; s != "" {
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
			p.constant(true)
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

	// A type with a restricted set of values.
	case 'W':
		p.typ()
		p.put(" is ")
		p.pattern()

	case 'B':
		p.backref(p.typ)
	default:
		p.pos--
		p.path(false)
	}
}

// function reads the signature of a function pointer.
func (p *parser) function() {
	if p.take('U') {
		p.put("unsafe ")
	}
	if p.take('K') {
		abi := "C"
		if !p.take('C') {
			if p.peek() == 'u' {
				p.fail() // no ABI has such a name
			}
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
func (p *parser) bounds() {
	for n := 0; !p.bad && !p.take('E'); n++ {
		if n > 0 {
			p.put(" + ")
		}

		// Associated types and constants join the arguments of the path.
		open := p.openPath()
		for !p.bad && p.take('p') {
			if open {
				p.put(", ")
			} else {
				p.put("<")
				open = true
			}
			p.put(p.plainIdentifier() + " = ")
			if p.take('K') {
				p.constant(false)
			} else {
				p.typ()
			}
		}
		if open {
			p.put(">")
		}
	}
}

// openPath reads a path. If the path has arguments, openPath writes no closing bracket,
// so that associated types and constants can follow, and returns true.
func (p *parser) openPath() (open bool) {
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

// pattern reads the values that a type is restricted to: a range, several patterns, or all but
// null.
func (p *parser) pattern() {
	if !p.enter() {
		return
	}
	defer p.leave()

	switch p.next() {
	case 'R':
		p.constant(false)
		p.put("..=")
		p.constant(false)
	case 'O':
		p.pattern()
		for !p.bad && !p.take('E') {
			p.put(" | ")
			p.pattern()
		}
	case 'N':
		p.put("!null")
	default:
		p.fail()
	}
}
