package mutant

import (
	"debug/elf"
	"encoding/binary"
)

// section is a section of an ELF file that is built.
type section struct {
	name  string
	kind  elf.SectionType
	flags elf.SectionFlag
	addr  uint64
	data  []byte
	link  uint32 // number of another section, from 1
	entry uint64 // size of an entry
}

// Section is a section of Program that is not loaded.
type Section struct {
	Name  string
	Kind  elf.SectionType // 0 means SHT_PROGBITS
	Flags elf.SectionFlag
	Data  []byte
	Link  uint32 // number of another section: those given have numbers from 3 on
	Entry uint64 // size of an entry, in bytes
}

// Program returns an x86_64 program with a build id, text bytes of .text at TextAddr, and
// the sections.
func Program(text int, sections ...Section) []byte {
	var list []section
	for _, s := range sections {
		kind := s.Kind
		if kind == elf.SHT_NULL {
			kind = elf.SHT_PROGBITS
		}
		list = append(list, section{name: s.Name, kind: kind, flags: s.Flags, data: s.Data, link: s.Link, entry: s.Entry})
	}
	return buildText(text, list)
}

// TextAddr is where the .text of built files begins; textSize is its size in bytes.
const (
	TextAddr = 0x1000
	textSize = 0x1000
)

// build returns an x86_64 program with a build id, a .text and the sections.
func build(sections ...section) []byte { return buildText(textSize, sections) }

// firstSection is the number that the first section given to build gets.
const firstSection = 3

// buildText is build with a .text of the given size.
func buildText(text int, sections []section) []byte {
	return buildPacked(text, sections, func(*section) {})
}

// buildPacked is buildText, but calls pack for each section right before the section is
// written. pack may change the section's bytes and flags.
func buildPacked(text int, sections []section, pack func(*section)) []byte {
	le := binary.LittleEndian

	// The note is NT_GNU_BUILD_ID, with a build id of eight bytes.
	id := append(le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, 4), 8), 3), "GNU\x00bombbomb"...)
	sections = append([]section{
		{name: ".note.gnu.build-id", kind: elf.SHT_NOTE, flags: elf.SHF_ALLOC, addr: 0x200, data: id},
		{name: ".text", kind: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, addr: TextAddr, data: make([]byte, text)},
	}, sections...)

	// Section data follow the file header and the one program header.
	names := []byte{0}
	headers := make([]byte, 64) // the null section
	body := make([]byte, 64+56)
	for _, s := range append(sections, section{name: ".shstrtab", kind: elf.SHT_STRTAB}) {
		name := len(names)
		names = append(append(names, s.name...), 0)

		// .shstrtab holds the names, and is the last section, so that the names are complete.
		if s.name == ".shstrtab" {
			s.data = names
		}
		pack(&s)

		// Elf64_Shdr has the name, type, flags, address, offset, size, link, info, alignment
		// and entry size.
		headers = le.AppendUint32(headers, uint32(name))
		headers = le.AppendUint32(headers, uint32(s.kind))
		headers = le.AppendUint64(headers, uint64(s.flags))
		headers = le.AppendUint64(headers, s.addr)
		headers = le.AppendUint64(headers, uint64(len(body)))
		headers = le.AppendUint64(headers, uint64(len(s.data)))
		headers = le.AppendUint32(headers, s.link)
		headers = le.AppendUint32(headers, 0)
		headers = le.AppendUint64(headers, 1)
		headers = le.AppendUint64(headers, s.entry)
		body = append(body, s.data...)
	}

	// The section headers are the end of the file. The file header is filled in last.
	file := append(body, headers...)
	copy(file, "\x7fELF\x02\x01\x01")
	le.PutUint16(file[16:], uint16(elf.ET_EXEC))       // e_type
	le.PutUint16(file[18:], uint16(elf.EM_X86_64))     // e_machine
	le.PutUint32(file[20:], 1)                         // e_version
	le.PutUint64(file[32:], 64)                        // e_phoff
	le.PutUint64(file[40:], uint64(len(body)))         // e_shoff
	le.PutUint16(file[52:], 64)                        // e_ehsize
	le.PutUint16(file[54:], 56)                        // e_phentsize
	le.PutUint16(file[56:], 1)                         // e_phnum
	le.PutUint16(file[58:], 64)                        // e_shentsize
	le.PutUint16(file[60:], uint16(len(headers)/64))   // e_shnum
	le.PutUint16(file[62:], uint16(len(headers)/64-1)) // e_shstrndx

	// One PT_LOAD has the whole file up to the section headers.
	le.PutUint32(file[64:], uint32(elf.PT_LOAD))       // p_type
	le.PutUint32(file[68:], uint32(elf.PF_R|elf.PF_X)) // p_flags
	le.PutUint64(file[64+32:], uint64(len(body)))      // p_filesz
	le.PutUint64(file[64+40:], uint64(len(body)))      // p_memsz
	return file
}

// debug returns a section that is not loaded.
func debug(name string, data []byte) section {
	return section{name: name, kind: elf.SHT_PROGBITS, data: data}
}
