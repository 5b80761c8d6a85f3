package mutant

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"slices"
	"strings"
)

// moreBombs are files in which many small parts share one large part: the number of records
// that they describe is the product of both.
var moreBombs = []Bomb{
	{"a quarter of a million functions at one address", flatFunctions},
	{"functions below a thousand long scopes", deepScopes},
	{"functions with one origin, a quarter of a million DIEs away", originChain},
	{"functions that are each other's scopes and origins", originScopes},
	{"functions of C++ that are each other's scopes and origins", cxxOriginScopes},
	{"scopes of C++ that are declared elsewhere", declaredScopes},
	{"inlined calls of one range list in every function", inlinedRanges},
	{"inlined calls one thousand deep in every function", inlinedTrees},
	{"inlined calls one thousand deep of one long name", namedCalls},
	{"an inlined call in one of many ranges, with ranges that overlap", overlappingRanges},
	{"inlined calls in each other that have all the ranges of one", deepInRanges},
	{"inlined calls side by side that have all the ranges of one", sharedInRanges},
	{"a function of many ranges with inlined calls side by side", rangesOfCalls},
	{"a function of many ranges with inlined calls in each other", rangesOfDeepCalls},
	{"units that share a table of files", func() []byte { return sharedLines(nil) }},
	{"units that share a line program", func() []byte { return sharedLines(bytes.Repeat([]byte{0x4b}, 1<<17)) }},
	{"units whose line programs are the ends of one", overlappingLines},
	{"units that share an abbreviation table", func() []byte { return sharedAbbrevs(0) }},
	{"units whose abbreviation tables are the ends of one", func() []byte { return sharedAbbrevs(5) }},
	{"string offsets that overlap", stringOffsets},
	{"a line program of the largest steps", func() []byte { return lineFile(bytes.Repeat([]byte{0xff, 2, 0xff, 0xff, 3}, 1<<18)) }},
	{"a CIE of a million instructions", func() []byte { return bigCIE(bytes.Repeat([]byte{0x90, 1}, 1<<19), nil, 50_000) }},
	{"a CIE of a long expression", func() []byte { return bigCIE(longExpression(1<<16), nil, 20_000) }},
	{"an expression in each row", func() []byte {
		return bigCIE(longExpression(1<<12), bytes.Repeat([]byte{0x41, 0x0e, 8, 0x41, 0x0e, 16}, 400), 100)
	}},
	{"remembered states of all registers", func() []byte { return frames(append(allRegisters(), bytes.Repeat([]byte{0x0a}, 1<<20)...), 1) }},
	{"rows of all registers", func() []byte {
		return frames(append(allRegisters(), bytes.Repeat([]byte{0x41, 0x0a, 0x0b}, 4000)...), 200)
	}},
	{"restored states", func() []byte { return frames(bytes.Repeat([]byte{0x0a, 0x0b}, 1<<20), 1) }},
	{"SFrame FDEs that share rows", sharedSFrame},
	{"a Go table whose functions share their lines", sharedGoLines},
	{"notes that headers share", sharedNotes},
	{"functions and symbols at one address", flatSymbols},
	{"units whose lines are of all symbols", sharedSymbols},
	{"slots of one function with a long name", sharedLinkage},
	{"a million symbols at one address", func() []byte { return symbols([]byte("f\x00"), []int{0}, 1<<20) }},
}

func flatFunctions() []byte {
	return dwarfFile(abbrev(2, dwarf.TagSubprogram, false, atRanges, formSecOffset), bytes.Repeat([]byte{2, 0, 0, 0, 0}, 1<<18), textRange())
}

// flatSymbols returns a file with functions with names of their own, and symbols with one
// name, all at one address.
func flatSymbols() []byte {
	var dies []byte
	for i := range 1 << 16 {
		dies = append(dies, 2, 'a'+byte(i&15), 'a'+byte(i>>4&15), 'a'+byte(i>>8&15), 'a'+byte(i>>12&15), 0)
		dies = append(dies, body(TextAddr, 1)...)
	}
	abbrevs := append(abbrev(2, dwarf.TagSubprogram, false, atName, formString, atLowPC, formAddr, atHighPC, formData8), 0)
	return buildText(textSize, append(symbolTable([]byte("f\x00"), []int{0}, 1<<18, 0, textSize), debug(".debug_info", unit(dies)),
		debug(".debug_abbrev", append(abbrev(1, dwarf.TagCompileUnit, true), abbrevs...))))
}

// sharedSymbols returns a file with units without functions, and symbols that no DIE
// describes. The line program of each unit has one row, of all of .text.
func sharedSymbols() []byte {
	const units = 1 << 13
	code := append([]byte{1, 2}, binary.AppendUvarint(nil, largeText)...) // a row, and the end
	abbrevs, program := lineSections([]byte("d\x00\x00f\x00\x01\x00\x00\x00"), code)
	var info []byte
	for i := range units {
		dies := append(le.AppendUint32([]byte{4, 0, 0, 0, 0, 0, 8, 1}, uint32(i*len(program))), 0)
		info = append(le.AppendUint32(info, uint32(len(dies))), dies...)
	}
	return buildText(largeText, append(symbolTable([]byte("f\x00"), []int{0}, largeText/8, 8, largeText), debug(".debug_info", info),
		debug(".debug_abbrev", abbrevs), debug(".debug_line", bytes.Repeat(program, units))))
}

// named returns two abbreviations: 2 is a namespace with a name in .debug_str, 3 is a
// function with its name in place.
func named() []byte {
	return append(abbrev(2, dwarf.TagNamespace, true, atName, formStrp),
		abbrev(3, dwarf.TagSubprogram, false, atName, formString, atLowPC, formAddr, atHighPC, formData8)...)
}

func deepScopes() []byte {
	const depth = 1000
	dies := bytes.Repeat([]byte{2, 0, 0, 0, 0}, depth)
	for i := range uint64(1 << 16) {
		dies = append(append(dies, 3, 'a'+byte(i%26), 'a'+byte(i/26%26), 'a'+byte(i/676%26), 0), body(TextAddr+i%textSize, 1)...)
	}
	return dwarfFile(named(), append(dies, make([]byte, depth)...), debug(".debug_str", append(bytes.Repeat([]byte("n"), 1000), 0)))
}

// originChain returns a file with declarations, each with the next one as its origin, and
// functions whose origin is the first declaration.
func originChain() []byte {
	const count = 1 << 18
	var dies []byte
	for i := range count {
		dies = le.AppendUint32(append(dies, 2), uint32(firstDIE+5*(i+1)))
	}

	// The last declaration has the function with a name as its origin.
	dies = append(dies, 3, 'f', 0)
	for i := range uint64(1 << 16) {
		dies = append(append(dies, 4, firstDIE, 0, 0, 0), body(TextAddr+i%textSize, 1)...)
	}

	return dwarfFile(slices.Concat(abbrev(2, dwarf.TagSubprogram, false, atOrigin, formRef4),
		abbrev(3, dwarf.TagSubprogram, false, atName, formString),
		abbrev(4, dwarf.TagSubprogram, false, atOrigin, formRef4, atLowPC, formAddr, atHighPC, formData8)), dies)
}

// originScopes returns a file with nested functions. Each has the function around it
// as its origin.
func originScopes() []byte {
	const depth, size = 1000, 1 + 2 + 4 + 16
	var dies []byte
	for i := range depth {
		dies = le.AppendUint32(append(dies, 2, 'a'+byte(i%26), 0), uint32(firstDIE+max(i-1, 0)*size))
		dies = append(dies, body(TextAddr+uint64(i), textSize-uint64(i))...)
	}
	return dwarfFile(abbrev(2, dwarf.TagSubprogram, true, atName, formString, atOrigin, formRef4, atLowPC, formAddr, atHighPC, formData8),
		append(dies, make([]byte, depth)...))
}

// cxxFile is dwarfFile with a unit of C++, in which names have scopes. The root has an
// attribute of one byte, so the DIEs begin one byte later.
func cxxFile(abbrevs, dies []byte) []byte {
	const atLanguage, formData1, cxx = 0x13, 0x0b, 4
	abbrevs = append(append(abbrev(1, dwarf.TagCompileUnit, true, atLanguage, formData1), abbrevs...), 0)
	return build(debug(".debug_info", unit(append([]byte{cxx}, dies...))), debug(".debug_abbrev", abbrevs))
}

// cxxOriginScopes is originScopes in C++.
func cxxOriginScopes() []byte {
	const depth, size = 1000, 1 + 2 + 4 + 16
	var dies []byte
	for i := range depth {
		dies = le.AppendUint32(append(dies, 2, 'a'+byte(i%26), 0), uint32(firstDIE+1+max(i-1, 0)*size))
		dies = append(dies, body(TextAddr+uint64(i), textSize-uint64(i))...)
	}
	return cxxFile(abbrev(2, dwarf.TagSubprogram, true, atName, formString, atOrigin, formRef4, atLowPC, formAddr, atHighPC, formData8),
		append(dies, make([]byte, depth)...))
}

// declaredScopes returns a file with functions in classes, each of which is declared far
// away.
func declaredScopes() []byte {
	const count, size = 1 << 16, 1 + 4 + 1 + 3 + 16 + 1
	var dies []byte
	for i := range count {
		// The declarations come after all classes.
		dies = le.AppendUint32(append(dies, 3), uint32(firstDIE+1+count*size+4*i))
		dies = append(append(dies, 4, 'a'+byte(i&15), 'a'+byte(i>>4&15), 0), body(TextAddr+uint64(i%textSize), 1)...)
		dies = append(dies, 0)
	}

	for i := range count {
		dies = append(dies, 2, 'a'+byte(i&15), 'a'+byte(i>>4&15), 0)
	}
	return cxxFile(slices.Concat(abbrev(2, dwarf.TagClassType, false, atName, formString), abbrev(3, dwarf.TagClassType, true, atSpecification, formRef4),
		abbrev(4, dwarf.TagSubprogram, false, atName, formString, atLowPC, formAddr, atHighPC, formData8)), dies)
}

// unitsOf returns count units of DWARF 4 with one function each. The i-th function begins
// with byte i of .text. abbrev is the distance of the units' abbreviation tables.
func unitsOf(count, abbrev int) (info []byte) {
	for i := range count {
		dies := le.AppendUint32([]byte{4, 0}, uint32(abbrev*i))
		dies = slices.Concat(append(dies, 8, 1, 0, 0, 0, 0, 2, 'f', 0), body(TextAddr+uint64(i%textSize), 1), []byte{0})
		info = append(le.AppendUint32(info, uint32(len(dies))), dies...)
	}
	return info
}

func sharedLines(code []byte) []byte {
	tables := []byte("d\x00\x00")
	for range 1 << 16 {
		tables = append(tables, 'f', 0, 1, 0, 0)
	}
	abbrevs, program := lineSections(append(tables, 0), code)
	return build(debug(".debug_info", unitsOf(1<<15, 0)), debug(".debug_abbrev", abbrevs), debug(".debug_line", program))
}

// overlappingLines returns a file with units of which each has another place of .debug_line
// as its line program. All programs end with the section, and run over the headers of the
// programs after them.
func overlappingLines() []byte {
	const units = 1 << 15
	abbrevs, header := lineSections([]byte("d\x00\x00f\x00\x01\x00\x00\x00"), nil)
	info := unitsOf(units, 0)
	size := len(info) / units
	for i := range units {
		const stmtList = 12 // of a unit: the header has 11 bytes, the abbreviation code one
		le.PutUint32(info[i*size+stmtList:], uint32(i*len(header)))
	}

	// The length of each program reaches to the end of the section.
	program := bytes.Repeat(header, units)
	for i := range units {
		le.PutUint32(program[i*len(header):], uint32(len(program)-i*len(header)-4))
	}
	return build(debug(".debug_info", info), debug(".debug_abbrev", abbrevs), debug(".debug_line", program))
}

// sharedAbbrevs returns a file with units whose abbreviation tables begin step bytes apart.
// With a step of 5 bytes, each table begins one abbreviation after the table before it.
func sharedAbbrevs(step int) []byte {
	var table []byte
	for i := range 1 << 17 {
		if step == 0 {
			// Three bytes are the abbreviation's number in LEB128.
			table = append(table, byte(3+i)|0x80, byte((3+i)>>7)|0x80, byte((3+i)>>14), 0x2e, 0, 0, 0)
		} else {
			table = append(table, byte(3+i%100), 0x2e, 0, 0, 0)
		}
	}

	// The abbreviations that the units use are the last ones.
	table = append(table, abbrev(1, dwarf.TagCompileUnit, true, atStmtList, formSecOffset)...)
	table = append(table, abbrev(2, dwarf.TagSubprogram, false, atName, formString, atLowPC, formAddr, atHighPC, formData8)...)
	return build(debug(".debug_info", unitsOf(1<<16, step)), debug(".debug_abbrev", append(table, 0)))
}

// Attribute and form of string offsets (DWARF 5, §7.5.4 and §7.5.6).
const atStrOffsetsBase, formStrx1 = 0x72, 0x25

// stringOffsets returns a file with units of which each has another place of one section as
// the base of its string offsets.
func stringOffsets() []byte {
	var info []byte
	for i := range uint32(1 << 15) {
		// The base of unit i is i: the units' offsets overlap, and no two units have the
		// same.
		dies := slices.Concat([]byte{5, 0, 1, 8, 0, 0, 0, 0, 1}, le.AppendUint32(nil, i),
			[]byte{2, byte(i)}, body(TextAddr+uint64(i%textSize), 1), []byte{0})
		info = append(le.AppendUint32(info, uint32(len(dies))), dies...)
	}
	abbrevs := append(abbrev(1, dwarf.TagCompileUnit, true, atStrOffsetsBase, formSecOffset),
		append(abbrev(2, dwarf.TagSubprogram, false, atName, formStrx1, atLowPC, formAddr, atHighPC, formData8), 0)...)
	return build(debug(".debug_info", info), debug(".debug_abbrev", abbrevs), debug(".debug_str_offsets", bytes.Repeat([]byte{0, 0, 0, 1}, 1<<14)),
		debug(".debug_str", append([]byte(strings.Repeat("n", 1<<20)), 0)))
}

// bigCIE returns a file with an .eh_frame whose FDEs share a CIE with these instructions.
func bigCIE(initial, code []byte, count int) []byte {
	cie := slices.Concat([]byte{0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1}, initial)
	data := append(le.AppendUint32(nil, uint32(len(cie))), cie...)
	for i := range count {
		fde := le.AppendUint32(nil, uint32(len(data)+4))
		fde = append(fde, body(TextAddr+uint64(i%textSize), max(1, textSize-uint64(i)))...)
		fde = append(fde, code...)
		data = append(append(data, le.AppendUint32(nil, uint32(len(fde)))...), fde...)
	}
	s := debug(".eh_frame", append(data, 0, 0, 0, 0))
	s.flags, s.addr = elf.SHF_ALLOC, 0x100000
	return build(s)
}

// longExpression returns DW_CFA_expression of register 3: additions.
func longExpression(size int) []byte {
	block := append([]byte{0x77, 8}, bytes.Repeat([]byte{0x31, 0x22}, size/2)...) // breg7 8; lit1, plus, …
	return append(binary.AppendUvarint([]byte{0x10, 3}, uint64(len(block))), block...)
}

// allRegisters returns DW_CFA_offset of 64 registers, each at a place of its own.
func allRegisters() (code []byte) {
	for i := range byte(64) {
		code = append(code, 0x80|i, i+1)
	}
	return code
}

// sharedSFrame returns a file with an SFrame section of version 2 in which every FDE has all
// rows.
func sharedSFrame() []byte {
	const fdes, rows = 1 << 14, 1 << 12
	b := []byte{0xe2, 0xde, 2, 1, 3, 0, 0xf8, 0}
	for _, v := range []uint32{fdes, rows, rows * 4, 0, fdes * 20} {
		b = le.AppendUint32(b, v)
	}

	for range fdes {
		b = le.AppendUint32(b, TextAddr-0x100000+1<<32) // start, from the section
		b = le.AppendUint32(b, textSize)
		b = le.AppendUint32(b, 0) // first row
		b = le.AppendUint32(b, rows)
		b = append(b, 1, 0, 0, 0) // FRE start addresses of two bytes
	}

	for i := range rows {
		b = append(le.AppendUint16(b, uint16(i)), 1<<1|1, byte(8+i%64)) // one offset of one byte, from the stack pointer
	}
	s := debug(".sframe", b)
	s.flags, s.addr = elf.SHF_ALLOC, 0x100000
	return build(s)
}

// sharedGoLines returns a file with a table of Go 1.20. Its functions, one at each byte of
// .text, share a line table of a megabyte.
func sharedGoLines() []byte {
	const header, funcs = 8 + 8*8, textSize
	lines := bytes.Repeat([]byte{2, 1}, 1<<19) // the next line, and a byte of code
	names := []byte("f\x00")
	entries := 4 * (2*funcs + 1)
	var table, records []byte
	for i := range uint32(funcs) {
		table = le.AppendUint32(le.AppendUint32(table, i), uint32(entries+len(records)))
		for _, v := range []uint32{i, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0} {
			records = le.AppendUint32(records, v)
		}
	}

	table = le.AppendUint32(table, funcs)
	b := []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8}

	// The names, the table of units, the files, the line tables and the functions follow the
	// header.
	at := uint64(header)
	nameAt := at
	cuAt := nameAt + uint64(len(names))
	fileAt := cuAt + 4
	pcAt := fileAt + 2
	funcAt := pcAt + 1 + uint64(len(lines)) + 1
	for _, v := range []uint64{funcs, 1, TextAddr, nameAt, cuAt, fileAt, pcAt, funcAt} {
		b = le.AppendUint64(b, v)
	}

	b = slices.Concat(b, names, []byte{0, 0, 0, 0}, []byte("f\x00"), []byte{0}, lines, []byte{0}, table, records)
	s := debug(".gopclntab", b)
	s.flags, s.addr = elf.SHF_ALLOC, 0x100000
	return build(s)
}

// sharedLinkage returns a file with a procedure linkage table in which all slots are for the
// same function.
func sharedLinkage() []byte {
	const slots, pltAddr, gotAddr = 1 << 14, 0x200000, 0x400000
	symbol := le.AppendUint64(append(make([]byte, 24), 0, 0, 0, 0, byte(elf.STB_GLOBAL)<<4|byte(elf.STT_FUNC), 0, 0, 0), 0)
	symbols := section{name: ".dynsym", kind: elf.SHT_DYNSYM, flags: elf.SHF_ALLOC, addr: 0x300000, data: le.AppendUint64(symbol, 0), link: 4, entry: 24}
	relocs := section{name: ".rela.plt", kind: elf.SHT_RELA, flags: elf.SHF_ALLOC, addr: 0x380000, link: 3, entry: 24}
	code := section{name: ".plt", kind: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, addr: pltAddr}

	// Each slot jumps through a word of its own, whose relocation names symbol 1.
	for i := range uint64(slots) {
		relocs.data = le.AppendUint64(relocs.data, gotAddr+8*i)
		relocs.data = le.AppendUint64(le.AppendUint64(relocs.data, 1<<32|7), 0) // R_X86_64_JUMP_SLOT of symbol 1
		code.data = le.AppendUint32(append(code.data, 0xff, 0x25), uint32(gotAddr+8*i-(pltAddr+16*i+6)))
		code.data = append(code.data, make([]byte, 10)...)
	}
	return build(symbols, section{name: ".dynstr", kind: elf.SHT_STRTAB, data: append([]byte(strings.Repeat("n", 1<<16-1)), 0)}, relocs, code)
}

// sharedNotes returns a file with sections that are all the same notes.
func sharedNotes() []byte {
	notes := debug(".note.a", bytes.Repeat([]byte{0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}, 1<<17))
	notes.kind, notes.flags, notes.addr = elf.SHT_NOTE, elf.SHF_ALLOC, 0x100000
	file := build(notes)
	at := le.Uint64(file[40:])
	// Repeat the header of the note section before the header of the build id.
	headers := bytes.Clone(file[at:])
	out := append(bytes.Clone(file[:at]), headers[:64]...)
	count := 1
	for ; count < 60_000; count++ {
		out = append(out, headers[3*64:4*64]...)
	}

	// e_shnum and e_shstrndx count the new headers.
	out = append(out, headers[64:]...)
	le.PutUint16(out[60:], uint16(count+len(headers)/64-1))
	le.PutUint16(out[62:], uint16(count+len(headers)/64-2))
	return out
}
