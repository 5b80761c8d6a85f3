package lookup

import (
	"debug/elf"
	"strings"

	"symkit/internal/demangle"
)

// Kind is what a number that stands for an address counts from.
type Kind string

// The kinds of addresses.
const (
	Virtual  Kind = "virtual"  // as in the file's headers and symbol tables
	Relative Kind = "relative" // from where the first byte of the file is loaded, as in symbol files and in logs
	Offset   Kind = "offset"   // file offset, as in profiles: virtual address − p_vaddr + p_offset of the segment
)

// Address returns the virtual address of an address of a kind. ok is false for a file offset that no segment with code
// has. Symbol files have relative addresses alone, which are their virtual ones.
func (f *File) Address(kind Kind, n uint64) (addr uint64, ok bool) {
	if f.image == nil || kind == Virtual {
		return n, true
	}
	main := f.image.image.Main
	if kind == Relative {
		return n + main.LoadAddress(), true
	}

	// BOLT and other tools give segments different distances from their offsets.
	for i := range main.Segments {
		s := &main.Segments[i]
		if s.Type == elf.PT_LOAD && s.Flags&elf.PF_X != 0 && n >= s.Offset && n-s.Offset < s.Filesz {
			return n - s.Offset + s.Vaddr, true
		}
	}
	return 0, false
}

// Readable returns the name for people: the linkage name, demangled, or else the name. Each call demangles again.
func (f *Frame) Readable() string {
	if f.Linkage == "" {
		return f.Name
	}
	name, suffix := f.Linkage, ""
	if f.Stub {
		name = strings.TrimSuffix(name, pltSuffix)
		suffix = f.Linkage[len(name):]
	}
	text, ok := demangle.Demangle([]byte(name))
	if !ok && f.Name != "" && !demangle.IsQualified([]byte(name), []byte(f.Name)) {
		return f.Name // not __GI_tolower, which is the label of tolower in the object
	}
	return text + suffix
}
