package mutant

import (
	"debug/elf"
	"encoding/binary"
)

// elfSizes are the sizes of ELF's headers, by class: file header, section header, program
// header.
var elfSizes = map[elf.Class][3]int{elf.ELFCLASS32: {52, 40, 32}, elf.ELFCLASS64: {64, 64, 56}}

// elfWidths returns the widths of the fields of ELF's headers, without e_ident. In each
// header the fields follow one another (gABI, chapters 4 and 5). word is the size of an
// address.
func elfWidths(word int) (file, section, program []int) {
	file = []int{2, 2, 4, word, word, word, 4, 2, 2, 2, 2, 2, 2}
	section = []int{4, 4, word, word, word, word, 4, 4, word, word}
	program = []int{4, 4, word, word, word, word, word, word} // of 32 bits each where word is 4, in another order
	return file, section, program
}

// elfLayout reads the layout of an ELF file, as far as the file is consistent.
func elfLayout(data []byte) (l Layout, ok bool) {
	if len(data) < 64 || string(data[:4]) != elf.ELFMAG {
		return l, false
	}
	class := elf.Class(data[elf.EI_CLASS])
	sizes, known := elfSizes[class]
	if !known {
		return l, false
	}

	l.Order = binary.LittleEndian
	if elf.Data(data[elf.EI_DATA]) == elf.ELFDATA2MSB {
		l.Order = binary.BigEndian
	}

	word := 4 * int(class)
	file, section, program := elfWidths(word)
	l.addFields(0, len(data), []int{1, 1, 1, 1, 1, 1, 1, 1, 1}) // e_ident
	l.addFields(elf.EI_NIDENT, len(data), file)

	// The file header has the places of the tables and the numbers of their entries.
	m := mutation{Layout: &l, data: data}
	at := elf.EI_NIDENT + 8 + word // e_phoff
	phoff, shoff := int(m.get(Field{at, word})), int(m.get(Field{at + word, word}))
	counts := at + 2*word + 4 + 2 + 2 // e_phnum
	phnum, shnum := int(m.get(Field{counts, 2})), int(m.get(Field{counts + 4, 2}))
	l.addTable(&m, shoff, shnum, sizes[1], section)
	l.addTable(&m, phoff, phnum, sizes[2], program)
	for i := range shnum {
		l.addSection(&m, shoff+i*sizes[1], word)
	}
	// Core files have segments only.
	if shnum == 0 {
		for i := range phnum {
			l.addSegment(&m, phoff+i*sizes[2], word)
		}
	}
	return l, true
}

// addFields adds numbers of the given widths that follow one another, as far as they lie
// before end.
func (l *Layout) addFields(at, end int, widths []int) {
	for _, w := range widths {
		if at >= 0 && at <= end-w {
			l.Fields = append(l.Fields, Field{at, w})
		}
		at += w
	}
}

// addTable adds the fields of a table of headers.
func (l *Layout) addTable(m *mutation, at, count, size int, widths []int) {
	for i := range count {
		l.addFields(at+i*size, len(m.data), widths)
	}
}

// addSection adds the bytes of a section as a part of the file, and strings also as names.
func (l *Layout) addSection(m *mutation, header, word int) {
	kind := elf.SectionType(m.get(Field{header + 4, 4}))
	// sh_offset and sh_size are words, like the fields before them.
	e := Extent{int(m.get(Field{header + 8 + 2*word, word})), int(m.get(Field{header + 8 + 3*word, word}))}
	if kind == elf.SHT_NOBITS || kind == elf.SHT_NULL || !l.addPart(m, e) {
		return
	}
	if kind == elf.SHT_STRTAB || m.get(Field{header + 8, word})&uint64(elf.SHF_STRINGS) != 0 {
		l.Names = append(l.Names, e)
	}
}

// addSegment adds the bytes of a segment as a part of the file.
func (l *Layout) addSegment(m *mutation, header, word int) {
	// p_flags comes before p_offset in ELF64, and later in ELF32.
	offset, size := header+4, header+4+3*word
	if word == 8 {
		offset, size = header+8, header+8+3*word
	}
	l.addPart(m, Extent{int(m.get(Field{offset, word})), int(m.get(Field{size, word}))})
}

// addPart adds a part if the file has all its bytes, and reports whether it does.
func (l *Layout) addPart(m *mutation, e Extent) bool {
	ok := e.Offset >= 0 && e.Size > 0 && e.Offset < len(m.data) && e.Size <= len(m.data)-e.Offset
	if ok {
		l.Parts = append(l.Parts, e)
	}
	return ok
}

// minidumpLayout reads the layout of a minidump of either byte order: the header
// (MINIDUMP_HEADER), the directory and its streams.
func minidumpLayout(data []byte) (l Layout, ok bool) {
	if len(data) < 32 {
		return l, false
	}
	switch string(data[:4]) {
	case "MDMP":
		l.Order = binary.LittleEndian
	case "PMDM":
		l.Order = binary.BigEndian
	default:
		return l, false
	}

	// The directory may be anywhere, and its number of streams may be wrong.
	m := mutation{Layout: &l, data: data}
	l.addFields(0, len(data), []int{4, 4, 4, 4, 4, 4, 8})
	count, directory := int(m.get(Field{8, 4})), int(m.get(Field{12, 4}))
	for i := range min(count, len(data)/12) {
		entry := directory + 12*i
		l.addFields(entry, len(data), []int{4, 4, 4})
		l.addPart(&m, Extent{int(m.get(Field{entry + 8, 4})), int(m.get(Field{entry + 4, 4}))})
	}
	return l, true
}
