// Package demangle turns linkage names into what people read: the names of C++,
// Rust (both manglings), D, Fortran modules and OCaml by what they look like;
// those of Ada, Swift and of Fortran's procedures only where the language of the
// unit says so, since a C function can have such a name.
//
// The package is pure. Names come from files that may be made up: no input
// makes it fail, and what it returns has at most MaxLength bytes.
package demangle

import (
	"bytes"
	"sync"
	"unicode/utf8"
)

// MaxLength is the most bytes that a demangled name has.
const MaxLength = 1 << 16

// maxInput bounds what is demangled, far above what compilers write, since work
// grows with it.
const maxInput = 1 << 16

// Languages of units that have a say in names (DWARF 5 §7.12, and the numbers
// assigned since).
const (
	langAda83     = 0x03
	langFortran77 = 0x07
	langFortran90 = 0x08
	langAda95     = 0x0d
	langFortran95 = 0x0e
	langGo        = 0x16
	langSwift     = 0x1e
	langFortran03 = 0x22
	langFortran08 = 0x23
	langZig       = 0x27
	langFortran18 = 0x2d
	langAda2005   = 0x2e
	langAda2012   = 0x2f
)

// Sure tells the linkage names of C++ and Rust that can hardly stay as they are: all
// but those with an unresolved scope, which old compilers mangle in their own way.
func Sure(linkage []byte) bool {
	if len(linkage) < 3 || linkage[0] != '_' || linkage[1] != 'Z' && linkage[1] != 'R' {
		return false
	}
	return !bytes.Contains(linkage, []byte("sr"))
}

// IsLabel reports whether a linkage name from a unit of language lang stays as it is, so that
// it is no more than an assembler label. Names that look like those of C++, Rust or D
// are none, even if they cannot be demangled.
func IsLabel(lang uint16, linkage []byte) bool {
	if len(linkage) >= 3 && linkage[0] == '_' {
		switch c := linkage[1]; {
		case c == 'Z', c == 'R', c == 'D' && isDigit(linkage[2]):
			return false
		}
	}
	_, ok := ForLanguage(lang, linkage)
	return !ok
}

// Demangler turns many names into text. It uses its memory again, and the texts
// share large pieces of some: none is given up before all of a piece are. It is
// for one goroutine; the zero one is ready.
type Demangler struct {
	// Keep, if it is set, makes a string of a text, which will change, in memory of
	// the caller's. If ok is false it has none.
	Keep func(text []byte) (kept string, ok bool)

	tree  cxxTree
	texts texts
	ascii bool // see ASCII
}

// demanglers are those not in use by Demangle and ForLanguage, each of whose
// texts has its own memory.
var demanglers = sync.Pool{New: func() any { return &Demangler{texts: texts{single: true}} }}

// Demangle returns the readable form of a linkage name of unknown language. Ok
// is false for a name that stays as it is, which is then the text: a plain C
// name is never changed, but for the suffix of a compiler's copy (see Base).
func Demangle(linkage []byte) (text string, ok bool) { return ForLanguage(0, linkage) }

// ForLanguage is Demangle for a name from a unit of language lang, a DW_LANG
// number. It also reads what only the language tells from C's names, and leaves
// Go's and Zig's names alone, which have dots of their own.
func ForLanguage(lang uint16, linkage []byte) (text string, ok bool) {
	d := demanglers.Get().(*Demangler)
	defer demanglers.Put(d)
	return d.ForLanguage(lang, linkage)
}

// ForLanguage is the function of that name.
func (d *Demangler) ForLanguage(lang uint16, linkage []byte) (text string, ok bool) {
	d.ascii = false
	if len(linkage) > maxInput || lang == langGo || lang == langZig {
		return string(linkage), false
	}
	if text, ok = d.schemes(lang, linkage); ok && (d.ascii || fits(text, linkage)) {
		return text, true
	}
	base := Base(linkage)
	return string(base), len(base) < len(linkage)
}

// ASCII tells that what ForLanguage returned last is surely of printable ASCII alone: in
// C++ it is where the linkage name is, which is shorter.
func (d *Demangler) ASCII() bool { return d.ascii }

// schemes tries one after the other. Those of C++ and Rust know suffixes themselves.
func (d *Demangler) schemes(lang uint16, linkage []byte) (text string, ok bool) {
	switch lang {
	case langAda83, langAda95, langAda2005, langAda2012:
		text, ok = ada(Base(linkage))
	case langSwift:
		text, ok = swift(Base(linkage))
	}
	if !ok {
		text, ok = d.mangled(linkage)
	}
	if ok {
		return text, true
	}
	base := Base(linkage)
	text, ok = other(base)
	switch lang {
	case langFortran77, langFortran90, langFortran95, langFortran03, langFortran08, langFortran18:
		if !ok {
			text, ok = fortran(base)
		}
	}
	return text, ok
}

// fits tells whether text can stand for linkage: it is not longer than it may
// be, and not cut inside of a character.
func fits(text string, linkage []byte) bool {
	return len(text) > 0 && len(text) <= MaxLength && (utf8.ValidString(text) || !utf8.Valid(linkage))
}

// mangled handles the schemes whose names have a form of their own, suffixes
// included.
func (d *Demangler) mangled(name []byte) (string, bool) {
	if len(name) < 3 || name[0] != '_' {
		return "", false
	}
	switch {
	case name[1] == 'R':
		return rustV0(name)
	case name[1] == 'Z':
		if text, ok := rustLegacy(name); ok {
			return text, true
		}
		return d.cxx(name)
	case bytes.HasPrefix(name, []byte("___Z")), bytes.HasPrefix(name, []byte("_GLOBAL_")):
		return d.cxx(name)
	}
	return "", false
}

// other handles the schemes that know no suffixes.
func other(name []byte) (string, bool) {
	switch {
	case bytes.HasPrefix(name, []byte("_D")):
		return dlang(name)
	case bytes.HasPrefix(name, []byte("__")):
		return fortranModule(name)
	case bytes.HasPrefix(name, []byte("_Q")):
		return flang(name)
	case bytes.HasPrefix(name, []byte("caml")):
		return ocaml(name)
	}
	return "", false
}
