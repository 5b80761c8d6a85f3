package dwarfx

// Language is a DW_LANG code (DWARF 5 §7.12 and the list kept at dwarfstd.org).
type Language uint16

// languageNames are the DW_LANG codes of DWARF 6's DW_LNAME codes, which have no
// year (dwarfstd.org, "DWARF Version 6 Language Names").
var languageNames = [...]Language{
	0x01: 0x0d, 0x02: 0x25, 0x03: 0x0c, 0x04: 0x04, 0x05: 0x05, // Ada, BLISS, C, C++, Cobol
	0x06: 0x28, 0x07: 0x13, 0x08: 0x20, 0x09: 0x0e, 0x0a: 0x16, // Crystal, D, Dylan, Fortran, Go
	0x0b: 0x18, 0x0c: 0x0b, 0x0d: 0x1f, 0x0e: 0x26, 0x0f: 0x0a, // Haskell, Java, Julia, Kotlin, Modula-2
	0x10: 0x17, 0x11: 0x10, 0x12: 0x11, 0x13: 0x1b, 0x14: 0x15, // Modula-3, Objective-C, Objective-C++, OCaml, OpenCL C
	0x15: 0x09, 0x16: 0x0f, 0x17: 0x14, 0x18: 0x24, 0x19: 0x1c, // Pascal, PL/I, Python, RenderScript, Rust
	0x1a: 0x1e, 0x1b: 0x12, 0x1c: 0x27, 0x1d: 0x31, // Swift, UPC, Zig, assembly
}

// languageOf returns the DW_LANG code of a DW_LNAME code, 0 for an unknown one.
func languageOf(name uint64) Language {
	if name < uint64(len(languageNames)) {
		return languageNames[name]
	}
	return 0
}

// isC reports whether the language has C's types, which contain nothing but data.
func (l Language) isC() bool {
	switch l {
	case 0x01, 0x02, 0x0c, 0x1d, 0x2c, 0x3e, // C89, C, C99, C11, C17, C23
		0x12, 0x15: // UPC, OpenCL C
		return true
	}
	return false
}

// isCxx reports whether the language is C++, of any year, or Objective-C++.
func (l Language) isCxx() bool {
	switch l {
	case 0x04, 0x19, 0x1a, 0x21, 0x2a, 0x2b, 0x3a, 0x11:
		return true
	}
	return false
}

// IsAda reports whether the language is Ada, of any year.
func (l Language) IsAda() bool {
	return l == 0x03 || l == 0x0d || l == 0x2e || l == 0x2f
}

// IsFortran reports whether the language is Fortran, of any year.
func (l Language) IsFortran() bool {
	switch l {
	case 0x07, 0x08, 0x0e, 0x22, 0x23, 0x2d:
		return true
	}
	return false
}

// IsHaskell reports whether the language is Haskell.
func (l Language) IsHaskell() bool { return l == 0x18 }

// IsAssembly reports whether the language is that of an assembler, whose names are those of symbols.
func (l Language) IsAssembly() bool { return l == 0x31 || l == 0x8001 }

// Separator returns the text between the parts of a name; it is empty if names have no
// parts, or if DW_AT_name has all of them.
func (l Language) Separator() string {
	switch {
	case l.isC(), l.IsAssembly():
		return ""
	case l.isCxx(), l == 0x1c, l.IsFortran(): // 0x1c: Rust
		return "::"
	}
	switch l {
	case 0, 0x10, 0x16: // unknown, Objective-C, Go
		return ""
	}
	return "."
}
