package elfx

import (
	"debug/elf"
	"errors"
	"math"
	"slices"
	"strings"

	"symkit/internal/wire"
)

// ErrLayout: the sections of a relocatable object do not fit into its address space.
var ErrLayout = errors.New("sections of the object do not fit the address space")

// layOut assigns addresses to the loaded sections of a relocatable object: one
// section after the other from 0 on, aligned, in the order of their headers. This
// is the layout of elfutils' libdwfl, so that an address means the same place in
// elfutils' tools. Sections that are not loaded stay at 0, as in a linked file.
//
// An object whose headers already have a layout (ld -r with a script) keeps it.
func (f *File) layOut() {
	if f.Type != elf.ET_REL || f.hasLayout() {
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
		f.lose(&wire.Error{Section: sectionHeaders, Offset: f.headerAt(i), Err: ErrLayout})
		return
	}
}

// hasLayout reports whether the loaded sections have addresses that ascend and do
// not overlap.
func (f *File) hasLayout() bool {
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

// loaded reports whether the section is loaded into memory.
func (s *Section) loaded() bool {
	return s.Flags&elf.SHF_ALLOC != 0 && s.Type != elf.SHT_NULL
}

// isCode reports whether the section is loaded and executable.
func (s *Section) isCode() bool {
	const code = elf.SHF_EXECINSTR | elf.SHF_ALLOC
	return s.Flags&code == code
}

// lastAddress returns the last address of the file's class.
func (f *File) lastAddress() uint64 { return f.byClass(math.MaxUint32, math.MaxUint64) }

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

// rebase turns the values of a relocatable object's symbols, which are section
// offsets, into addresses. The value of a TLS symbol is an offset in linked files,
// too; that of a common symbol is its alignment.
func (f *File) rebase(symbols []Symbol) {
	if f.Type != elf.ET_REL {
		return
	}
	for i := range symbols {
		if s := &symbols[i]; s.Type != elf.STT_TLS && uint64(s.Shndx) < uint64(len(f.Sections)) {
			s.Value += f.Sections[s.Shndx].Addr
		}
	}
}

// linkRelocs links each section that is to be relocated with its relocation
// sections: a list through the field relocs of their headers.
func (f *File) linkRelocs() {
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
		if t.relocated() && (isRelocs(s.Type) || s.maybeRelocs(t)) {
			s.relocs, t.relocs = t.relocs, i
		}
	}
}

// maybeRelocs reports whether a section of an unknown type has relocations of t, to judge
// by its name: relocation sections have that of t after ".rel", ".rela" or the like. Their
// type is then an error of t's bytes, which would be wrong without these relocations.
func (s *Section) maybeRelocs(t *Section) bool {
	known := s.Type <= elf.SHT_SYMTAB_SHNDX
	return !known && len(s.Name) > len(t.Name) && strings.HasSuffix(s.Name, t.Name)
}

// relocatedNames are the prefixes of the names of sections whose relocations are
// applied: those that are read for symbols and unwinding. Code is not relocated,
// because it is hashed and disassembled as it is in the file.
var relocatedNames = []string{".debug_", ".zdebug_", ".eh_frame", ".sframe", ".ARM.ex", ".opd"}

// relocated reports whether relocations of the section are applied.
func (s *Section) relocated() bool {
	if !s.Present() {
		return false
	}

	// Relocation sections are not relocated themselves.
	if isRelocs(s.Type) {
		return false
	}
	return s.Type == shtGNUSFrame || slices.ContainsFunc(relocatedNames, func(prefix string) bool { return strings.HasPrefix(s.Name, prefix) })
}
