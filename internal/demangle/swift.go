package demangle

import "strings"

// Swift's names (docs/ABI/Mangling.rst in Swift's repository) are a program in reverse Polish
// notation: identifiers and types are pushed, operators pop what they are made of and push the
// result. swiftReader runs it to the end and builds nodes; swiftPrinter writes them in the
// spelling of "swift demangle --simplified": no modules, no types of parameters, no results.
// What is not read completely is not demangled at all: a name of which a part is not
// understood may be that of another function.

// swiftPrefixes are the prefixes of names, from Swift 4 on. The names with _T0 have the labels of
// parameters in their types.
var swiftPrefixes = [...]string{"$s", "_$s", "$S", "_$S", "$e", "_$e", "_T0", "@__swiftmacro_"}

// swiftCut returns a name without its prefix.
func swiftCut(name string) (rest, prefix string) {
	for _, p := range &swiftPrefixes {
		if rest, ok := strings.CutPrefix(name, p); ok {
			return rest, p
		}
	}
	return "", ""
}

// IsSwift reports whether a linkage name has the form of Swift's, from Swift 4.2 on, even if it cannot be
// demangled. Such a name says more than the plain name, which is the same for all
// functions that the compiler derives from one.
func IsSwift(name []byte) bool {
	rest := name
	if len(rest) > 0 && rest[0] == '_' {
		rest = rest[1:]
	}
	if len(rest) < 4 || rest[0] != '$' || rest[1] != 's' && rest[1] != 'S' && rest[1] != 'e' {
		return false
	}
	return isWord(rest[2:3]) && rest[2] != '_'
}

// swift demangles a name of Swift. Unless it is known to be one, it must have a prefix that names in other
// languages do not have.
func (d *Demangler) swift(name []byte, known bool) (string, bool) {
	if len(name) < 3 || name[0] != '$' && name[0] != '_' && name[0] != '@' || !known && !IsSwift(name) {
		return "", false
	}
	rest, prefix := swiftCut(string(name))
	if rest == "" {
		return "", false
	}

	r := &d.swiftReader
	defer r.release()
	r.begin(rest, prefix == "_T0")
	if !r.all() {
		return "", false
	}

	p := swiftPrinter{swiftArena: &r.swiftArena, out: r.out[:0]}
	p.maxSteps, p.maxBytes = swiftMost(len(rest))
	ok := p.symbol(r.stack)
	r.out = p.out
	if !ok || len(p.out) == 0 {
		return "", false
	}
	return d.texts.add(p.out), true
}

// all reads the whole name.
func (r *swiftReader) all() bool {
	for r.pos < len(r.in) {
		n := r.operator()
		if n == 0 || !r.push(n) {
			return false
		}
	}
	return len(r.stack) > 0
}

// release frees the memory of a name that was larger than usual.
func (r *swiftReader) release() {
	const usual = 1 << 12
	if cap(r.nodes) > usual || cap(r.kids) > 4*usual || cap(r.out)+cap(r.scratch) > 4*usual {
		*r = swiftReader{}
		return
	}
	clear(r.nodes) // which refer to the text of the name
	clear(r.words)
	r.in = ""
}
