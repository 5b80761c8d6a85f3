package elfx

import (
	"debug/elf"
	"testing"
)

// withPackedNames is a file whose section name table is compressed, as by elfutils'
// elfcompress. A size of 0 stands for the true one.
func withPackedNames(s *spec, kind elf.CompressionType, size uint64) []byte {
	l := s.layout()
	at := l.offset[".shstrtab"]
	names := l.data[at:][:l.size[".shstrtab"]]
	stream := zlibBytes(names)
	if kind == elf.COMPRESS_ZSTD {
		stream = zstdBytes(names)
	}
	if size == 0 {
		size = uint64(len(names))
	}
	packed := s.chdr(kind, size, stream)
	header := s.enc().word(uint64(elf.SHF_COMPRESSED), 0, uint64(len(l.data)), uint64(len(packed)))
	copy(l.data[l.shoff+l.index[".shstrtab"]*l.shentsize+8:], header.b)
	for i := range names {
		names[i] = 'x'
	}
	return append(l.data, packed...)
}

func TestCompressedSectionNames(t *testing.T) {
	for _, class := range []elf.Class{elf.ELFCLASS32, elf.ELFCLASS64} {
		for _, big := range []bool{false, true} {
			for _, kind := range []elf.CompressionType{elf.COMPRESS_ZLIB, elf.COMPRESS_ZSTD} {
				s := spec{class: class, big: big, sections: []sec{{name: ".text", kind: elf.SHT_PROGBITS, data: []byte("code")}}}
				f := mustFile(t, withPackedNames(&s, kind, 0))
				if len(f.Losses()) > 0 || f.Sections[1].Name != ".text" || f.Sections[2].Name != ".shstrtab" {
					t.Errorf("%v, %v, big endian %v: %q, %q: %v", class, kind, big, f.Sections[1].Name, f.Sections[2].Name, f.Losses())
				}
				f = mustFile(t, withPackedNames(&s, kind, 1<<30))
				if len(f.Losses()) != 1 {
					t.Fatalf("%v", f.Losses())
				}
				wantError(t, f.Losses()[0], ErrCompression, "section 2", 0)
			}
		}
	}
}
