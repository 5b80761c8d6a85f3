// Package demangle turns linkage names into readable ones. It recognizes names of C++, Rust
// (both manglings), D, Swift, Fortran modules and OCaml by their form. Names of Ada, of Swift 4.0
// and of Fortran procedures outside of modules are demangled only if the unit's language is
// known, since a C function can have such a name.
//
// The package is pure. Names come from files that may be hostile: no input causes a panic,
// and demangled names have at most MaxLength bytes.
//
// Most names of large programs are C++'s. cxx.Reader demangles them, nearly all
// of them without allocating. Package check, which verifies names, reads them with other code.
package demangle

import (
	"bytes"
	"sync"
	"unicode/utf8"

	"symkit/internal/demangle/cxx"
	"symkit/internal/demangle/dlang"
	"symkit/internal/demangle/lex"
	"symkit/internal/demangle/rust"
	"symkit/internal/demangle/swift"
)

// MaxLength is the most bytes that a demangled name has.
const MaxLength = lex.MaxLength

// maxInput bounds the length of names, far above the lengths that compilers write, since
// the work grows with it.
const maxInput = 1 << 16

// Languages of units whose names need the language (DWARF 5 §7.12, and the numbers
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

// IsMangled reports whether a linkage name has the form of C++'s, Rust's, D's or Swift's names,
// even if it cannot be demangled.
func IsMangled(linkage []byte) bool {
	if swift.Is(linkage) {
		return true
	}
	if len(linkage) < 3 || linkage[0] != '_' {
		return false
	}
	c := linkage[1]
	return c == 'Z' || c == 'R' || c == 'D' && lex.IsDigit(linkage[2])
}

// IsLabel reports whether a linkage name from a unit of language lang, a DW_LANG
// number, is an assembler label rather than a mangled name. A name for which IsMangled
// is true is no label in any language.
func IsLabel(lang uint16, linkage []byte) bool {
	if IsMangled(linkage) {
		return false
	}

	// A name that no scheme can read is a label.
	_, ok := ForLanguage(lang, linkage)
	return !ok
}

// IsQualified reports whether a linkage name is readable as it is, and says more than the plain name: it is the plain
// name after a scope and a dot, as Zig's, or has colons, as Mojo's.
func IsQualified(linkage, plain []byte) bool {
	if len(plain) == 0 {
		return false
	}
	scope, ok := bytes.CutSuffix(linkage, plain)
	return ok && len(scope) > 1 && scope[len(scope)-1] == '.' || bytes.Contains(linkage, []byte("::"))
}

// Demangler demangles many names. It reuses its memory from name to name, and puts the
// texts into shared buffers: the memory of a buffer is released once none of its texts
// is referenced. A Demangler is not safe for concurrent use. The zero Demangler is
// ready to use.
type Demangler struct {
	// Keep, if it is not nil, returns a copy of text in the caller's memory; text is
	// only valid during the call. If ok is false, the Demangler copies the text.
	Keep func(text []byte) (kept string, ok bool)

	cxx   cxx.Reader
	swift swift.Reader
	texts texts
	ascii bool // see ASCII
}

// demanglers are used by Demangle and ForLanguage. Each of their texts has its own
// memory.
var demanglers = sync.Pool{New: func() any { return &Demangler{texts: texts{single: true}} }}

// Demangle returns the readable form of a linkage name of unknown language. If ok is
// false, text is the linkage name itself. A plain C name is never changed, except that
// the suffix of a compiler's copy is removed (see Base).
func Demangle(linkage []byte) (text string, ok bool) { return ForLanguage(0, linkage) }

// ForLanguage is Demangle for a name from a unit of language lang, a DW_LANG number.
// It also demangles names that have the form of C's, if the language has such names,
// and never changes the names of Go and Zig, which have dots of their own.
func ForLanguage(lang uint16, linkage []byte) (text string, ok bool) {
	d := demanglers.Get().(*Demangler)
	defer demanglers.Put(d)
	return d.ForLanguage(lang, linkage)
}

// ForLanguage is like the function ForLanguage.
func (d *Demangler) ForLanguage(lang uint16, linkage []byte) (text string, ok bool) {
	d.ascii = false
	if len(linkage) > maxInput || lang == langGo || lang == langZig {
		return string(linkage), false
	}

	text, ok = d.schemes(lang, linkage)
	if ok && (d.ascii || fits(text, linkage)) {
		return text, true
	}

	base := lex.Base(linkage)
	return string(base), len(base) < len(linkage)
}

// ASCII reports whether the last result of ForLanguage is known to have only printable
// ASCII characters. For C++ it is known if the linkage name, which is shorter, has only
// such characters.
func (d *Demangler) ASCII() bool { return d.ascii }

// schemes tries one mangling scheme after the other. The functions for C++ and Rust handle
// the suffixes of copies themselves.
func (d *Demangler) schemes(lang uint16, linkage []byte) (text string, ok bool) {
	// Schemes that need the language.
	switch lang {
	case langAda83, langAda95, langAda2005, langAda2012:
		text, ok = ada(lex.Base(linkage))
	case langSwift:
		text, ok = d.swiftText(linkage, true)
	default:
		text, ok = d.swiftText(linkage, false)
	}

	if !ok {
		text, ok = d.mangled(linkage)
	}
	if ok {
		return text, true
	}

	// Schemes for names without suffixes.
	base := lex.Base(linkage)
	text, ok = other(base)
	switch lang {
	case langFortran77, langFortran90, langFortran95, langFortran03, langFortran08, langFortran18:
		if !ok {
			text, ok = fortran(base)
		}
	}
	return text, ok
}

// fits reports whether text may replace linkage: text is not too long, and is valid
// UTF-8 unless linkage is not.
func fits(text string, linkage []byte) bool {
	return len(text) > 0 && len(text) <= MaxLength && (utf8.ValidString(text) || !utf8.Valid(linkage))
}

// cxxText is cxx.Reader.Name with the text as a string.
func (d *Demangler) cxxText(name []byte) (string, bool) {
	text, ascii, ok := d.cxx.Name(name)
	if !ok {
		return "", false
	}
	d.ascii = ascii
	if d.Keep != nil {
		if kept, ok := d.Keep(text); ok {
			return kept, true
		}
	}
	return d.texts.add(text), true
}

// swiftText is swift.Reader.Name with the text as a string.
func (d *Demangler) swiftText(name []byte, known bool) (string, bool) {
	text, ok := d.swift.Name(name, known)
	if !ok {
		return "", false
	}
	return d.texts.add(text), true
}

// IsSwift reports whether a linkage name has the form of Swift's, from Swift 4.2 on, even if it cannot be
// demangled. Such a name says more than the plain name, which is the same for all functions that the compiler
// derives from one.
func IsSwift(name []byte) bool { return swift.Is(name) }

// Base returns a linkage name without the suffixes of copies: "parse" for "parse.constprop.0.cold". A number
// alone ("inner.3", a nested function) is no suffix.
func Base(linkage []byte) []byte { return lex.Base(linkage) }

// mangled tries the schemes that handle the suffixes of copies themselves.
func (d *Demangler) mangled(name []byte) (string, bool) {
	if len(name) < 3 || name[0] != '_' {
		return "", false
	}
	switch {
	case name[1] == 'R':
		return rust.V0(name)
	case name[1] == 'Z':
		if text, ok := rust.Legacy(name); ok {
			return text, true
		}
		return d.cxxText(name)
	case bytes.HasPrefix(name, []byte("___Z")), bytes.HasPrefix(name, []byte("_GLOBAL_")):
		return d.cxxText(name)
	}
	return "", false
}

// other tries the schemes for names without the suffixes of copies.
func other(name []byte) (string, bool) {
	switch {
	case bytes.HasPrefix(name, []byte("_D")):
		return dlang.Text(name)
	case bytes.HasPrefix(name, []byte("__")):
		return fortranModule(name)
	case bytes.HasPrefix(name, []byte("_Q")):
		return flang(name)
	case bytes.HasPrefix(name, []byte("caml")):
		return ocaml(name)
	}
	return "", false
}
