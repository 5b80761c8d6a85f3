package symbols

import (
	"bytes"
	"debug/elf"

	"symkit/elfx"
)

// versions are the symbol versions of a file, which are read when a name first has an @.
type versions struct {
	file  *elfx.File
	read  bool
	names map[string]bool
	err   error
}

// cut cuts the version from a name of .symtab: xdr_int@GLIBC_2.2.5, memcpy@@GLIBC_2.14. Other
// names have an @ of their own: ?get@Box@@QEAAHXZ is Microsoft's mangling, bar@8 stdcall's. No
// name in a relocatable object is cut, since only linkers make version tables.
func (v *versions) cut(name []byte) []byte {
	i := bytes.LastIndexByte(name, '@')
	if i <= 0 || v.file.Type == elf.ET_REL {
		return name
	}
	if !v.read {
		v.read = true
		v.names, v.err = elfx.Versions(v.file)
	}
	if !v.names[string(name[i+1:])] {
		return name
	}

	// Two @ mark the default version.
	base := bytes.TrimSuffix(name[:i], []byte("@"))
	if len(base) == 0 {
		return name
	}
	return base
}
