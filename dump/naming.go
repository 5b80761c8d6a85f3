package dump

import (
	"bytes"

	"symkit/dump/dwarfx"
	"symkit/internal/demangle"
)

// omitted is the name of what has none, as both peers write it.
const omitted = "<name omitted>"

// naming is what names a function, before any of it is turned into text.
type naming struct {
	// key is the linkage name or, without one, the plain name. Two functions
	// with the same key are the same.
	key []byte
	// name is the plain name; the scope around decl, in unit, belongs to it.
	name []byte
	decl dwarfx.Ref
	unit *dwarfx.Unit
	// language is that of the function's own unit: the partial units of dwz do
	// not tell theirs.
	language dwarfx.Language
	linkage  bool // key is a linkage name
	lost     bool // see dwarfx.Naming
	placed   bool // scope is known
	// scope is what goes in front of a plain name.
	scope string
	text  string // what is written, once it is known
}

// complete completes what a DIE of u itself says by what its origin says, as far
// as that was found without an error.
func complete(u *dwarfx.Unit, own, more dwarfx.Naming, err error) naming {
	if err == nil && more.Unit != nil {
		own.Linkage, own.Decl, own.Unit = more.Linkage, more.Decl, more.Unit
		if own.Name == nil {
			own.Name = more.Name
		}
	}
	own.Lost = own.Lost || more.Lost
	n := naming{key: own.Linkage, name: own.Name, decl: own.Decl, unit: own.Unit, language: u.Language, lost: own.Lost}
	if n.isLabel() {
		n.key = nil
	}
	if n.linkage = len(n.key) > 0; !n.linkage {
		// gnat's plain names are encoded like linkage names: pkg__sub. Those of Nim, which is
		// compiled by way of C, are mangled as C++'s: _ZN4shop3addE.
		n.key, n.linkage = n.name, u.Language.IsAda() || bytes.HasPrefix(n.name, []byte("_Z"))
	}
	return n
}

// isLabel reports whether the linkage name is an assembler label, as of void warn(void)
// __asm__("__GI_warn"), beside which there is a plain name. Several functions can share a label,
// so that it does not tell them apart. Ada's plain names are encoded, and no
// better than a label.
func (n *naming) isLabel() bool {
	return len(n.key) > 0 && len(n.name) > 0 && !n.language.IsAda() && demangle.IsLabel(uint16(n.language), n.key)
}

// namingOf is what names f: its DIE, or, where that has no name, as when the
// supplementary file with it is missing, the symbol there.
func (d *dumper) namingOf(f *fn) *naming {
	n := d.declared(f)
	if !n.lost && (len(n.key) > 0 || len(n.name) > 0) {
		return n
	}
	aliases := d.syms.at(f.lo)
	if len(aliases) == 0 || aliases[0].rank >= label {
		return n
	}
	symbol := *n
	symbol.key, symbol.linkage = demangle.Base(aliases[0].name), true
	return &symbol
}

// scoped tells whether the same key in another scope is another name.
func (n *naming) scoped() bool { return !n.linkage && n.language.Separator() != "" }

// wantsScope tells whether readable will be plain; only names that are surely mangled
// are not demangled for that. Of the others text is known then.
func (n *naming) wantsScope(demangler *demangle.Demangler) bool {
	switch {
	case len(n.name) == 0 || n.language.Separator() == "":
		return false
	case !n.linkage:
		return true
	case demangle.Sure(n.key):
		return false
	}
	text, ok := demangler.ForLanguage(uint16(n.language), n.key)
	if ok {
		n.text = text
	}
	return !ok
}

// readable is the name to write; plain tells that its scope is to be put in front.
// A linkage name that is not mangled is written only where there is no plain name.
func (n *naming) readable(demangler *demangle.Demangler) (text string, plain bool) {
	if n.linkage {
		if text, ok := demangler.ForLanguage(uint16(n.language), n.key); ok {
			return text, false
		}
	}
	switch {
	case len(n.name) > 0:
		return string(n.name), n.language.Separator() != ""
	case len(n.key) > 0:
		return string(n.key), false
	}
	return omitted, false
}
