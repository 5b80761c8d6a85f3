package elfx

import (
	"debug/elf"
	"errors"
	"math"
	"slices"
	"strings"

	"symkit/located"
)

// errLayout: the sections of a relocatable object do not fit into its address space.
var errLayout = errors.New("sections of the object do not fit the address space")

// layOut assigns addresses to the loaded sections of a relocatable object: one
// section after the other from 0 on, aligned, in the order of their headers. This
// is the layout of elfutils' libdwfl, so that an address means the same place in
// elfutils' tools. Sections that are not loaded stay at 0, as in a linked file.
//
// An object whose headers already have a layout (ld -r with a script) keeps it.
func layOut(f *File) {
	if f.Type != elf.ET_REL || hasLayout(f) {
		return
	}

	// The layout ends at the first section that does not fit; the later ones keep the
	// addresses of their headers.
	var next uint64
	for i := range f.Sections {
		s := &f.Sections[i]
		if !s.loaded() {
			continue
		}
		begin, ok := alignUp(next, s.Align)
		if end := begin + s.Size; ok && end >= begin && end <= f.lastAddress() {
			s.Addr, next = begin, end
			continue
		}
		f.lose(&located.Error{Section: sectionHeaders, Offset: f.headerAt(i), Err: errLayout})
		return
	}
}

// hasLayout reports whether the loaded sections have addresses that ascend and do
// not overlap.
func hasLayout(f *File) bool {
	var end uint64
	given := false
	for i := range f.Sections {
		s := &f.Sections[i]
		if !s.loaded() {
			continue
		}
		if s.Addr < end || s.Addr+s.Size < s.Addr {
			return false
		}
		given = given || s.Addr != 0
		end = s.Addr + s.Size
	}
	return given
}

// lastAddress returns the last address of the file's class.
func (h *Header) lastAddress() uint64 { return h.byClass(math.MaxUint32, math.MaxUint64) }

// alignUp returns the first multiple of align that is not below addr; ok is false
// if it would overflow. An align that is no power of two has no effect.
func alignUp(addr, align uint64) (up uint64, ok bool) {
	if align == 0 || align&(align-1) != 0 {
		return addr, true
	}

	// Round up; a sum that wraps is below addr.
	up = (addr + align - 1) &^ (align - 1)
	return up, up >= addr
}

// linkRelocs links each section that is to be relocated with its relocation
// sections: a list through the field relocs of their headers.
func linkRelocs(f *File) {
	if f.Type != elf.ET_REL {
		return
	}

	// The list is built from its end, so that relocation sections apply in header order.
	for i := len(f.Sections) - 1; i > 0; i-- {
		s := &f.Sections[i]
		if uint64(s.Info) >= uint64(len(f.Sections)) {
			continue
		}
		t := &f.Sections[s.Info]
		if isRelocated(t) && (isRelocs(s.Type) || maybeRelocs(s, t)) {
			s.relocs, t.relocs = t.relocs, i
		}
	}
}

// maybeRelocs reports whether a section of an unknown type has relocations of t, to judge
// by its name: relocation sections have that of t after ".rel", ".rela" or the like. Their
// type is then an error of t's bytes, which would be wrong without these relocations.
func maybeRelocs(s, t *Section) bool {
	known := s.Type <= elf.SHT_SYMTAB_SHNDX
	return !known && len(s.Name) > len(t.Name) && strings.HasSuffix(s.Name, t.Name)
}

// relocatedNames are the prefixes of the names of sections whose relocations are
// applied: those that are read for symbols and unwinding. Code is not relocated,
// because it is hashed and disassembled as it is in the file.
var relocatedNames = []string{".debug_", ".zdebug_", ".eh_frame", ".sframe", ".ARM.ex", ".opd"}

// isRelocated reports whether relocations of the section are applied. What relocation
// itself reads is not relocated: relocation sections, symbols and their names.
func isRelocated(s *Section) bool {
	switch {
	case !s.Present() || isRelocs(s.Type):
		return false
	case s.Type == elf.SHT_STRTAB || s.Type == elf.SHT_SYMTAB || s.Type == elf.SHT_SYMTAB_SHNDX:
		return false
	}
	return s.Type == shtGNUSFrame || slices.ContainsFunc(relocatedNames, func(prefix string) bool { return strings.HasPrefix(s.Name, prefix) })
}
