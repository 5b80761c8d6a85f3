package mutant

import (
	"bytes"
	"compress/zlib"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Bomb is a small file that takes a great deal of time or memory to read.
type Bomb struct {
	Name string
	Make func() []byte
}

// All has the bombs by the kind of their file: "elf", "dump" (cores and minidumps), "sym"
// (symbol files), "packed" (symbol files that are packed), "gsym", "dwp" (packages of split units).
var All = allBombs()

func allBombs() map[string][]Bomb {
	plain, packed := symRecordBombs()
	return map[string][]Bomb{
		"elf": slices.Concat(Bombs, moreBombs, frameBombs, compressedBombs(), recordBombs(),
			[]Bomb{{"entries of .ARM.exidx", func() []byte { return exidxBomb(plainRecords) }}}),
		"dump":   slices.Concat(dumpBombs, dumpRecordBombs()),
		"sym":    slices.Concat(symBombs, plain),
		"packed": packed,
		"gsym":   gsymBombs,
		"dwp":    companionBombs(),
	}
}

// Bombs are ELF files, each one kind of trap for readers of ELF, DWARF, call frame
// information and symbols.
var Bombs = []Bomb{
	{"zlib section of 1 KB that claims 1 TB", func() []byte { return compressed(elf.COMPRESS_ZLIB, 1<<40, deflated(1000)) }},
	{"zstd section of 1 KB that claims 1 TB", func() []byte { return compressed(elf.COMPRESS_ZSTD, 1<<40, make([]byte, 1000)) }},
	{".zdebug_info that claims 1 TB", func() []byte {
		return build(debug(".zdebug_info", append(binary.BigEndian.AppendUint64([]byte("ZLIB"), 1<<40), deflated(1000)...)))
	}},
	{"zlib section of 256 KB that holds 256 MB", func() []byte { return compressed(elf.COMPRESS_ZLIB, 256<<20, deflated(256<<20)) }},
	{"DIEs one million deep", func() []byte { return dwarfFile(tree(dwarf.TagLexDwarfBlock), nested(), textRange()) }},
	{"subprograms one million deep", func() []byte { return dwarfFile(tree(dwarf.TagSubprogram), nested(), textRange()) }},
	{"inlined calls one million deep", func() []byte { return dwarfFile(tree(dwarf.TagInlinedSubroutine), nested(), textRange()) }},
	{"specifications in a circle", specifications},
	{"a function over all of 2^64 bytes", func() []byte { return function(0, ^uint64(0)) }},
	{"a function that wraps around", func() []byte { return function(TextAddr, ^uint64(0)) }},
	{"thousands of attributes without bytes", zeroSized},
	{"one range list read by every function", sharedRanges},
	{"one long name for every function", longNames},
	{"a line program that only emits rows", func() []byte { return lineFile(bytes.Repeat([]byte{1}, 2<<20)) }},
	{"a line program that advances for ever", func() []byte { return lineFile(bytes.Repeat([]byte{8, 1}, 1<<20)) }},
	{"a line program of sequences", func() []byte { return lineFile(bytes.Repeat([]byte{0, 1, 1}, 1<<19)) }},
	{"one long directory for every file", longPaths},
	{"call frame advances", func() []byte { return frames(bytes.Repeat([]byte{4, 0xff, 0xff, 0xff, 0xff, 0x0e, 8}, 1<<17), 1) }},
	{"remembered states", func() []byte { return frames(bytes.Repeat([]byte{0x0a}, 1<<20), 1) }},
	{"a hundred thousand FDEs of all memory", func() []byte { return frames(nil, 100_000) }},
	{"rows of every byte, a thousand times", func() []byte { return frames(bytes.Repeat([]byte{0x41, 0x0e, 8, 0x41, 0x0e, 16}, 500), 1000) }},
	{"one long name for every symbol", longSymbols},
	{"names that grow when they are demangled", mangled},
	{"hundreds of names of a thousand substitutions", manyMangled},
	{"SFrame with 2^32 FDEs", func() []byte { return sframe(^uint32(0), ^uint32(0)) }},
	{"a Go table of 2^32 functions", gopclntab},
}

var le = binary.LittleEndian

// deflated returns a zlib stream of zeros.
func deflated(size int) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	for zeros := make([]byte, 1<<16); size > 0; size -= len(zeros) {
		w.Write(zeros[:min(size, len(zeros))]) // to memory: cannot fail
	}
	w.Close()
	return b.Bytes()
}

// compressed returns a file whose .debug_info has an Elf64_Chdr that claims size bytes.
func compressed(kind elf.CompressionType, size uint64, data []byte) []byte {
	// The header has ch_type, ch_reserved, ch_size and ch_addralign.
	header := le.AppendUint64(le.AppendUint32(le.AppendUint32(nil, uint32(kind)), 0), size)
	s := debug(".debug_info", append(le.AppendUint64(header, 1), data...))
	s.flags = elf.SHF_COMPRESSED
	return build(s, debug(".debug_abbrev", []byte{0}))
}

// abbrev returns one abbreviation. attrs are pairs of attribute and form.
func abbrev(code byte, tag dwarf.Tag, children bool, attrs ...byte) []byte {
	b := []byte{code, byte(tag), 0}
	if children {
		b[2] = 1
	}
	return append(append(b, attrs...), 0, 0)
}

// Attributes and forms (DWARF 5, §7.5.4 and §7.5.6).
const (
	atName, atStmtList, atLowPC, atHighPC, atOrigin, atSpecification, atRanges = 0x03, 0x10, 0x11, 0x12, 0x31, 0x47, 0x55

	formAddr, formData8, formString, formStrp, formRef4, formSecOffset, formPresent = 0x01, 0x07, 0x08, 0x0e, 0x13, 0x17, 0x19
)

// unit returns a DWARF 4 compilation unit. Its root has abbreviation 1, which has no
// attributes, and the DIEs as its children.
func unit(dies []byte) []byte {
	// The header has unit_length, version, debug_abbrev_offset and address_size; the code of
	// the root follows.
	b := le.AppendUint32(nil, uint32(7+1+len(dies)+1))
	b = append(b, 4, 0, 0, 0, 0, 0, 8, 1)
	return append(append(b, dies...), 0)
}

// firstDIE is the offset in a unit of the DIE after the root.
const firstDIE = 4 + 7 + 1

// dwarfFile returns a file with one unit of these DIEs. abbrevs begin with number 2.
func dwarfFile(abbrevs, dies []byte, more ...section) []byte {
	// Abbreviation 1 is that of the unit's root.
	abbrevs = append(append(abbrev(1, dwarf.TagCompileUnit, true), abbrevs...), 0)
	return build(append(more, debug(".debug_info", unit(dies)), debug(".debug_abbrev", abbrevs))...)
}

// tree returns the abbreviation of a DIE with children that covers all of .text.
func tree(tag dwarf.Tag) []byte {
	return abbrev(2, tag, true, atRanges, formSecOffset)
}

// nested returns DIEs of which each has the next one as its child.
func nested() []byte {
	const depth = 1 << 20

	// Each DIE has the range list at offset 0. The zeros end the lists of children.
	return append(bytes.Repeat([]byte{2, 0, 0, 0, 0}, depth), make([]byte, depth)...)
}

// textRange returns a range list of all of .text.
func textRange() section {
	return debug(".debug_ranges", append(body(TextAddr, TextAddr+textSize), make([]byte, 16)...))
}

// body returns a subprogram's attributes low_pc and high_pc.
func body(low, size uint64) []byte {
	return le.AppendUint64(le.AppendUint64(nil, low), size)
}

// function returns a file with one function.
func function(low, size uint64) []byte {
	die := append([]byte{2, 'f', 0}, body(low, size)...)
	return dwarfFile(abbrev(2, dwarf.TagSubprogram, false, atName, formString, atLowPC, formAddr, atHighPC, formData8), die)
}

// specifications returns a file with three functions: a refers to b, b to c, c to a.
func specifications() []byte {
	const size = 1 + 4 + 16
	var dies []byte
	for i := range 3 {
		dies = le.AppendUint32(append(dies, 2), uint32(firstDIE+(i+1)%3*size))
		dies = append(dies, body(TextAddr+uint64(16*i), 16)...)
	}
	return dwarfFile(abbrev(2, dwarf.TagSubprogram, false, atSpecification, formRef4, atLowPC, formAddr, atHighPC, formData8), dies)
}

// zeroSized returns a file whose DIEs have thousands of attributes each.
func zeroSized() []byte {
	// DW_FORM_flag_present takes no bytes, so a DIE has one byte, whatever the number of its
	// attributes.
	attrs := bytes.Repeat([]byte{atName, formPresent}, 8000)
	return dwarfFile(abbrev(2, dwarf.TagSubprogram, false, attrs...), bytes.Repeat([]byte{2}, 1<<20))
}

func sharedRanges() []byte {
	var ranges []byte
	for i := range uint64(1 << 16) {
		ranges = le.AppendUint64(le.AppendUint64(ranges, TextAddr+i%4096), TextAddr+i%4096+1)
	}

	// Every function has the list at offset 0.
	dies := bytes.Repeat([]byte{2, 0, 0, 0, 0}, 1<<16)
	return dwarfFile(abbrev(2, dwarf.TagSubprogram, false, atRanges, formSecOffset), dies, debug(".debug_ranges", append(ranges, make([]byte, 16)...)))
}

func longNames() []byte {
	var dies []byte
	for i := range uint64(1 << 17) {
		// The names are the ends of one string of a megabyte.
		dies = append(append(dies, 2, byte(i), 0, 0, 0), body(TextAddr+i%textSize, 1)...)
	}
	return dwarfFile(abbrev(2, dwarf.TagSubprogram, false, atName, formStrp, atLowPC, formAddr, atHighPC, formData8),
		dies, debug(".debug_str", append([]byte(strings.Repeat("n", 1<<20)), 0)))
}

// lineFile returns a file with a unit and its DWARF 4 line program, which sets an address
// and then runs code.
func lineFile(code []byte) []byte {
	return linesOf([]byte("d\x00\x00f\x00\x01\x00\x00\x00"), code)
}

// linesOf is lineFile with tables of directories and files.
func linesOf(tables, code []byte) []byte {
	abbrevs, program := lineSections(tables, code)
	// The unit's root has a line table, and its one child is a function over all of .text.
	dies := slices.Concat([]byte{4, 0, 0, 0, 0, 0, 8, 1, 0, 0, 0, 0, 2, 'f', 0}, body(TextAddr, textSize), []byte{0})
	info := append(le.AppendUint32(nil, uint32(len(dies))), dies...)
	return build(debug(".debug_info", info), debug(".debug_abbrev", abbrevs), debug(".debug_line", program))
}

// lineSections returns a line program, and the abbreviations of a unit with a line program
// and of a function.
func lineSections(tables, code []byte) (abbrevs, program []byte) {
	// The line base is -5, the line range 14, and the first special opcode 13.
	header := append([]byte{1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1}, tables...)

	// The code is between DW_LNE_set_address and DW_LNE_end_sequence.
	start := le.AppendUint64([]byte{0, 9, 2}, TextAddr)
	code = slices.Concat(start, code, []byte{0, 1, 1})
	program = le.AppendUint32([]byte{4, 0}, uint32(len(header)))
	program = slices.Concat(program, header, code)
	program = append(le.AppendUint32(nil, uint32(len(program))), program...)
	abbrevs = append(abbrev(1, dwarf.TagCompileUnit, true, atStmtList, formSecOffset),
		append(abbrev(2, dwarf.TagSubprogram, false, atName, formString, atLowPC, formAddr, atHighPC, formData8), 0)...)
	return abbrevs, program
}

func longPaths() []byte {
	tables := append([]byte(strings.Repeat("d", 60_000)), 0, 0)
	var code []byte
	for i := range 10_000 {
		// Each file has a name of three letters, and directory 1.
		tables = append(tables, 'a'+byte(i%26), 'a'+byte(i/26%26), 'a'+byte(i/676%26), 0, 1, 0, 0)
		code = append(code, 4, byte(1+i)|0x80, byte((1+i)>>7), 0x4b) // set_file, one byte and one line on
	}
	return linesOf(append(tables, 0), code)
}

// frames returns a file with an .eh_frame of one CIE, and of count FDEs over all of .text.
func frames(code []byte, count int) []byte {
	// The CFA is rsp + 8, and the return address is at the CFA - 8.
	cie := append([]byte{0, 0, 0, 0, 1, 0, 1, 0x78, 16}, 0x0c, 7, 8, 0x90, 1, 0, 0)
	data := append(le.AppendUint32(nil, uint32(len(cie))), cie...)
	for range count {
		fde := le.AppendUint32(nil, uint32(len(data)+4))
		fde = append(fde, body(TextAddr, textSize)...)
		fde = append(fde, code...)
		data = append(append(data, le.AppendUint32(nil, uint32(len(fde)))...), fde...)
	}

	// A length of zero ends the section.
	s := debug(".eh_frame", append(data, 0, 0, 0, 0))
	s.flags, s.addr = elf.SHF_ALLOC, 0x100000
	return build(s)
}

// symbols returns a file with a symbol table: the symbols have these names in turn, and lie
// at each byte of .text in turn.
func symbols(strs []byte, offsets []int, count int) []byte {
	return build(symbolTable(strs, offsets, count, 1, textSize)...)
}

// symbolTable returns a symbol table and its strings, which must be the first two sections
// of a file. The symbols have these names in turn, and lie step bytes apart in a .text of
// the given size.
func symbolTable(strs []byte, offsets []int, count int, step, size uint64) []section {
	table := make([]byte, 24)
	for i := range count {
		table = le.AppendUint32(table, uint32(offsets[i%len(offsets)]))
		table = append(table, byte(elf.STB_GLOBAL)<<4|byte(elf.STT_FUNC), 0, 2, 0)
		table = append(table, body(TextAddr+uint64(i)*step%size, 1)...)
	}
	return []section{{name: ".symtab", kind: elf.SHT_SYMTAB, data: table, link: 4, entry: 24}, {name: ".strtab", kind: elf.SHT_STRTAB, data: strs}}
}

func longSymbols() []byte {
	return symbols(append([]byte(strings.Repeat("n", 1<<16)), 0), []int{0, 1, 2, 3}, 1<<16)
}

// mangled returns a file with names in which every substitution doubles the text before
// it.
func mangled() []byte {
	strs := []byte{0}
	var offsets []int

	// Names of the Itanium C++ ABI come first, then names of Rust's v0.
	for _, name := range []string{
		"_ZN1aI" + strings.Repeat("1aI", 100) + "i" + strings.Repeat("E", 101) + "E1fEv",
		"_Z1f" + "1aIiiE" + strings.Repeat("S_S0_", 50),
		"_Z1fPF" + strings.Repeat("PFvPF", 2000) + "v" + strings.Repeat("E", 4001),
		"_Z1fI" + doubling(40) + "Evv",
		"_Z1fI" + doubling(1000) + "Evv",
		"_RNvC1a1b" + strings.Repeat("INtB2_1a", 500) + strings.Repeat("E", 500),
		"_RIC3std" + doublingRust(30) + "E",
	} {
		offsets = append(offsets, len(strs))
		strs = append(append(strs, name...), 0)
	}
	return symbols(strs, offsets, textSize)
}

// doubling returns the arguments of a function template, of which each is a pair of the one before.
func doubling(n int) string {
	var b strings.Builder
	b.WriteString("1pIiiE")

	// S_ stands for the function, S0_ for p, S1_ for the first argument.
	for i := range n {
		argument := "S" + strings.ToUpper(strconv.FormatInt(int64(i+1), 36)) + "_"
		b.WriteString("S0_I" + argument + argument + "E")
	}
	return b.String()
}

// manyMangled returns a file with hundreds of functions whose names have a thousand substitutions each.
func manyMangled() []byte {
	strs := []byte{0}
	var offsets []int
	for i := range 300 {
		offsets = append(offsets, len(strs))
		strs = fmt.Appendf(strs, "_Z4f%03dI%sEvv\x00", i, doubling(1000))
	}
	return symbols(strs, offsets, textSize)
}

// doublingRust returns the same with v0's back references to tuples.
func doublingRust(n int) string {
	var b strings.Builder
	// Back references count from the end of the prefix _R.
	at := len("IC3std")
	b.WriteString("TllE")
	for range n {
		ref := "B" + string("0123456789abcdefghijklmnopqrstuvwxyz"[at%36]) + "_"
		at = b.Len() + len("IC3std")
		b.WriteString("T" + ref + ref + "E")
	}
	return b.String()
}

// sframe returns a file with an SFrame header of version 2 that claims FDEs and FREs.
func sframe(fdes, fres uint32) []byte {
	// After the fixed fields come the numbers of FDEs and FREs, the length of the FREs, and
	// two offsets.
	b := []byte{0xe2, 0xde, 2, 1, 3, 0, 0xf8, 0}
	for _, v := range []uint32{fdes, fres, 0xffffffff, 0, 0x1000} {
		b = le.AppendUint32(b, v)
	}
	s := debug(".sframe", append(b, make([]byte, 4096)...))
	s.flags, s.addr = elf.SHF_ALLOC, 0x100000
	return build(s)
}

// gopclntab returns a file with a header of Go 1.20 that claims 2^32 functions.
func gopclntab() []byte {
	// The header has a magic number, the quantum of code and the size of a pointer.
	b := []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8}
	for _, v := range []uint64{1<<32 - 1, 1<<32 - 1, TextAddr, 64, 64, 64, 64, 64} {
		b = le.AppendUint64(b, v)
	}
	s := debug(".gopclntab", append(b, make([]byte, 4096)...))
	s.flags, s.addr = elf.SHF_ALLOC, 0x100000
	return build(s)
}

// Named makes the bomb called name. It panics if there is none.
func Named(name string) []byte {
	for _, bombs := range All {
		for _, b := range bombs {
			if b.Name == name {
				return b.Make()
			}
		}
	}
	panic("no bomb is called " + name)
}
