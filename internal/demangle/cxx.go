package demangle

import (
	"bytes"
	"encoding/binary"

	"github.com/ianlancetaylor/demangle"
)

// cxxOptions are the library's options: no suffixes of copies (clones), and at most
// 2^16 bytes, MaxLength. Rust's names are never given to the library.
var cxxOptions = []demangle.Option{demangle.NoClones, demangle.NoRust, demangle.MaxLength(16)}

const (
	// cxxMaxInput bounds the names that the library is given, as its time grows with
	// the square of the depth of types. Compilers write names of a few thousand
	// bytes. Of longer names those that cxxTree does not know stay mangled.
	cxxMaxInput = 1 << 14
	// cxxMaxRun is the most upper-case letters in a row: each is one level of
	// pointers, references, packs or functions.
	cxxMaxRun = 256
)

// isDeep reports whether a name may have types nested more deeply than programs do.
func isDeep(name []byte) bool {
	run := 0
	for _, b := range name {
		if !isUpper(b) {
			run = 0
			continue
		}
		run++
		if run > cxxMaxRun {
			return true
		}
	}
	return false
}

// cxx demangles the names of the Itanium C++ ABI. cxxTree demangles most of them, at a
// tenth of the library's cost. The library gets the others: names with rare
// expressions, conversions to template parameters and the like, and damaged names.
func (d *Demangler) cxx(name []byte) (text string, ok bool) {
	text, ok = d.cxxFast(name, false)
	if ok || isDeep(name) {
		return text, ok
	}

	// The library writes constraints, cxxTree does not. So cxxTree gets only those
	// constrained names that the library misreads or refuses.
	if !IsMisread(name) && len(name) <= cxxMaxInput {
		text, ok = cxxLibrary(name)
		if ok {
			return text, true
		}
	}
	return d.cxxFast(name, true)
}

// cxxFast demangles the names that cxxTree reads, those of constrained templates only if
// constrained is set. The text is exactly the library's, except for names that the library
// misreads (IsMisread) and for constraints, which are left out.
func (d *Demangler) cxxFast(name []byte, constrained bool) (text string, ok bool) {
	rest, ok := bytes.CutPrefix(name, []byte("_Z"))
	if !ok {
		return "", false
	}

	// A name that is invalid by Clang's rule for scopes is read again by GCC's.
	x := &d.tree
	x.reset(rest, scopeUnknown, constrained)
	out := x.text(x.encoding(false))
	if x.failed && x.scopes == scopeClang {
		x.reset(rest, scopeGCC, constrained)
		out = x.text(x.encoding(false))
	}
	if x.failed || len(out) > MaxLength {
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

// IsMisread reports whether github.com/ianlancetaylor/demangle is known to read a C++ name wrongly,
// maybe without an error, because of the scope of a dependent name (see cxx_scope.go).
// In state.unresolvedName of version 2026-07-24:
//   - after sr and a digit, each template becomes a candidate for substitution. In Clang's
//     sr3hasIT_EE5value no template is one, so that all later substitutions refer to other
//     candidates;
//   - GCC's sr3hasIT_E5value is refused, or the text after it is taken for a part of the scope;
//   - GCC's srN2ns3hasIT_EE5value and srNT_4typeE5value lack candidates.
//
// Clang's sr3stdE7declval, a list of plain names, is read rightly.
//
// The letters may also be part of an identifier. A name for which that is so, and which cxxTree
// does not know, stays mangled. Once the library is mended, IsMisread is superfluous.
func IsMisread(name []byte) bool {
	for {
		_, rest, ok := bytes.Cut(name, []byte("sr"))
		if !ok {
			return false
		}
		if len(rest) > 0 && (rest[0] == 'N' || isDigit(rest[0]) && !isPlainScope(rest)) {
			return true
		}
		name = rest
	}
}

// isPlainScope reports whether rest begins with source names, an E and one more source name, as
// Clang writes a scope without templates and the name in it.
func isPlainScope(rest []byte) bool {
	for len(rest) > 0 && isDigit(rest[0]) {
		// A source name: its length, and that many bytes.
		n := 0
		for len(rest) > 0 && isDigit(rest[0]) && n <= len(rest) {
			n, rest = 10*n+int(rest[0]-'0'), rest[1:]
		}
		if n >= len(rest) {
			return false
		}
		rest = rest[n:]
	}
	return len(rest) > 1 && rest[0] == 'E' && isDigit(rest[1])
}

// cxxLibrary demangles with the library.
func cxxLibrary(name []byte) (text string, ok bool) {
	defer func() {
		// A forged name on which the library panics must not end the run.
		if recover() != nil {
			text, ok = "", false
		}
	}()
	text, err := demangle.ToString(string(name), cxxOptions...)
	return text, err == nil
}
