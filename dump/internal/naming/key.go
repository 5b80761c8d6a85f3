// Package naming makes the names of functions and inlined calls.
//
// It takes DIEs and gives each a number, whose text is the name that is written, in
// four steps:
//
//   - key.go: the Key of a DIE, its linkage name or its plain name and scope;
//   - table.go: the number of each distinct Key;
//   - text.go: the text of each number, made when the number is first given out
//     (scope.go: with the scope of a plain name);
//   - order.go: the texts in the order of INLINE_ORIGIN records.
//
// Equal Keys have one number. The numbers depend on the order in which goroutines request
// them; the texts and their order do not.
//
// A text is made before it is known whether a record needs it: nearly all names of a
// program are written (99.9 % of ceph-osd's 135,940).
package naming

import (
	"bytes"

	"symkit/internal/demangle"
	"symkit/internal/dwarfx"
)

// Omitted is the text for a function without a name in any DIE or symbol, as both
// peers write it.
const Omitted = "<name omitted>"

// Key holds the names of a function as they are in the file, before any text is made of
// them. Two functions with equal keys have the same name.
type Key struct {
	// Linkage is DW_AT_linkage_name, or nil. gnat encodes its plain names like
	// linkage names (pkg__sub), and Nim, which is compiled to C, mangles
	// them like C++ (_ZN4shop3addE): such a DW_AT_name is a linkage name too. An
	// assembler label, as of void warn(void) __asm__("__GI_warn"), is no linkage name
	// if there is a plain name: several functions can share a label. Zig's is one: the
	// plain name with its scope (debug.Dwarf.scanAllUnits).
	Linkage []byte
	// Plain is DW_AT_name, or nil. The scope of Plain is that of Decl, in Unit.
	Plain []byte
	Decl  dwarfx.Ref
	Unit  *dwarfx.Unit
	// Language is that of the function's own unit: the partial units of dwz do
	// not have DW_AT_language.
	Language dwarfx.Language
	// Lost is set if a part of the name is in the supplementary file, which is missing.
	Lost bool
}

// newKey returns the key of a DIE of u that has own as its own names, completed by the
// names of its origin unless err is an error of reading them.
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
	if len(k.Linkage) == 0 && (u.Language.IsAda() || u.Language.IsAssembly() || bytes.HasPrefix(k.Plain, []byte("_Z"))) {
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

// ID returns the linkage name or, without one, the plain name. Keys without scopes
// differ only in their IDs.
func (k *Key) ID() []byte {
	if len(k.Linkage) > 0 {
		return k.Linkage
	}
	return k.Plain
}

// isLabel reports whether the linkage name is an assembler label and there is a plain
// name too. Ada's plain names are encoded, and no better than a label. Haskell's are the name
// of a function in the source, without its module and the same for much code, or
// a number where the compiler made the code (L7133701809754875330 for Main_area_info). Compilers of Fortran other than
// GCC's and LLVM's join the names of a module and its procedure, each otherwise (Intel's mesh_mp_area_): the DWARF has
// both names.
func (k *Key) isLabel() bool {
	if len(k.Linkage) == 0 || len(k.Plain) == 0 || k.Language.IsAda() || k.Language.IsHaskell() {
		return false
	}
	language := uint16(k.Language)
	if k.Language.IsFortran() && !bytes.EqualFold(bytes.TrimRight(k.Linkage, "_"), k.Plain) {
		language = 0
	}
	return demangle.IsLabel(language, k.Linkage) && !k.isQualified()
}

// isQualified reports whether the linkage name is readable and has the scope of the plain name.
func (k *Key) isQualified() bool { return demangle.IsQualified(k.Linkage, k.Plain) }

// IsEmpty reports whether k gives no name.
func (k *Key) IsEmpty() bool { return len(k.Linkage) == 0 && len(k.Plain) == 0 }

// LacksLinkage reports whether k has a plain name alone, of a language whose linkage names have scopes,
// and was declared in a unit without types.
func (k *Key) LacksLinkage() bool { return k.Unit.Typeless && len(k.Plain) > 0 && k.scoped() }

// scoped reports whether the same ID in another scope is another name.
func (k *Key) scoped() bool { return len(k.Linkage) == 0 && k.needsScope() }

// needsScope reports whether the plain name is written with its scope in front.
func (k *Key) needsScope() bool { return k.Language.Separator() != "" && !isMethod(k.Plain) }

// isMethod reports whether a plain name is that of a method in Objective-C, -[Class method:] or
// +[Class(Category) method:], which has its class in it.
func isMethod(plain []byte) bool {
	return bytes.HasPrefix(plain, []byte("-[")) || bytes.HasPrefix(plain, []byte("+["))
}

// equal reports whether k and b are the same name.
func (k *Key) equal(b *Key) bool {
	scoped := k.scoped()
	if string(k.ID()) != string(b.ID()) || scoped != b.scoped() {
		return false
	}
	return !scoped || k.Decl == b.Decl && k.Unit.Data() == b.Unit.Data()
}
