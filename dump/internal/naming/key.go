// Package naming leads from a DIE to the name that is written, in four steps:
//
//   - key.go: what names a DIE, its Key;
//   - table.go: each distinct Key has a number;
//   - text.go: each number has a text, made when the number is first given out
//     (scope.go: with the scope of a plain name);
//   - order.go: texts in the order of INLINE_ORIGIN records.
//
// Nearly all functions and inlined calls of a program have names that are
// written (99.9 % of ceph-osd's 135,940), so no text waits until its name is
// known to be wanted.
package naming

import (
	"bytes"

	"symkit/dump/dwarfx"
	"symkit/internal/demangle"
)

// Omitted is the text of a name that no DIE and no symbol tells, as both peers
// write it.
const Omitted = "<name omitted>"

// Key is what names a function, before any of it is turned into text. Two
// functions with equal keys have the same name.
type Key struct {
	// Linkage is DW_AT_linkage_name, or nil. gnat encodes its plain names like
	// linkage names (pkg__sub), and Nim, which is compiled by way of C, mangles
	// them like C++ (_ZN4shop3addE): such a DW_AT_name is a linkage name too. An
	// assembler label, as of void warn(void) __asm__("__GI_warn"), is none where
	// there is a plain name: several functions can share a label.
	Linkage []byte
	// Plain is DW_AT_name, or nil. The scope of Decl, in Unit, belongs to it.
	Plain []byte
	Decl  dwarfx.Ref
	Unit  *dwarfx.Unit
	// Language is that of the function's own unit: the partial units of dwz do
	// not have DW_AT_language.
	Language dwarfx.Language
	// Lost: a part of the name is in the supplementary file, which is not there.
	Lost bool
}

// newKey returns the key of a DIE of u that has own as its own names, completed
// by what its origin says, if that was read without an error.
func newKey(u *dwarfx.Unit, own, origin dwarfx.Naming, err error) Key {
	if err == nil && origin.Unit != nil {
		own.Linkage, own.Decl, own.Unit = origin.Linkage, origin.Decl, origin.Unit
		if own.Name == nil {
			own.Name = origin.Name
		}
	}

	k := Key{
		Linkage: own.Linkage, Plain: own.Name, Decl: own.Decl, Unit: own.Unit,
		Language: u.Language, Lost: own.Lost || origin.Lost,
	}
	if k.isLabel() {
		k.Linkage = nil
	}
	if len(k.Linkage) == 0 && (u.Language.IsAda() || bytes.HasPrefix(k.Plain, []byte("_Z"))) {
		k.Linkage = k.Plain
	}
	return k
}

// SymbolKey returns k, the key of a function, with the name of the symbol at the
// function's address for a linkage name.
func SymbolKey(symbol []byte, k *Key) Key {
	key := *k
	key.Linkage = demangle.Base(symbol)
	return key
}

// ID is what distinguishes k from keys without scopes: the linkage name or,
// without one, the plain name.
func (k *Key) ID() []byte {
	if len(k.Linkage) > 0 {
		return k.Linkage
	}
	return k.Plain
}

// isLabel reports whether the linkage name is an assembler label beside which there
// is a plain name. Ada's plain names are encoded, and no better than a label.
func (k *Key) isLabel() bool {
	return len(k.Linkage) > 0 && len(k.Plain) > 0 && !k.Language.IsAda() && demangle.IsLabel(uint16(k.Language), k.Linkage)
}

// IsEmpty reports whether k gives no name.
func (k *Key) IsEmpty() bool { return len(k.Linkage) == 0 && len(k.Plain) == 0 }

// scoped reports whether the same ID in another scope is another name.
func (k *Key) scoped() bool { return len(k.Linkage) == 0 && k.Language.Separator() != "" }

// equal reports whether k and b are the same name.
func (k *Key) equal(b *Key) bool {
	scoped := k.scoped()
	if string(k.ID()) != string(b.ID()) || scoped != b.scoped() {
		return false
	}
	return !scoped || k.Decl == b.Decl && k.Unit.Data() == b.Unit.Data()
}
