package elfx

import (
	"debug/elf"
	"errors"
	"math"

	"symkit/internal/wire"
)

// errNoFirst: e_phnum refers to section header 0, which does not exist (gABI, "ELF
// Header": PN_XNUM).
var errNoFirst = errors.New("program header count kept in a missing section header")

const (
	sectionHeaders = "section headers"
	programHeaders = "program headers"
	// pnXNum in e_phnum means that the count is in sh_info of section header 0.
	pnXNum = 0xffff
)

// readTables reads both header tables. If one is damaged and the other is not, the
// damaged table stays empty and is counted as lost.
func readTables(f *File, t *tables) error {
	first, secErr := extend(f, t)
	if secErr == nil {
		secErr = readSections(f, t)
	}
	progErr := readSegments(f, t, first)

	// One usable table is enough: an object has no segments, and a program may have lost
	// its sections.
	switch {
	case secErr != nil && len(f.Segments) == 0:
		return secErr
	case progErr != nil && len(f.Sections) == 0:
		return progErr
	}
	for _, err := range []error{secErr, progErr} {
		if err != nil {
			f.lose(err)
		}
	}
	return nil
}

// extend replaces the escape values of the ELF header by the fields of section
// header 0 (gABI, "ELF Header": e_shnum, e_shstrndx; PN_XNUM), which it returns, or
// nil if the file has no section headers.
func extend(f *File, t *tables) (*Section, error) {
	// Without section headers, there is no header 0 that could have the values.
	if t.shoff == 0 {
		t.shnum = 0
		return nil, nil
	}
	if uint64(t.shentsize) != f.sectionHeaderSize() {
		if t.shnum == 0 && t.shentsize == 0 {
			return nil, nil
		}
		return nil, f.headerField(fieldShentsize, errEntrySize)
	}
	data, err := f.at(sectionHeaders, t.shoff, f.sectionHeaderSize())
	if err != nil {
		return nil, err
	}

	// Section header 0 has the values that do not fit the fields of the ELF header.
	c := f.cursor(sectionHeaders, data)
	first := new(Section)
	f.readSection(&c, first)
	if t.shnum == 0 {
		t.shnum = first.Size
	}
	if t.shstrndx == uint32(elf.SHN_XINDEX) {
		t.shstrndx = first.Link
	}
	return first, nil
}

// readSections reads the section header table (gABI, "Section Header").
func readSections(f *File, t *tables) error {
	size := f.sectionHeaderSize()
	total := t.shnum * size
	if t.shnum > math.MaxUint64/size { // sh_size of section 0 can have any value
		total = math.MaxUint64
	}
	data, err := f.at(sectionHeaders, t.shoff, total)
	if err != nil || t.shnum == 0 {
		return err
	}

	c := f.cursor(sectionHeaders, data)
	sections, names := make([]Section, t.shnum), make([]uint32, t.shnum)
	for i := range sections {
		sections[i].file, sections[i].Index = f, i
		names[i] = f.readSection(&c, &sections[i])
	}
	f.Sections, t.names = sections, names
	return c.Err()
}

// readSection reads one header (gABI, "Section Header") and returns the offset of the name.
func (h *Header) readSection(c *wire.Cursor, s *Section) (name uint32) {
	word := h.AddrSize()
	name = c.U32()
	s.Type = elf.SectionType(c.U32())
	s.Flags = elf.SectionFlag(c.Uint(word))
	s.Addr = c.Uint(word)
	s.Offset = c.Uint(word)
	s.Size = c.Uint(word)
	s.Link = c.U32()
	s.Info = c.U32()
	s.Align = c.Uint(word)
	s.Entsize = c.Uint(word)
	return name
}

// readSegments reads the program header table. Section header 0 is first, or nil.
func readSegments(f *File, t *tables, first *Section) error {
	// The escape value in e_phnum refers to section header 0.
	if t.phnum == pnXNum {
		if first == nil {
			return f.headerField(fieldPhnum, errNoFirst)
		}
		t.phnum = uint64(first.Info)
	}
	if t.phnum == 0 || t.phoff == 0 {
		return nil
	}

	// An entry of another size than the class's would shift every field.
	size := f.byClass(32, 56)
	if uint64(t.phentsize) != size {
		return f.headerField(fieldPhentsize, errEntrySize)
	}
	data, err := f.at(programHeaders, t.phoff, t.phnum*size)
	if err != nil {
		return err
	}

	c := f.cursor(programHeaders, data)
	segments := make([]Segment, t.phnum)
	for i := range segments {
		f.readSegment(&c, &segments[i])
	}
	f.Segments = segments
	return c.Err()
}

// readSegment reads one header. The position of p_flags depends on the class.
func (h *Header) readSegment(c *wire.Cursor, s *Segment) {
	word := h.AddrSize()
	s.Type = elf.ProgType(c.U32())
	if h.Class == elf.ELFCLASS64 {
		s.Flags = elf.ProgFlag(c.U32())
	}
	s.Offset = c.Uint(word)
	s.Vaddr = c.Uint(word)
	c.Skip(uint64(word)) // p_paddr
	s.Filesz = c.Uint(word)
	s.Memsz = c.Uint(word)
	if h.Class == elf.ELFCLASS32 {
		s.Flags = elf.ProgFlag(c.U32())
	}
	s.Align = c.Uint(word)
}

func (h *Header) sectionHeaderSize() uint64 { return h.byClass(40, 64) }

// headerAt returns the offset of section header i in the table.
func (h *Header) headerAt(i int) int { return i * int(h.sectionHeaderSize()) }
