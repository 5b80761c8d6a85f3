package debuginfo

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"slices"

	"symkit/elfx"
	"symkit/internal/dwarfx"
	"symkit/internal/gosym"
)

// goSections are the names of the section with Go's function table.
var goSections = []string{".gopclntab", ".data.rel.ro.gopclntab"}

// LangGo is DW_LANG_Go. Units of Go's compiler describe all that Go's function table does.
const LangGo = 0x16

// IsGo reports whether f was linked by Go's linker.
func IsGo(f *elfx.File) bool {
	return slices.ContainsFunc(append(goSections, ".go.buildinfo"), func(name string) bool { return f.Section(name) != nil })
}

// OpenGo opens Go's function table, which stays in a stripped program, and returns the name of its
// section. The table is nil if f has none, or none that can be read. code is where the machine code of f lies.
func OpenGo(f *elfx.File, code dwarfx.CodeMap) (table *gosym.Table, section string, err error) {
	section, data, addr, err := findGoTable(f)
	if data == nil {
		return nil, section, err
	}
	table, err = gosym.Open(section, data, addr, goImage(f, code))
	if err != nil {
		return nil, section, err
	}
	return table, section, nil
}

// findGoTable finds Go's function table: by the section's name or, in a file without
// section headers, by its magic number. addr is the table's virtual address; section is
// empty if the file has no table.
func findGoTable(f *elfx.File) (section string, data []byte, addr uint64, err error) {
	for _, name := range goSections {
		s := f.Section(name)
		if s == nil || !s.Present() {
			continue
		}

		// A linker may leave the table's pointers to the dynamic linker.
		data, err := s.Data()
		relocated := newGoMemory(f).read(s.Addr, s.Size)
		if relocated != nil {
			data = relocated
		}
		return name, data, s.Addr, err
	}
	if len(f.Sections) > 0 {
		return "", nil, 0, nil
	}

	// Go's linker puts the table into a segment of data that is read only.
	for i := range f.Segments {
		s := &f.Segments[i]
		if s.Type != elf.PT_LOAD || s.Flags&elf.PF_X != 0 {
			continue
		}
		data := f.BytesAt(s.Vaddr, s.Filesz)
		at := gosym.Find(data, s.Vaddr)
		if at >= 0 {
			return "Go function table", data[at:], s.Vaddr + uint64(at), nil
		}
	}
	return "", nil, 0, nil
}

// goImage returns the program as Go's tables refer to it.
func goImage(f *elfx.File, code dwarfx.CodeMap) gosym.Image {
	im := gosym.Image{Read: newGoMemory(f).read}
	for _, r := range code {
		im.Exec = append(im.Exec, gosym.Range{Lo: r.Lo, Hi: r.Hi})
	}
	for _, name := range []string{".go.module", ".noptrdata", ".data", ".data.rel.ro"} {
		s := f.Section(name)
		if s != nil && s.Present() {
			im.Data = append(im.Data, gosym.Range{Lo: s.Addr, Hi: s.Addr + s.Size})
		}
	}
	if len(f.Sections) == 0 {
		for i := range f.Segments {
			s := &f.Segments[i]
			if s.Type == elf.PT_LOAD && s.Flags&elf.PF_W != 0 {
				im.Data = append(im.Data, gosym.Range{Lo: s.Vaddr, Hi: s.Vaddr + s.Filesz})
			}
		}
	}

	text := f.Section(".text")
	if text != nil {
		im.Text = text.Addr
	}
	return im
}

// goMemory reads a program's memory as it is when it runs: in a
// position-independent one the dynamic linker adds the load address to every
// pointer, here 0.
type goMemory struct {
	f      *elfx.File
	relocs []elfx.Reloc // relative ones with an addend, by offset
}

// relativeReloc is the number of a machine's relative relocation with an addend.
var relativeReloc = map[elf.Machine]uint32{
	elf.EM_X86_64: uint32(elf.R_X86_64_RELATIVE), elf.EM_AARCH64: uint32(elf.R_AARCH64_RELATIVE),
	elf.EM_RISCV: uint32(elf.R_RISCV_RELATIVE), elf.EM_S390: uint32(elf.R_390_RELATIVE),
	elf.EM_PPC64: uint32(elf.R_PPC64_RELATIVE), elf.EM_LOONGARCH: uint32(elf.R_LARCH_RELATIVE),
}

func newGoMemory(f *elfx.File) *goMemory {
	m := &goMemory{f: f}
	s := f.Section(".rela.dyn")
	if s == nil || !s.Present() {
		return m
	}
	relocs, err := s.Relocs()
	if err != nil {
		return m // pointers read as 0; the table is then found by .text
	}
	kind := relativeReloc[f.Machine]
	m.relocs = slices.DeleteFunc(relocs, func(r elfx.Reloc) bool { return r.Type != kind })
	slices.SortFunc(m.relocs, func(a, b elfx.Reloc) int { return cmp.Compare(a.Offset, b.Offset) })
	return m
}

// read returns n bytes at a virtual address, or nil; relocated words are in a copy.
func (m *goMemory) read(addr, n uint64) []byte {
	data := m.f.BytesAt(addr, n)
	i, _ := slices.BinarySearchFunc(m.relocs, addr, func(r elfx.Reloc, a uint64) int { return cmp.Compare(r.Offset, a) })
	if data == nil || i == len(m.relocs) || m.relocs[i].Offset >= addr+n {
		return data
	}

	// The file's bytes stay as they are.
	data = slices.Clone(data)
	for ; i < len(m.relocs) && m.relocs[i].Offset+8 <= addr+n; i++ {
		word := data[m.relocs[i].Offset-addr:]
		if m.f.BigEndian {
			binary.BigEndian.PutUint64(word, uint64(m.relocs[i].Addend))
		} else {
			binary.LittleEndian.PutUint64(word, uint64(m.relocs[i].Addend))
		}
	}
	return data
}
