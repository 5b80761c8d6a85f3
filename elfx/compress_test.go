package elfx

import (
	"debug/elf"
	"testing"

	"symkit/elfx/internal/elftest"
)

// withPackedNames is a file whose section name table is compressed, as by elfutils'
// elfcompress. A size of 0 stands for the true one.
func withPackedNames(s *elftest.Spec, kind elf.CompressionType, size uint64) []byte {
	l := s.Layout()
	at := l.Offset[".shstrtab"]
	names := l.Data[at:][:l.Size[".shstrtab"]]
	stream := zlibBytes(names)
	if kind == elf.COMPRESS_ZSTD {
		stream = zstdBytes(names)
	}
	if size == 0 {
		size = uint64(len(names))
	}
	packed := s.Chdr(kind, size, stream)
	header := s.Enc().Word(uint64(elf.SHF_COMPRESSED), 0, uint64(len(l.Data)), uint64(len(packed)))
	copy(l.Data[l.Shoff+l.Index[".shstrtab"]*l.Shentsize+8:], header.B)
	for i := range names {
		names[i] = 'x'
	}
	return append(l.Data, packed...)
}

func TestCompressedSectionNames(t *testing.T) {
	for _, class := range []elf.Class{elf.ELFCLASS32, elf.ELFCLASS64} {
		for _, big := range []bool{false, true} {
			for _, kind := range []elf.CompressionType{elf.COMPRESS_ZLIB, elf.COMPRESS_ZSTD} {
				s := elftest.Spec{Class: class, Big: big, Sections: []elftest.Sec{{Name: ".text", Kind: elf.SHT_PROGBITS, Data: []byte("code")}}}
				f := mustFile(t, withPackedNames(&s, kind, 0))
				if len(f.Losses()) > 0 || f.Sections[1].Name != ".text" || f.Sections[2].Name != ".shstrtab" {
					t.Errorf("%v, %v, big endian %v: %q, %q: %v", class, kind, big, f.Sections[1].Name, f.Sections[2].Name, f.Losses())
				}
				f = mustFile(t, withPackedNames(&s, kind, 1<<30))
				if len(f.Losses()) != 1 {
					t.Fatalf("%v", f.Losses())
				}
				elftest.WantError(t, f.Losses()[0], ErrCompression, "section 2", 0)
			}
		}
	}
}
