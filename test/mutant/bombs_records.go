package mutant

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"slices"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// A record of a few bytes takes hundreds of bytes in memory, and a compressed section inflates to
// hundreds of bytes for each byte of the file. recordBombs has, for each kind of record, a file
// with as many of the smallest legal record as fit into some megabytes: as they are, and
// compressed by zlib and by zstd.
func recordBombs() (bombs []Bomb) {
	for _, k := range slices.Concat(recordKinds, goKinds) {
		bombs = append(bombs, Bomb{k.name, func() []byte { return build(k.make(plainRecords)...) }})
		for _, kind := range []elf.CompressionType{elf.COMPRESS_ZLIB, elf.COMPRESS_ZSTD} {
			bombs = append(bombs, Bomb{k.name + ", compressed by " + compressionNames[kind], func() []byte {
				return buildPacked(textSize, k.make(packedRecords), func(s *section) { packSection(s, kind) })
			}})
		}
	}
	return bombs
}

// RecordKinds returns the names of the bombs of records that are not compressed.
func RecordKinds() (names []string) {
	for _, k := range recordKinds {
		names = append(names, k.name)
	}
	return names
}

// Sizes of all records of a bomb together, in bytes: in the file, and of a compressed section, which may
// inflate to 16 MiB whatever its ratio.
const plainRecords, packedRecords = 4 << 20, 15 << 20

// packSection compresses a section, unless that is one that the other sections need.
func packSection(s *section, kind elf.CompressionType) {
	if s.name == ".note.gnu.build-id" || s.name == ".text" || s.name == ".shstrtab" {
		return
	}
	var b bytes.Buffer
	if kind == elf.COMPRESS_ZLIB {
		w, _ := zlib.NewWriterLevel(&b, zlib.DefaultCompression) // the level is a legal one
		w.Write(s.data)                                          // to memory: cannot fail
		w.Close()
	} else {
		w, _ := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1)) // the options are legal ones
		w.Write(s.data)                                            // to memory: cannot fail
		w.Close()
	}

	header := le.AppendUint64(le.AppendUint32(le.AppendUint32(nil, uint32(kind)), 0), uint64(len(s.data)))
	s.data = append(le.AppendUint64(header, 1), b.Bytes()...)
	s.flags |= elf.SHF_COMPRESSED
}

// recordKind is a kind of records: make returns sections with size bytes of them.
type recordKind struct {
	name string
	make func(size int) []section
}

var recordKinds = []recordKind{
	{"units of length 0", func(size int) []section {
		return []section{debug(".debug_info", make([]byte, size)), debug(".debug_abbrev", []byte{0})}
	}},
	{"the smallest units", func(size int) []section { return infoOf(unit5(nil), size) }},
	{"the smallest type units", func(size int) []section {
		return infoOf(sized(5, 0, 2, 8, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 24, 0, 0, 0, 1), size)
	}},
	{"the smallest type units of DWARF 4", func(size int) []section {
		types := repeated(sized(4, 0, 0, 0, 0, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8, 23, 0, 0, 0, 1), size)
		return append(infoOf(unit5(nil), 1), debug(".debug_types", types))
	}},
	{"units with abbreviation tables of their own", func(size int) []section {
		var info, abbrevs []byte
		for len(info) < size/2 {
			at := uint32(len(abbrevs))
			info = append(info, sized(5, 0, 1, 8, byte(at), byte(at>>8), byte(at>>16), byte(at>>24), 1)...)
			abbrevs = append(append(abbrevs, abbrev(1, dwarf.TagCompileUnit, false)...), 0)
		}
		return []section{debug(".debug_info", info), debug(".debug_abbrev", abbrevs)}
	}},
	{"the smallest abbreviations", func(size int) []section {
		abbrevs := abbrev(1, dwarf.TagCompileUnit, true)
		for code := uint64(2); len(abbrevs) < size; code++ {
			abbrevs = appendULEB(abbrevs, code)
			abbrevs = append(abbrevs, 0x80|byte(code&0x7f), byte(code>>7&0x7f), 0, 0, 0)
		}
		return []section{debug(".debug_info", unit5([]byte{0})), debug(".debug_abbrev", append(abbrevs, 0))}
	}},
	{"abbreviations whose codes have gaps", func(size int) []section {
		abbrevs := abbrev(1, dwarf.TagCompileUnit, true)
		for code := uint64(3); len(abbrevs) < size; code += 2 {
			abbrevs = append(appendULEB(abbrevs, code), 0x34, 0, 0, 0)
		}
		return []section{debug(".debug_info", unit5([]byte{0})), debug(".debug_abbrev", append(abbrevs, 0))}
	}},
	{"the smallest functions", func(size int) []section { return diesOf([]byte{2, 0}, size) }},
	{"functions side by side", func(size int) []section {
		var dies []byte
		for i := range 128 {
			dies = append(dies, 2, byte(i))
		}
		return diesOf(dies, size)
	}},
	{"functions of short names", func(size int) []section {
		var dies []byte
		for i := range 128 {
			dies = append(dies, 4, byte(i), 'a'+byte(i%26), 'a'+byte(i/26), 0)
		}
		return diesOf(dies, size)
	}},
	{"functions with one range list", func(size int) []section {
		return append(diesOf([]byte{5, 0}, size/2), rangeLists(size/2))
	}},
	{"a function of the smallest ranges", func(size int) []section {
		return append(diesOf(append([]byte{5, 0}, make([]byte, 62)...), size/2), rangeLists(size/2))
	}},
	{"the smallest inlined calls", func(size int) []section {
		return diesOf([]byte{3, 17, 0}, size, 6, 0)
	}},
	{"inlined calls of functions of their own", func(size int) []section {
		var dies []byte
		for i := range 1 << 14 {
			dies = append(dies, 7, byte(17+i), byte((17+i)>>8), 0)
		}
		return diesOf(dies, size, 6, 0)
	}},
	{"scopes in each other, and functions in the innermost", func(size int) []section { return scopesOfChains(size, 200) }},
	{"scopes of long names in each other, and functions in the innermost", func(size int) []section { return scopesOfChains(size, 60_000) }},
	{"scopes without anything in them", func(size int) []section {
		return diesOf([]byte{8, 0, 0}, size, 2, 0)
	}},
	{"empty names of files", func(size int) []section { return lineTables(5, make([]byte, size), false) }},
	{"empty names of directories", func(size int) []section { return lineTables(5, make([]byte, size), true) }},
	{"names of files of one letter", func(size int) []section { return lineTables(4, repeated([]byte{'f', 0, 0, 0, 0}, size), false) }},
	{"names of directories of one letter", func(size int) []section { return lineTables(4, repeated([]byte{'d', 0}, size), true) }},
	{"files that a line program defines", func(size int) []section { return lineProgram(repeated([]byte{0, 6, 3, 'f', 0, 0, 0, 0}, size)) }},
	{"files of two letters, each with a line", func(size int) []section {
		var tables, code []byte
		for i := 1; len(tables)+len(code) < size; i++ {
			tables = append(tables, 'a'+byte(i%26), 'a'+byte(i/26%26), 'a'+byte(i/676%26), 'a'+byte(i/17576%26), 0, 0, 0, 0)
			code = append(appendULEB(append(code, 4), uint64(i)), 0x4b)
		}
		return linesSections(append(append([]byte{0}, tables...), 0), code)
	}},
	{"a row for each byte of a line program", func(size int) []section { return lineProgram(repeated([]byte{0x21, 0x20}, size)) }},
	{"the smallest sequences", func(size int) []section {
		return lineProgram(repeated([]byte{2, 0x80, 0x20, 1, 0x4b, 0, 1, 1}, size))
	}},
	{"the smallest FDEs", func(size int) []section { return callFrames(sized(0, 0, 0, 0, 0x00, 0x10, 1, 0), size) }},
	{"damaged FDEs", func(size int) []section { return callFrames(sized(0xff, 0xff, 0, 0), size) }},
	{"the smallest FDEs, each with a CIE", func(size int) []section {
		pair := append(sized(0, 0, 0, 0, 1, 'z', 'R', 0, 1, 1, 16, 1, 2, 0), sized(22, 0, 0, 0, 0, 0x10, 1, 0, 0)...)
		s := debug(".eh_frame", repeated(pair, size))
		s.flags, s.addr = elf.SHF_ALLOC, 0x100000
		return []section{s}
	}},
	{"the smallest symbols", func(size int) []section { return symbolTable([]byte("\x00f\x00"), []int{1}, size/24, 1, textSize) }},
	{"symbols whose names grow when they are demangled", func(size int) []section {
		return symbolTable([]byte("\x00_Z1fI"+doubling(9)+"Evv\x00"), []int{1}, size/24, 1, textSize)
	}},
	{"FDEs of SFrame", func(size int) []section {
		const addr = 0x80000000
		count := uint32(size / 20)
		b := []byte{0xe2, 0xde, 2, 0, 3, 0, 0xf8, 0}
		for _, v := range []uint32{count, 1, 4, 0, count * 20} {
			b = le.AppendUint32(b, v)
		}
		var fde []byte
		start := int32(TextAddr - addr)
		for _, v := range []uint32{uint32(start), 1, 0, 1, 0} {
			fde = le.AppendUint32(fde, v)
		}
		s := debug(".sframe", append(append(b, bytes.Repeat(fde, int(count))...), 0, 2, 8, 0))
		s.flags, s.addr = elf.SHF_ALLOC, addr
		return []section{s}
	}},
	{"SFrame sections of no functions, joined", func(size int) []section {
		s := debug(".sframe", repeated(append([]byte{0xe2, 0xde, 2, 0, 3, 0, 0xf8, 0}, make([]byte, 20)...), size))
		s.flags, s.addr = elf.SHF_ALLOC, 0x80000000
		return []section{s}
	}},
}

// repeated returns b again and again, up to size bytes, but at least once.
func repeated(b []byte, size int) []byte { return bytes.Repeat(b, max(size/len(b), 1)) }

// sized returns a 32-bit length and the bytes.
func sized(data ...byte) []byte { return append(le.AppendUint32(nil, uint32(len(data))), data...) }

// appendULEB appends a ULEB128.
func appendULEB(b []byte, v uint64) []byte {
	for ; v >= 0x80; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return append(b, byte(v))
}

// unit5 returns a unit of DWARF 5 whose root has abbreviation 1 and these DIEs as children.
func unit5(dies []byte) []byte {
	return sized(append([]byte{5, 0, 1, 8, 0, 0, 0, 0, 1}, dies...)...)
}

// infoOf returns a .debug_info of equal units without attributes.
func infoOf(unit []byte, size int) []section {
	return []section{debug(".debug_info", repeated(unit, size)), debug(".debug_abbrev", append(abbrev(1, dwarf.TagCompileUnit, false), 0))}
}

// Attributes and forms of DWARF 5.
const (
	formImplicitConst, formAddrx, formRnglistx, formRef1, formRef2, formStrx = 0x21, 0x1b, 0x23, 0x11, 0x12, 0x1a
)

// diesOf returns a unit of the DIEs, again and again, after other ones. Abbreviation 2 is a function of one
// byte at an index of .debug_addr, 3 and 7 are calls of such code, of a DIE in the first 256 bytes of
// the unit and in the first 64 KiB, 4 is a function with a name, 5 one with range list 0, 6 is 2 with
// children, 8 is a scope.
func diesOf(dies []byte, size int, before ...byte) []section {
	high := []byte{atHighPC, formImplicitConst, 1}
	abbrevs := slices.Concat(
		abbrev(1, dwarf.TagCompileUnit, true),
		abbrev(2, dwarf.TagSubprogram, false, append([]byte{atLowPC, formAddrx}, high...)...),
		abbrev(3, dwarf.TagInlinedSubroutine, false, append([]byte{atOrigin, formRef1, atLowPC, formAddrx}, high...)...),
		abbrev(4, dwarf.TagSubprogram, false, append([]byte{atLowPC, formAddrx, atName, formString}, high...)...),
		abbrev(5, dwarf.TagSubprogram, false, atRanges, formRnglistx),
		abbrev(6, dwarf.TagSubprogram, true, append([]byte{atLowPC, formAddrx}, high...)...),
		abbrev(7, dwarf.TagInlinedSubroutine, false, append([]byte{atOrigin, formRef2, atLowPC, formAddrx}, high...)...),
		abbrev(8, dwarf.TagNamespace, true, atName, formString),
		[]byte{0})

	// .debug_addr has a header of 8 bytes, and here the addresses of 256 bytes of .text.
	addrs := append(le.AppendUint32(nil, 4+8*256), 5, 0, 8, 0)
	for i := range uint64(256) {
		addrs = le.AppendUint64(addrs, TextAddr+i)
	}
	info := unit5(append(bytes.Clone(before), repeated(dies, size)...))
	return []section{debug(".debug_info", info), debug(".debug_abbrev", abbrevs), debug(".debug_addr", addrs)}
}

// rangeLists returns a .debug_rnglists with one list of ranges of one byte.
func rangeLists(size int) section {
	// DW_RLE_base_address comes before pairs of offsets.
	list := append(le.AppendUint64([]byte{5}, TextAddr), repeated([]byte{4, 0, 1, 4, 2, 3, 4, 4, 5, 4, 6, 7}, size)...)
	header := []byte{5, 0, 8, 0, 1, 0, 0, 0, 4, 0, 0, 0}
	return debug(".debug_rnglists", sized(slices.Concat(header, list, []byte{0})...))
}

// scopesOfChains returns chains of a thousand namespaces in each other, whose names have so many letters,
// each with a function in the innermost.
func scopesOfChains(size, letters int) []section {
	const depth = 1000
	chain := bytes.Repeat([]byte{2, 0, 0, 0, 0}, depth)
	chain = append(append(chain, 3, 'f', 0), body(TextAddr, 1)...)
	chain = append(chain, make([]byte, depth)...)
	abbrevs := slices.Concat(abbrev(1, dwarf.TagCompileUnit, true, 0x13, 0x0b), abbrev(2, dwarf.TagNamespace, true, atName, formStrp),
		abbrev(3, dwarf.TagSubprogram, false, atName, formString, atLowPC, formAddr, atHighPC, formData8), []byte{0})

	// The language is C++.
	info := unit5(append([]byte{4}, repeated(chain, size)...))
	return []section{debug(".debug_info", info), debug(".debug_abbrev", abbrevs), debug(".debug_str", append(bytes.Repeat([]byte{'n'}, letters), 0))}
}

// lineTables returns a line table with these names of files or directories.
func lineTables(version byte, names []byte, dirs bool) []section {
	if version == 4 {
		if dirs {
			return linesSections(append(names, 0, 'f', 0, 0, 0, 0, 0), []byte{0x4b})
		}
		return linesSections(append(append([]byte{0}, names...), 0), []byte{0x4b})
	}

	// A table has the number of its columns, each a DW_LNCT_path that is a DW_FORM_string, and
	// the number of its entries.
	table := append(appendULEB([]byte{1, 1, formString}, uint64(len(names))), names...)
	empty := []byte{1, 1, formString, 1, 0}
	tables := append(empty, table...)
	if dirs {
		tables = append(table, empty...)
	}
	header := append([]byte{1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1}, tables...)
	program := append(le.AppendUint32([]byte{5, 0, 8, 0}, uint32(len(header))), header...)
	return withLines(sized(append(program, lineCode([]byte{0x4b})...)...))
}

// lineCode returns code between DW_LNE_set_address and DW_LNE_end_sequence.
func lineCode(code []byte) []byte {
	return slices.Concat(le.AppendUint64([]byte{0, 9, 2}, TextAddr), code, []byte{0, 1, 1})
}

func lineProgram(code []byte) []section {
	return linesSections([]byte("d\x00\x00f\x00\x01\x00\x00\x00"), code)
}

// linesSections returns a function over all of .text, and a line program of DWARF 4.
func linesSections(tables, code []byte) []section {
	_, program := lineSections(tables, code)
	return withLines(program)
}

// withLines returns a function over all of .text, and its .debug_line.
func withLines(program []byte) []section {
	abbrevs, _ := lineSections(nil, nil)
	dies := slices.Concat([]byte{4, 0, 0, 0, 0, 0, 8, 1, 0, 0, 0, 0, 2, 'f', 0}, body(TextAddr, textSize), []byte{0})
	return []section{debug(".debug_info", sized(dies...)), debug(".debug_abbrev", abbrevs), debug(".debug_line", program)}
}

// callFrames returns a .debug_frame with a CIE whose addresses have two bytes, and FDEs.
func callFrames(fde []byte, size int) []section {
	cie := sized(0xff, 0xff, 0xff, 0xff, 4, 0, 2, 0, 1, 0x7c, 16, 0x0c, 7, 8)
	return []section{debug(".debug_frame", append(cie, repeated(fde, size)...))}
}
