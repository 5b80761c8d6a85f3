package demangle

import (
	"bytes"
	"encoding/binary"

	"symkit/internal/demangle/lex"
)

// cxx demangles the names of the Itanium C++ ABI. What follows after a dot is the suffix of
// a copy, and not written.
func (d *Demangler) cxx(name []byte) (text string, ok bool) {
	switch {
	case bytes.HasPrefix(name, []byte("_GLOBAL_")):
		return d.global(name[len("_GLOBAL_"):])
	case bytes.HasPrefix(name, []byte("___Z")):
		return d.block(name[len("__"):])
	}
	rest, ok := bytes.CutPrefix(name, []byte("_Z"))
	if !ok {
		return "", false
	}
	out, ok := d.encoding(rest)
	if !ok {
		return "", false
	}

	// Everything that is not copied from the name is ASCII.
	d.ascii = len(out) > 0 && isPrintable(name)
	if d.Keep != nil {
		if kept, ok := d.Keep(out); ok {
			return kept, true
		}
	}
	return d.texts.add(out), true
}

// encoding returns the text of a name without _Z, valid until the next call.
func (d *Demangler) encoding(name []byte) (text []byte, ok bool) {
	// A name that is invalid by one compiler's rule for scopes is read again by the other's.
	x := &d.tree
	x.reset(name, scopeUnknown)
	text = x.complete()
	if x.failed && x.scopes != scopeUnknown {
		x.reset(name, scopeClang+scopeGCC-x.scopes)
		text = x.complete()
	}
	return text, !x.failed && len(text) <= MaxLength
}

// complete reads the whole name and returns its text.
func (x *cxxTree) complete() []byte {
	a := x.encoding(false)
	if x.pos < len(x.in) && x.peek() != '.' {
		x.fail()
	}
	return x.text(a)
}

// block reads the name of clang's function for a block: the name of the function around it,
// _block_invoke, and maybe a number.
func (d *Demangler) block(name []byte) (text string, ok bool) {
	const mark = "_block_invoke"
	at := bytes.LastIndex(name, []byte(mark))
	if at < len("_Z") {
		return "", false
	}
	number := bytes.TrimLeft(lex.Base(name[at+len(mark):]), "_.")
	if !isNumber(number) {
		return "", false
	}
	out, ok := d.encoding(name[len("_Z"):at])
	return "invocation function for block in " + string(out), ok
}

// global reads the rest of _GLOBAL_, a letter, I or D, and _: the name of a function that
// runs constructors or destructors of a unit, which is called after something in the unit.
func (d *Demangler) global(rest []byte) (text string, ok bool) {
	if len(rest) < len("_I_x") || bytes.IndexByte([]byte("._$"), rest[0]) < 0 || rest[2] != '_' {
		return "", false
	}
	what := map[byte]string{'I': "constructors", 'D': "destructors"}[rest[1]]
	if what == "" {
		return "", false
	}

	name := string(rest[len("_I_"):])
	if mangled, ok := bytes.CutPrefix(rest[len("_I_"):], []byte("_Z")); ok {
		out, ok := d.encoding(mangled)
		if !ok {
			return "", false
		}
		name = string(out)
	}
	return "global " + what + " keyed to " + name, true
}

// isNumber reports whether s has only digits.
func isNumber(s []byte) bool { return len(bytes.TrimLeft(s, "0123456789")) == 0 }

// isPrintable reports whether s has only printable ASCII characters.
func isPrintable(s []byte) bool {
	const ones = 0x0101010101010101 // times n: n in each byte
	for ; len(s) >= 8; s = s[8:] {
		// One of the sums has the highest bit of a byte outside of 0x20 to 0x7e; the
		// bytes in front of the first such one neither borrow nor carry.
		if x := binary.LittleEndian.Uint64(s); (x|(x-ones*' ')|(x+ones))&(ones*0x80) != 0 {
			return false
		}
	}
	for _, b := range s {
		if b < ' ' || b > '~' {
			return false
		}
	}
	return true
}
