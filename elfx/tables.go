package elfx

import (
	"debug/elf"
	"errors"
	"fmt"
	"math"
	"strings"

	"symkit/internal/wire"
	"symkit/limits"
)

// ErrStrings: the section name table is missing, is no string table, or is larger
// than any linker writes.
var ErrStrings = errors.New("unusable section name table")

const (
	sectionHeaders = "section headers"
	programHeaders = "program headers"
	// maxSectionName bounds one section name in bytes: a million headers that
	// share one very long name would take quadratic time.
	maxSectionName = 16 << 10
)

// readTables reads both header tables. If one is damaged and the other is not, the
// damaged table stays empty and is counted as lost.
func (f *File) readTables(t tables) error {
	first, secErr := f.extend(&t)
	if secErr == nil {
		secErr = f.readSections(t)
	}
	progErr := f.readSegments(t, first)

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
	f.nameSections(t.shstrndx)
	return nil
}

// extend replaces the escape values of the ELF header by the fields of section
// header 0 (gABI, "ELF Header": e_shnum, e_shstrndx; PN_XNUM), which it returns, or
// nil if the file has no section headers.
func (f *File) extend(t *tables) (*Section, error) {
	// Without section headers, there is no header 0 that could have the values.
	if t.shoff == 0 {
		t.shnum = 0
		return nil, nil
	}
	if uint64(t.shentsize) != f.sectionHeaderSize() {
		if t.shnum == 0 && t.shentsize == 0 {
			return nil, nil
		}
		return nil, f.headerField(fieldShentsize, ErrEntrySize)
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
func (f *File) readSections(t tables) error {
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
	sections := make([]Section, t.shnum)
	for i := range sections {
		sections[i].file, sections[i].Index = f, i
		f.readSection(&c, &sections[i])
	}
	f.Sections = sections
	return c.Err()
}

// readSection reads one header (gABI, "Section Header").
func (f *File) readSection(c *wire.Cursor, s *Section) {
	word := f.AddrSize()
	s.nameOff = c.U32()
	s.Type = elf.SectionType(c.U32())
	s.Flags = elf.SectionFlag(c.Uint(word))
	s.Addr = c.Uint(word)
	s.Offset = c.Uint(word)
	s.Size = c.Uint(word)
	s.Link = c.U32()
	s.Info = c.U32()
	s.Align = c.Uint(word)
	s.Entsize = c.Uint(word)
}

// nameSections sets the names of the sections. Without names, sections are still
// found by type and through program headers.
func (f *File) nameSections(index uint32) {
	if len(f.Sections) == 0 {
		return
	}
	names, err := f.sectionNames(index)
	if err != nil {
		f.lose(err)
		return
	}

	// Damaged names are one loss, however many there are.
	var damaged error
	for i := range f.Sections {
		s := &f.Sections[i]
		if name, ok := sectionName(names, s.nameOff); ok {
			s.Name = name
		} else if damaged == nil {
			damaged = &wire.Error{Section: sectionHeaders, Offset: f.headerAt(i), Err: wire.ErrOffset}
		}
	}

	f.allowance.namesFound()
	if damaged != nil {
		f.lose(damaged)
	}
}

// sectionNames returns a copy of the table that e_shstrndx names: the names are used as
// strings after mem.Guard has returned. elfutils' elfcompress compresses this table, too,
// if it compresses all sections.
func (f *File) sectionNames(index uint32) (string, error) {
	if uint64(index) >= uint64(len(f.Sections)) || f.Sections[index].Type != elf.SHT_STRTAB {
		return "", f.headerField(fieldShstrndx, ErrStrings)
	}

	// The size is checked before any byte is inflated or copied.
	s := &f.Sections[index]
	size := s.Size
	if s.compressed() {
		p, err := s.packing()
		if err != nil {
			return "", err
		}
		size = p.size
	}
	if size > f.opt.Limits.Max(limits.SectionNames, 0) {
		return "", &wire.Error{Section: s.label(), Err: fmt.Errorf("%w: %w", ErrStrings, f.opt.Limits.Exceeded(limits.SectionNames, 0))}
	}
	if !s.compressed() {
		data, err := s.raw()
		return string(data), err
	}

	b, err := s.decompress()
	if err != nil {
		return "", err
	}
	defer f.memory.put(b)
	return string(b.Bytes()), nil
}

// sectionName returns the NUL-terminated string at offset off of names.
func sectionName(names string, off uint32) (string, bool) {
	// A name ends with a NUL, within the bound for names.
	if uint64(off) >= uint64(len(names)) {
		return "", false
	}
	rest := names[off:]
	n := strings.IndexByte(rest[:min(len(rest), maxSectionName)], 0)
	return rest[:max(n, 0)], n >= 0
}

func (f *File) sectionHeaderSize() uint64 { return f.byClass(40, 64) }

// headerAt returns the offset of section header i in the table.
func (f *File) headerAt(i int) int { return i * int(f.sectionHeaderSize()) }

// Offsets from e_ehsize, the first field after those whose size depends on the
// class.
const (
	fieldPhentsize = 2
	fieldPhnum     = 4
	fieldShentsize = 6
	fieldShstrndx  = 10
)

// headerField returns err at a field of the ELF header.
func (f *File) headerField(field int, err error) error {
	ehsize := int(f.byClass(40, 52))
	return &wire.Error{Section: headerName, Offset: ehsize + field, Err: err}
}
