package elfx

import (
	"debug/elf"
	"errors"
	"fmt"
	"testing"

	"symkit/internal/bounds"
	"symkit/test/elftest"
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

// TestAllowance: sections that inflate to bounds.FreeSize each, from few bytes, cost that much
// once and not for each section, and the same ones are refused in any order of reading.
func TestAllowance(t *testing.T) {
	const count = 20
	for _, test := range []struct {
		name  string
		size  int // of the stream
		claim uint64
		ok    int // sections that are read
	}{
		{"no excess", 1 << 10, 100 << 10, count},
		{"a little excess", 1 << 10, 500 << 10, count},
		{"excess", 32 << 10, bounds.FreeSize, 1}, // 8 MiB each
		{"all that sections inflate to", 64 << 10, 12 << 20, 2},
		{"all excess", 1 << 10, bounds.FreeSize, 1},
		{"more than there may be", 1 << 10, bounds.FreeSize + 1, 0},
	} {
		for _, backwards := range []bool{false, true} {
			s := &elftest.Spec{}
			for i := range count {
				s.Sections = append(s.Sections, elftest.Sec{
					Name: fmt.Sprintf(".debug_%d", i), Kind: elf.SHT_PROGBITS, Flags: elf.SHF_COMPRESSED,
					Data: s.Chdr(elf.COMPRESS_ZSTD, test.claim, make([]byte, test.size)),
				})
			}
			f := mustFile(t, s.Build())
			ok := 0
			for i := range count {
				if backwards {
					i = count - 1 - i
				}
				_, err := f.Section(fmt.Sprintf(".debug_%d", i)).UncompressedSize()
				if want := i < test.ok; (err == nil) != want || err != nil && !errors.Is(err, ErrCompression) {
					t.Errorf("%s: section %d: %v", test.name, i, err)
				}
				if err == nil {
					ok++
				}
			}
			if ok != test.ok {
				t.Errorf("%s: %d sections are read, want %d", test.name, ok, test.ok)
			}
		}
	}
}

// TestAllowanceShared: section headers that name the same bytes.
func TestAllowanceShared(t *testing.T) {
	const count = 1000
	s := &elftest.Spec{}
	data := s.Chdr(elf.COMPRESS_ZSTD, bounds.FreeSize, make([]byte, 64<<10))
	for i := range count {
		s.Sections = append(s.Sections, elftest.Sec{Name: fmt.Sprintf(".debug_%d", i), Kind: elf.SHT_PROGBITS, Flags: elf.SHF_COMPRESSED})
	}
	s.Sections[0].Data = data
	l := s.Layout()
	first := l.Data[l.Shoff+l.Index[".debug_0"]*l.Shentsize:][:l.Shentsize]
	for i := 1; i < count; i++ {
		copy(l.Data[l.Shoff+l.Index[fmt.Sprintf(".debug_%d", i)]*l.Shentsize:][4:l.Shentsize], first[4:])
	}
	f := mustFile(t, l.Data)
	total := uint64(0)
	for i := range count {
		n, err := f.Section(fmt.Sprintf(".debug_%d", i)).UncompressedSize()
		if err == nil {
			total += n
		}
	}
	if most := uint64(bounds.FreeSize + 12*len(l.Data)); total == 0 || total > most {
		t.Errorf("%d bytes, want up to %d", total, most)
	}
}
