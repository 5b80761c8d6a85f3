package inflate

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkZlib inflates a generated sample and, when SYMKIT_CORPUS is set,
// sections of its largest ceph-osd and OpenJDK debug files. The peer
// compress/zlib is measured in the same run: on a shared machine only the ratio
// means something.
func BenchmarkZlib(b *testing.B) {
	plain := sample(8 << 20)
	benchmark(b, "sample", deflate(b, plain, 6), len(plain))
	for _, name := range []string{"ceph-osd-dbg", "openjdk-17-dbg"} {
		if dir := os.Getenv("SYMKIT_CORPUS"); dir != "" {
			for _, section := range []string{".debug_info", ".debug_line", ".debug_str"} {
				src, size := stream(b, filepath.Join(dir, name), section)
				benchmark(b, name+section, src, size)
			}
		}
	}
}

func benchmark(b *testing.B, name string, src []byte, size int) {
	dst := make([]byte, size)
	b.Run(name, func(b *testing.B) {
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			if err := Zlib(dst, src, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run(name+"/compress-zlib", func(b *testing.B) {
		b.SetBytes(int64(size))
		for b.Loop() {
			r, err := zlib.NewReader(bytes.NewReader(src))
			if err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadFull(r, dst); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// stream returns the zlib stream of a section of the largest debug file below
// dir, and its inflated size.
func stream(b *testing.B, dir, section string) (src []byte, size int) {
	files, err := filepath.Glob(filepath.Join(dir, "usr/lib/debug/.build-id/*/*.debug"))
	if err != nil || len(files) == 0 {
		b.Fatalf("no debug files in %s: %v", dir, err)
	}
	largest, most := "", int64(-1)
	for _, name := range files {
		if info, err := os.Stat(name); err == nil && info.Size() > most {
			largest, most = name, info.Size()
		}
	}
	data, err := os.ReadFile(largest)
	if err != nil {
		b.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		b.Fatal(err)
	}
	s := f.Section(section)
	if s == nil || s.Flags&elf.SHF_COMPRESSED == 0 || f.Class != elf.ELFCLASS64 || f.Data != elf.ELFDATA2LSB {
		b.Fatalf("%s: no compressed 64-bit %s", largest, section)
	}
	raw := data[s.Offset:][:s.FileSize]
	const chdrSize = 24 // Elf64_Chdr
	return raw[chdrSize:], int(binary.LittleEndian.Uint64(raw[8:]))
}
