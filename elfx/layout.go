package elfx

import (
	"debug/elf"
	"errors"
	"math"
	"strings"

	"symkit/internal/wire"
)

// ErrLayout: the sections of a relocatable object do not fit its address space.
var ErrLayout = errors.New("sections of the object do not fit the address space")

// layOut gives the sections of a relocatable object the addresses that they
// would have if they were loaded one after the other from 0, each at its
// alignment, in the order of their headers. It is the layout of elfutils'
// libdwfl, so that one address means the same place to its tools. Sections that
// are not loaded stay at 0, as in a linked file.
//
// An object whose headers already hold a layout (ld -r with a script) keeps it.
func (f *File) layOut() {
	if f.Type != elf.ET_REL || f.hasLayout() {
		return
	}
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
		at := i * int(f.sectionHeaderSize())
		f.lose(&wire.Error{Section: sectionHeaders, Offset: at, Err: ErrLayout})
		return
	}
}

// hasLayout tells whether the loaded sections have addresses, in ascending
// order and apart.
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

func (s *Section) loaded() bool {
	return s.Flags&elf.SHF_ALLOC != 0 && s.Type != elf.SHT_NULL
}

// lastAddress is the last address of the file's class.
func (f *File) lastAddress() uint64 {
	if f.Class == elf.ELFCLASS64 {
		return math.MaxUint64
	}
	return math.MaxUint32
}

// alignUp is the first multiple of align from addr on; false when there is
// none. An alignment that is no power of two asks for nothing.
func alignUp(addr, align uint64) (uint64, bool) {
	if align == 0 || align&(align-1) != 0 {
		return addr, true
	}
	up := (addr + align - 1) &^ (align - 1)
	return up, up >= addr
}

// rebase turns the offsets in sections, which are the values of a relocatable
// object's symbols, into addresses. A TLS symbol's value is an offset in linked
// files too, that of a common symbol its alignment.
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

// linkRelocs notes, for each section that is to be relocated, the sections with
// its relocations, as a list that goes on in their own headers.
func (f *File) linkRelocs() {
	if f.Type != elf.ET_REL {
		return
	}
	for i := len(f.Sections) - 1; i > 0; i-- {
		s := &f.Sections[i]
		if s.Type != elf.SHT_REL && s.Type != elf.SHT_RELA || uint64(s.Info) >= uint64(len(f.Sections)) {
			continue
		}
		if t := &f.Sections[s.Info]; t.relocated() {
			s.relocs, t.relocs = t.relocs, i
		}
	}
}

// relocatedNames are the beginnings of the names of sections whose relocations
// are applied: those that are read for symbols and unwinding. Code is hashed
// and disassembled as it stands in the file.
var relocatedNames = []string{".debug_", ".zdebug_", ".eh_frame", ".sframe", ".ARM.ex", ".opd"}

func (s *Section) relocated() bool {
	if !s.Present() {
		return false
	}
	switch s.Type {
	case elf.SHT_REL, elf.SHT_RELA:
		return false
	case shtGNUSFrame:
		return true
	}
	for _, name := range relocatedNames {
		if strings.HasPrefix(s.Name, name) {
			return true
		}
	}
	return false
}
