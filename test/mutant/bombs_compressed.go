package mutant

import (
	"bytes"
	"cmp"
	"compress/flate"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"slices"
)

// A library for ELF may inflate a section that its caller never reads: the section name
// table when a file is opened, string tables with symbols, version tables with dynamic
// symbols. compressedBombs has, for each of these sections, a file in which the section is
// compressed and inflates to a gigabyte. In other files all of these sections are
// compressed, and each inflates to as much as any section may, whatever its ratio.
func compressedBombs() (bombs []Bomb) {
	for _, kind := range []elf.CompressionType{elf.COMPRESS_ZLIB, elf.COMPRESS_ZSTD} {
		for _, name := range unaskedSections {
			bombs = append(bombs, Bomb{
				fmt.Sprintf("%s of a gigabyte, compressed by %s", name, compressionNames[kind]),
				func() []byte { return compressedTables(kind, 1<<30, name) },
			})
		}
		bombs = append(bombs, Bomb{
			"all tables of 16 MiB, compressed by " + compressionNames[kind],
			func() []byte { return compressedTables(kind, 16<<20, unaskedSections...) },
		})
	}
	return bombs
}

var compressionNames = map[elf.CompressionType]string{elf.COMPRESS_ZLIB: "zlib", elf.COMPRESS_ZSTD: "zstd"}

// unaskedSections are the names of the sections that libraries read on opening. The section
// name table comes first, as ".shstrtab".
var unaskedSections = []string{
	".shstrtab", ".symtab", ".strtab", ".symtab_shndx", ".dynsym", ".dynstr", ".dynamic", ".hash", ".gnu.hash",
	".gnu.version", ".gnu.version_d", ".gnu.version_r", ".note.gnu.build-id", ".note", ".rela.plt", ".group",
	".gnu_debuglink", ".gnu_debugaltlink", ".gnu_debugdata", ".eh_frame", ".eh_frame_hdr", ".gopclntab", ".sframe",
	".debug_abbrev", ".debug_str", ".debug_line_str", ".debug_str_offsets", ".debug_addr", ".debug_line", ".debug_rnglists", ".debug_types",
}

// sectionKinds are the types of the sections that are found by type.
var sectionKinds = map[string]elf.SectionType{
	".shstrtab": elf.SHT_STRTAB, ".symtab": elf.SHT_SYMTAB, ".strtab": elf.SHT_STRTAB, ".symtab_shndx": elf.SHT_SYMTAB_SHNDX,
	".dynsym": elf.SHT_DYNSYM, ".dynstr": elf.SHT_STRTAB, ".dynamic": elf.SHT_DYNAMIC, ".hash": elf.SHT_HASH, ".gnu.hash": elf.SHT_GNU_HASH,
	".gnu.version": elf.SHT_GNU_VERSYM, ".gnu.version_d": elf.SHT_GNU_VERDEF, ".gnu.version_r": elf.SHT_GNU_VERNEED,
	".note.gnu.build-id": elf.SHT_NOTE, ".note": elf.SHT_NOTE, ".rela.plt": elf.SHT_RELA, ".group": elf.SHT_GROUP,
}

// compressedTables returns a sound program with all these sections. The named ones are
// compressed, and inflate to size bytes each.
func compressedTables(kind elf.CompressionType, size int, compressed ...string) []byte {
	at := map[string]uint32{} // numbers of the sections
	for i, n := range unaskedSections[1:] {
		at[n] = firstSection + uint32(i)
	}

	// Both symbol tables have one function.
	symbol := append(le.AppendUint32(make([]byte, 24), 1), byte(elf.STB_GLOBAL)<<4|byte(elf.STT_FUNC), 0, 2, 0)
	symbol = append(symbol, body(TextAddr, 16)...)
	names := []byte("\x00f\x00")

	// The sections refer to each other as in a real program, so that readers follow the
	// references.
	filled := map[string]section{
		".symtab":  {data: symbol, link: at[".strtab"], entry: 24},
		".strtab":  {data: names},
		".dynsym":  {data: symbol, link: at[".dynstr"], entry: 24},
		".dynstr":  {data: names},
		".dynamic": {data: slices.Concat(body(uint64(elf.DT_SONAME), 1), body(0, 0)), link: at[".dynstr"], entry: 16},

		".gnu.version":   {data: make([]byte, 4), link: at[".dynsym"], entry: 2},
		".gnu.version_d": {link: at[".dynstr"]},
		".gnu.version_r": {link: at[".dynstr"]},
		".hash":          {link: at[".dynsym"]},
		".gnu.hash":      {link: at[".dynsym"]},
		".rela.plt":      {link: at[".dynsym"], entry: 24},
		".symtab_shndx":  {data: make([]byte, 8), link: at[".symtab"], entry: 4},
		".group":         {link: at[".symtab"]},
		".debug_abbrev":  {data: append(abbrev(1, dwarf.TagCompileUnit, true), 0)},
	}

	// buildPacked adds .shstrtab itself.
	var sections []section
	for _, n := range unaskedSections[1:] {
		s := filled[n]
		s.name, s.kind = n, cmp.Or(sectionKinds[n], elf.SHT_PROGBITS)
		sections = append(sections, s)
	}

	// A unit, so that .debug_info is worth reading.
	sections = append(sections, debug(".debug_info", unit(nil)))
	return buildPacked(textSize, sections, func(s *section) {
		if !slices.Contains(compressed, s.name) {
			return
		}

		// An Elf64_Chdr comes before the compressed bytes.
		header := le.AppendUint64(le.AppendUint32(le.AppendUint32(nil, uint32(kind)), 0), uint64(size))
		header = le.AppendUint64(header, 1)
		s.flags |= elf.SHF_COMPRESSED
		if kind == elf.COMPRESS_ZLIB {
			s.data = append(header, zlibZeros(s.data, size)...)
		} else {
			s.data = append(header, zstdZeros(s.data, size)...)
		}
	})
}

// zlibZeros returns a zlib stream (RFC 1950) of begin and zeros, size bytes in all. One
// compressed block of zeros stands for all others.
func zlibZeros(begin []byte, size int) []byte {
	const block = 1 << 20
	out := []byte{0x78, 0x01}
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestCompression) // the level is a legal one
	chunk := func(data []byte) []byte {
		b.Reset()
		w.Reset(&b)
		w.Write(data) // to memory: cannot fail
		w.Flush()
		return bytes.Clone(b.Bytes())
	}

	// The first block begins with the section's own bytes.
	first := append(bytes.Clone(begin), make([]byte, block-len(begin))...)
	out = append(out, chunk(first)...)
	out = append(out, bytes.Repeat(chunk(make([]byte, block)), size/block-1)...)
	out = append(out, 1, 0, 0, 0xff, 0xff) // the last block, stored, of no bytes

	// Adler-32 (RFC 1950 §8.2): zeros leave the first sum as it is.
	const mod = 65521
	s1, s2 := uint64(1), uint64(0)
	for _, c := range begin {
		s1 = (s1 + uint64(c)) % mod
		s2 = (s2 + s1) % mod
	}

	s2 = (s2 + s1*uint64(size-len(begin))) % mod
	return append(out, byte(s2>>8), byte(s2), byte(s1>>8), byte(s1))
}

// zstdZeros returns a zstd frame (RFC 8878 §3.1.1) of begin and zeros, size bytes in all: a
// raw block, and blocks of one repeated byte.
func zstdZeros(begin []byte, size int) []byte {
	const raw, rle, most = 0, 1, 128 << 10
	header := func(kind, n int, last bool) []byte {
		v := n<<3 | kind<<1
		if last {
			v |= 1
		}
		return []byte{byte(v), byte(v >> 8), byte(v >> 16)}
	}

	out := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3} // magic, no content size, a window of 128 KiB
	out = append(append(out, header(raw, len(begin), false)...), begin...)
	// The zeros follow in blocks of the largest size.
	for left := size - len(begin); left > 0; {
		n := min(left, most)
		left -= n
		out = append(append(out, header(rle, n, left == 0)...), 0)
	}
	return out
}
