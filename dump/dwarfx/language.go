package dwarfx

// Language is a DW_LANG code (DWARF 5 §7.12 and the list kept at dwarfstd.org).
type Language uint16

// IsC tells C and what has C's types: nothing in them but data.
func (l Language) IsC() bool {
	switch l {
	case 0x01, 0x02, 0x0c, 0x1d, 0x2c, 0x3e, // C89, C, C99, C11, C17, C23
		0x12, 0x15: // UPC, OpenCL C
		return true
	}
	return false
}

// IsCxx tells C++ of any year, and Objective-C++.
func (l Language) IsCxx() bool {
	switch l {
	case 0x04, 0x19, 0x1a, 0x21, 0x2a, 0x2b, 0x3a, 0x11:
		return true
	}
	return false
}

// IsAda tells Ada of any year.
func (l Language) IsAda() bool {
	return l == 0x03 || l == 0x0d || l == 0x2e || l == 0x2f
}

// Separator is what stands between the parts of a name; empty where names have
// no parts or DW_AT_name has them already.
func (l Language) Separator() string {
	switch {
	case l.IsC():
		return ""
	case l.IsCxx(), l == 0x1c: // Rust
		return "::"
	}
	switch l {
	case 0, 0x10, 0x16, 0x31, 0x8001: // none told, Objective-C, Go, assembly
		return ""
	}
	return "."
}
