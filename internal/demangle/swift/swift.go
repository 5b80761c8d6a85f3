// Package swift demangles the names of Swift. These (docs/ABI/Mangling.rst in Swift's repository) are a program in reverse Polish
// notation: identifiers and types are pushed, operators pop what they are made of and push the
// result. Reader runs it to the end and builds nodes; printer writes them in the
// spelling of "swift demangle --simplified": no modules, no types of parameters, no results.
// What is not read completely is not demangled at all: a name of which a part is not
// understood may be that of another function.
package swift

import (
	"strings"

	"symkit/internal/demangle/lex"
)

// prefixes are the prefixes of names, from Swift 4 on. The names with _T0 have the labels of
// parameters in their types.
var prefixes = [...]string{"$s", "_$s", "$S", "_$S", "$e", "_$e", "_T0", "@__swiftmacro_"}

// cut returns a name without its prefix.
func cut(name string) (rest, prefix string) {
	for _, p := range &prefixes {
		if rest, ok := strings.CutPrefix(name, p); ok {
			return rest, p
		}
	}
	return "", ""
}

// Is reports whether a linkage name has the form of Swift's, from Swift 4.2 on, even if it cannot be
// demangled. Such a name says more than the plain name, which is the same for all
// functions that the compiler derives from one.
func Is(name []byte) bool {
	rest := name
	if len(rest) > 0 && rest[0] == '_' {
		rest = rest[1:]
	}
	if len(rest) < 4 || rest[0] != '$' || rest[1] != 's' && rest[1] != 'S' && rest[1] != 'e' {
		return false
	}
	return lex.IsWord(rest[2:3]) && rest[2] != '_'
}

// Name returns the readable form of a name of Swift, which is valid until the next call. Unless the name is known
// to be one of Swift, it must have a prefix that names in other languages do not have.
func (r *Reader) Name(name []byte, known bool) (text []byte, ok bool) {
	if len(name) < 3 || name[0] != '$' && name[0] != '_' && name[0] != '@' || !known && !Is(name) {
		return nil, false
	}
	rest, prefix := cut(string(name))
	if rest == "" {
		return nil, false
	}

	defer r.release()
	r.begin(rest, prefix == "_T0")
	for r.pos < len(r.in) {
		n := r.operator()
		if n == 0 || !r.push(n) {
			return nil, false
		}
	}
	if len(r.stack) == 0 {
		return nil, false
	}

	p := printer{arena: &r.arena, out: r.out[:0]}
	p.maxSteps, p.maxBytes = most(len(rest))
	ok = p.symbol(r.stack)
	r.out = p.out
	return p.out, ok && len(p.out) > 0
}

// release frees the memory of a name that was larger than usual.
func (r *Reader) release() {
	const usual = 1 << 12
	if cap(r.nodes) > usual || cap(r.kids) > 4*usual || cap(r.out)+cap(r.scratch) > 4*usual {
		*r = Reader{}
		return
	}
	clear(r.nodes) // which refer to the text of the name
	clear(r.words)
	r.in = ""
}
