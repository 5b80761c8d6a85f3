package main

import (
	"bytes"
	"compress/zlib"
	"debug/elf"

	"github.com/klauspost/compress/zstd"

	"symkit/test/elftest"
)

// textAddr is where the .text of a file that image makes begins: after the header and one program header.
const textAddr = elftest.LoadBase + 128

// buildID is the id of the file that image makes. It is the same in either byte order, as symbol files need it.
var buildID = bytes.Repeat([]byte{0x11}, 20)

// image returns a library of x86_64 with a .text of text bytes, its DWARF and more sections.
func image(text int, d *debug, more ...elftest.Sec) []byte {
	s := spec(text, d, more...)
	return s.Build()
}

// spec describes the file that image makes.
func spec(text int, d *debug, more ...elftest.Sec) *elftest.Spec {
	s := &elftest.Spec{Segments: []elftest.Seg{{Kind: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X}}}
	s.Sections = []elftest.Sec{
		{Name: ".text", Kind: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Align: 16, Data: make([]byte, text)},
		{Name: ".note.gnu.build-id", Kind: elf.SHT_NOTE, Flags: elf.SHF_ALLOC, Align: 4, Data: s.NoteBytes("GNU", 3, buildID, 4)},
	}
	s.Sections = append(s.Sections, more...)
	s.Sections = append(s.Sections, d.sections()...)
	return s
}

// sections returns the sections of DWARF that are not empty.
func (d *debug) sections() (all []elftest.Sec) {
	if d == nil {
		return nil
	}
	for _, s := range []struct {
		name string
		data []byte
	}{
		{".debug_info", d.info}, {".debug_abbrev", d.abbrevs()}, {".debug_str", d.strings},
		{".debug_line", d.lines}, {".debug_rnglists", d.lists}, {".debug_types", d.types}, {".debug_aranges", d.tuples},
	} {
		if len(s.data) > 0 {
			all = append(all, elftest.Sec{Name: s.name, Kind: elf.SHT_PROGBITS, Align: 1, Data: s.data})
		}
	}
	return all
}

// abbrevs returns .debug_abbrev.
func (d *debug) abbrevs() []byte {
	table := abbrevTable()
	table = append(append(table[:len(table)-1:len(table)-1], d.codes...), 0)
	return bytes.Repeat(table, max(d.tables, 1))
}

// packed returns the sections of DWARF compressed.
func (d *debug) packed(kind elf.CompressionType) (all []elftest.Sec) {
	s := elftest.Spec{}
	for _, sec := range d.sections() {
		var b bytes.Buffer
		if kind == elf.COMPRESS_ZLIB {
			w := zlib.NewWriter(&b)
			w.Write(sec.Data) // to memory: cannot fail
			w.Close()
		} else {
			w, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
			if err != nil {
				panic(err) // no option is wrong
			}
			w.Write(sec.Data)
			w.Close()
		}
		sec.Data, sec.Flags = s.Chdr(kind, uint64(len(sec.Data)), b.Bytes()), elf.SHF_COMPRESSED
		all = append(all, sec)
	}
	return all
}

// symbolTable returns .symtab and .strtab with count functions of size bytes, one every size bytes of section 1.
func symbolTable(count int, size uint64, name func(i int) string) []elftest.Sec {
	s := elftest.Spec{}
	e := s.Enc()
	e.Sym(0, 0, 0, 0, 0, 0)
	strings := []byte{0}
	for i := range count {
		e.Sym(uint32(len(strings)), textAddr+uint64(i)*size, size, byte(elf.STB_GLOBAL)<<4|byte(elf.STT_FUNC), 0, 1)
		strings = append(append(strings, name(i)...), 0)
	}
	return []elftest.Sec{
		{Name: ".symtab", Kind: elf.SHT_SYMTAB, Link: ".strtab", Info: 1, Entsize: 24, Align: 8, Data: e.B},
		{Name: ".strtab", Kind: elf.SHT_STRTAB, Align: 1, Data: strings},
	}
}

// frameTable returns an .eh_frame with an FDE for each of count functions of size bytes, which keep a frame pointer.
func frameTable(count int, size uint64) elftest.Sec {
	// The CFA is rsp + 8, and the return address is at the CFA - 8.
	cie := []byte{0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1, 0, 0}
	data := append(le.AppendUint32(nil, uint32(len(cie))), cie...)
	for i := range uint64(count) {
		data = le.AppendUint32(data, 28)
		data = le.AppendUint32(data, uint32(len(data)))
		data = le.AppendUint64(le.AppendUint64(data, textAddr+i*size), size)
		data = append(data, 0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6) // push rbp; mov rbp, rsp
	}
	return elftest.Sec{Name: ".eh_frame", Kind: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC, Align: 8, Data: append(data, 0, 0, 0, 0)}
}
