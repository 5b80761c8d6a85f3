// Package cxx demangles the names of the Itanium C++ ABI.
package cxx

import (
	"bytes"

	"symkit/internal/demangle/lex"
)

// Reader demangles many names. It reuses its memory, and parts of the name before. The zero Reader is ready to use.
type Reader struct{ tree tree }

// Name returns the readable form of a name, which is valid until the next call. What follows after a dot is the
// suffix of a copy, and not written. ascii reports that the text is known to have only printable ASCII characters.
func (r *Reader) Name(name []byte) (text []byte, ascii, ok bool) {
	switch {
	case bytes.HasPrefix(name, []byte("_GLOBAL_")):
		text, ok := r.global(name[len("_GLOBAL_"):])
		return []byte(text), false, ok
	case bytes.HasPrefix(name, []byte("___Z")):
		text, ok := r.block(name[len("__"):])
		return []byte(text), false, ok
	}
	rest, ok := bytes.CutPrefix(name, []byte("_Z"))
	if !ok {
		return nil, false, false
	}

	// Everything that is not copied from the name is ASCII.
	text, ok = r.encoding(rest)
	return text, len(text) > 0 && lex.IsPrintable(name), ok
}

// encoding returns the text of a name without _Z, valid until the next call.
func (r *Reader) encoding(name []byte) (text []byte, ok bool) {
	// A name that is invalid by one compiler's rule for scopes is read again by the other's.
	x := &r.tree
	x.reset(name, scopeUnknown)
	text = x.complete()
	if x.failed && x.scopes != scopeUnknown {
		x.reset(name, scopeClang+scopeGCC-x.scopes)
		text = x.complete()
	}
	return text, !x.failed && len(text) <= lex.MaxLength
}

// complete reads the whole name and returns its text.
func (x *tree) complete() []byte {
	a := x.encoding(false)
	if x.pos < len(x.in) && x.peek() != '.' {
		x.fail()
	}
	return x.text(a)
}

// block reads the name of clang's function for a block: the name of the function around it,
// _block_invoke, and maybe a number.
func (r *Reader) block(name []byte) (text string, ok bool) {
	const mark = "_block_invoke"
	at := bytes.LastIndex(name, []byte(mark))
	if at < len("_Z") {
		return "", false
	}
	number := bytes.TrimLeft(lex.Base(name[at+len(mark):]), "_.")
	if !isNumber(number) {
		return "", false
	}
	out, ok := r.encoding(name[len("_Z"):at])
	return "invocation function for block in " + string(out), ok
}

// global reads the rest of _GLOBAL_, a letter, I or D, and _: the name of a function that
// runs constructors or destructors of a unit, which is called after something in the unit.
func (r *Reader) global(rest []byte) (text string, ok bool) {
	if len(rest) < len("_I_x") || bytes.IndexByte([]byte("._$"), rest[0]) < 0 || rest[2] != '_' {
		return "", false
	}
	what := map[byte]string{'I': "constructors", 'D': "destructors"}[rest[1]]
	if what == "" {
		return "", false
	}

	name := string(rest[len("_I_"):])
	if mangled, ok := bytes.CutPrefix(rest[len("_I_"):], []byte("_Z")); ok {
		out, ok := r.encoding(mangled)
		if !ok {
			return "", false
		}
		name = string(out)
	}
	return "global " + what + " keyed to " + name, true
}

// isNumber reports whether s has only digits.
func isNumber(s []byte) bool { return len(bytes.TrimLeft(s, "0123456789")) == 0 }

// reset prepares x for the name in; scopes is the rule for its scopes, if known.
func (x *tree) reset(in []byte, scopes scopeRule) {
	x.sameParts(in)
	*x = tree{
		scopes: scopes, forced: scopes != scopeUnknown, in: append(x.in[:0], in...), same: x.same, parts: x.parts, partAt: x.partAt, written: x.written[:0],
		nodes: append(x.nodes[:0], node{}), elems: x.elems[:0], open: x.open[:0], subs: x.subs[:0],
		out: x.out[:0], inner: x.inner[:0],
	}
}
