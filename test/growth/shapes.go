package main

import (
	"debug/elf"
	"fmt"
	"slices"
	"strings"

	"symkit/test/elftest"
)

// shape is a kind of input of one shape in any size.
type shape struct {
	name string
	most int // records of the largest input
	// make returns the input of n records, at least one.
	make func(n int) input
}

// input is what programs are given.
type input struct {
	image   []byte            // an ELF file
	split   []byte            // its .dwp
	archive []byte            // or an archive of ELF files
	symbols []byte            // or a symbol file, and
	changed []byte            // a later one
	core    []byte            // or a core file
	more    map[string][]byte // other files, by name
	// object means that places are offsets in .text, and that no process has the file.
	object bool
	places []uint64 // addresses to ask for
	crash  *crash   // or a process
}

// functionSize is the size of most functions, in bytes.
const functionSize = 16

// at returns the address of a function after its prologue.
func at(i int) uint64 { return textAddr + functionSize*uint64(i) + 8 }

// spread returns addresses in some of n functions: one in eight, but at most 65,536.
func spread(n int) (places []uint64) {
	step := max(8, n/65_536)
	for i := 0; i < n; i += step {
		places = append(places, at(i))
	}
	return places
}

// shapes are all shapes, in the order of the table.
var shapes = slices.Concat(imageShapes, recordShapes, layoutShapes, companionShapes, symbolShapes, crashShapes)

var imageShapes = []shape{
	{"smallest units", 300_000, smallestUnits},
	{"units", 300_000, units},
	{"functions of a unit", 1_000_000, func(n int) input {
		d := &debug{}
		manyFunctions(d, n)
		return input{image: image(functionSize*n, d), places: spread(n)}
	}},
	{"long names", 64_000, func(n int) input { return templates(n, n) }},
	{"long names, 64 distinct", 256_000, func(n int) input { return templates(n, 64) }},
	{"depth of inlined calls", 1_000, inlinedDepth},
	{"inlined calls", 250_000, inlinedWidth},
	{"line rows of a function", 2_000_000, lineRows},
	{"line sequences", 500_000, lineSequences},
	{"ranges of a function", 32_000, functionRanges},
	{"ranges of a unit", 256_000, unitRanges},
	{"FDEs", 500_000, func(n int) input {
		return input{image: image(functionSize*n, nil, append(symbolTable(1, functionSize, letter), frameTable(n, functionSize))...), places: spread(n)}
	}},
	{"symbols", 1_000_000, func(n int) input {
		return input{image: image(functionSize*n, nil, symbolTable(n, functionSize, number)...), places: spread(n)}
	}},
	{"relocations", 256_000, relocations},
	{"sections", 100_000, sections},
	{"type units", 100_000, typeUnits},
	{"partial units", 100_000, partialUnits},
	{"zlib", 1_000_000, func(n int) input { return compressed(n, elf.COMPRESS_ZLIB) }},
	{"zstd", 1_000_000, func(n int) input { return compressed(n, elf.COMPRESS_ZSTD) }},
}

func letter(int) string   { return "f" }
func number(i int) string { return fmt.Sprintf("function_%d", i) }

func smallestUnits(n int) input {
	// One unit has a function, since a file without any has no symbols.
	d := &debug{}
	manyFunctions(d, 1)
	for range n {
		d.begin(compileUnit)
		d.die(emptyRootCode)
		le.PutUint32(d.info[len(d.info)-13:], 9)
	}
	return input{image: image(functionSize, d), places: spread(1)}
}

// units returns units of two functions with a type, an inlined call and lines, as a small file of C has them.
func units(n int) input {
	d := &debug{}
	dir, member, inlined := d.name("/src"), d.name("next"), d.name("helper")
	for i := range n {
		low := at(2*i) - 8
		lines := d.program(4, sequence{low, 8})
		start := d.root(d.name(fmt.Sprintf("src/file%d.c", i)), dir, low, 2*functionSize, lines)
		structure := d.die(typeCode)
		d.u32(d.name(fmt.Sprintf("type%d", i)))
		d.u8(8)
		d.u8(1)
		d.u16(7)
		for range 4 {
			d.die(fieldCode)
			d.u32(member)
			d.u32(uint32(structure - start))
			d.u8(0)
		}
		d.u8(0)
		origin := d.die(abstractCode)
		d.u32(inlined)
		d.u8(1)
		d.function(functionCode, d.name(number(2*i)), low, functionSize)
		d.function(parentCode, d.name(number(2*i+1)), low+functionSize, functionSize)
		d.call(leafCode, start, origin, low+functionSize+4, 4, 3)
		d.u8(0)
		d.end(start)
	}
	return input{image: image(2*functionSize*n, d), places: spread(2 * n)}
}

// manyFunctions adds a unit of n functions with four lines each.
func manyFunctions(d *debug, n int) {
	lines := d.program(4, sequence{textAddr, 4 * n})
	start := d.root(d.name("a.c"), d.name("/src"), textAddr, uint32(functionSize*n), lines)
	for i := range n {
		d.function(functionCode, d.name(number(i)), at(i)-8, functionSize)
	}
	d.end(start)
}

// templates returns a unit of n functions with linkage names of 600 bytes in C++, some of which are distinct.
func templates(n, distinct int) input {
	d := &debug{}
	lines := d.program(4, sequence{textAddr, 4 * n})
	start := d.root(d.name("a.c"), d.name("/src"), textAddr, uint32(functionSize*n), lines)
	names := make([]uint32, distinct)
	for i := range names {
		argument := fmt.Sprintf("St3mapI9class%04xS1_St4lessIS1_ESaISt4pairIKS1_S1_EEE", i)
		names[i] = d.name(fmt.Sprintf("_ZN9namespace5classI%sE8method%04xEv", strings.Repeat(strings.ReplaceAll(argument, "S1_", fmt.Sprintf("9other%04x", i)), 6), i>>16))
	}
	for i := range n {
		d.function(linkedCode, names[i%distinct], at(i)-8, functionSize)
	}
	d.end(start)
	return input{image: image(functionSize*n, d), places: spread(n)}
}

// inlinedDepth returns 64 functions with n inlined calls in each other.
func inlinedDepth(n int) input {
	const functions, size = 64, 4096
	d := &debug{}
	lines := d.program(16, sequence{textAddr, functions * size / 16})
	start := d.root(d.name("a.c"), d.name("/src"), textAddr, functions*size, lines)
	origin := d.die(abstractCode)
	d.u32(d.name("inlined"))
	d.u8(1)
	var places []uint64
	for i := range functions {
		low := textAddr + size*uint64(i)
		d.function(parentCode, d.name(number(i)), low, size)
		for depth := range n {
			d.call(callCode, start, origin, low+uint64(depth), uint32(size-2*depth), depth)
		}
		d.info = append(d.info, make([]byte, n+1)...)
		places = append(places, low+size/2)
	}
	d.end(start)
	return input{image: image(functions*size, d), places: places}
}

// inlinedWidth returns a function with n inlined calls, one beside the other.
func inlinedWidth(n int) input {
	d := &debug{}
	lines := d.program(16, sequence{textAddr, n})
	start := d.root(d.name("a.c"), d.name("/src"), textAddr, uint32(functionSize*n), lines)
	origin := d.die(abstractCode)
	d.u32(d.name("inlined"))
	d.u8(1)
	d.function(parentCode, d.name("f"), textAddr, uint32(functionSize*n))
	for i := range n {
		d.call(leafCode, start, origin, at(i)-4, 8, i&0x7fff)
	}
	d.u8(0)
	d.end(start)
	return input{image: image(functionSize*n, d), places: spread(n)}
}

func lineRows(n int) input {
	d := &debug{}
	lines := d.program(4, sequence{textAddr, n})
	start := d.root(d.name("a.c"), d.name("/src"), textAddr, uint32(4*n), lines)
	d.function(functionCode, d.name("f"), textAddr, uint32(4*n))
	d.end(start)
	return input{image: image(4*n, d), places: spread((n + 3) / 4)}
}

// lineSequences returns a unit of n functions whose lines are sequences, the last address first.
func lineSequences(n int) input {
	d := &debug{}
	all := make([]sequence, n)
	for i := range all {
		all[i] = sequence{at(n-1-i) - 8, 4}
	}
	lines := d.program(4, all...)
	start := d.root(d.name("a.c"), d.name("/src"), textAddr, uint32(functionSize*n), lines)
	for i := range n {
		d.function(functionCode, d.name(number(i)), at(i)-8, functionSize)
	}
	d.end(start)
	return input{image: image(functionSize*n, d), places: spread(n)}
}

func functionRanges(n int) input {
	d := &debug{}
	lines := d.program(4, sequence{textAddr, 4 * n})
	start := d.root(d.name("a.c"), d.name("/src"), textAddr, uint32(functionSize*n), lines)
	d.die(partsCode)
	d.u32(d.name("f"))
	d.u32(d.ranges(textAddr, n, functionSize, 12))
	for range n { // what a unit with so much code has in it
		d.die(declaredCode)
		d.u32(0)
	}
	d.end(start)
	return input{image: image(functionSize*n, d), places: spread(n)}
}

// unitRanges returns a unit of n functions with as many ranges.
func unitRanges(n int) input {
	d := &debug{}
	lines := d.program(4, sequence{textAddr, 4 * n})
	start := d.begin(compileUnit)
	d.die(rangedRootCode)
	d.u32(d.name("a.c"))
	d.u32(lines)
	d.u64(0)
	d.u32(d.ranges(textAddr, n, functionSize, 12))
	for i := range n {
		d.function(functionCode, d.name(number(i)), at(i)-8, 12)
	}
	d.end(start)
	return input{image: image(functionSize*n, d), places: spread(n)}
}

// relocations returns an object of n functions, with a relocation for each address in DWARF.
func relocations(n int) input {
	d := &debug{}
	manyFunctions(d, n)
	s := spec(functionSize*n, d, symbolTable(n, functionSize, number)...)
	s.Kind, s.Segments = elf.ET_REL, nil
	rela := s.Enc()
	var symbols []byte
	for _, sec := range s.Sections {
		switch sec.Name {
		case ".debug_info":
			// low_pc is the only address of a function; the root has one, too.
			const rootAt, functionAt, size = 12 + 14, 12 + 26, 17
			for j := range n + 1 {
				offset := uint64(rootAt)
				if j > 0 {
					offset = functionAt + size*uint64(j-1) + 5
				}
				addend := le.Uint64(sec.Data[offset:]) - textAddr
				le.PutUint64(sec.Data[offset:], 0)
				rela.U64(offset, s.RelocInfo(1, uint64(elf.R_X86_64_64)), addend)
			}
		case ".symtab":
			symbols = sec.Data
		}
	}
	// Symbol 1, the first function, is at the beginning of .text; values of objects are offsets.
	for i := range n {
		v := symbols[24*(i+1)+8:]
		le.PutUint64(v, le.Uint64(v)-textAddr)
	}
	s.Sections = append(s.Sections, elftest.Sec{Name: ".rela.debug_info", Kind: elf.SHT_RELA, Link: ".symtab", Info: 5, Entsize: 24, Align: 8, Data: rela.B})
	var places []uint64
	for _, place := range spread(n) {
		places = append(places, place-textAddr)
	}
	return input{image: s.Build(), places: places, object: true}
}

// sections returns a library with n sections of code, each with a symbol.
func sections(n int) input {
	s := spec(functionSize, nil)
	s.Extended = true
	table, strings, more := s.Enc(), []byte{0}, s.Enc()
	table.Sym(0, 0, 0, 0, 0, 0)
	more.U32(0)
	first := len(s.Sections) + 1
	for i := range n {
		s.Sections = append(s.Sections, elftest.Sec{Name: fmt.Sprintf(".text.%d", i), Kind: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Align: 16, Data: make([]byte, functionSize)})
	}
	placed := s.Layout()
	var places []uint64
	for i := range n {
		addr := placed.Addr[s.Sections[first-1+i].Name]
		table.Sym(uint32(len(strings)), addr, functionSize, byte(elf.STB_GLOBAL)<<4|byte(elf.STT_FUNC), 0, uint16(elf.SHN_XINDEX))
		strings = append(append(strings, number(i)...), 0)
		more.U32(uint32(first + i))
		if i%8 == 0 {
			places = append(places, addr+8)
		}
	}
	s.Sections = append(s.Sections,
		elftest.Sec{Name: ".symtab", Kind: elf.SHT_SYMTAB, Link: ".strtab", Info: 1, Entsize: 24, Align: 8, Data: table.B},
		elftest.Sec{Name: ".strtab", Kind: elf.SHT_STRTAB, Align: 1, Data: strings},
		elftest.Sec{Name: ".symtab_shndx", Kind: elf.SHT_SYMTAB_SHNDX, Link: ".symtab", Entsize: 4, Align: 4, Data: more.B})
	return input{image: s.Build(), places: places}
}

// typeUnits returns n type units, and a unit of n functions.
func typeUnits(n int) input {
	d := &debug{}
	field := d.name("field")
	for i := range uint64(n) {
		start := d.begin(typeUnit, append(le.AppendUint64(nil, i+1), 26, 0, 0, 0)...)
		d.die(typeRootCode)
		d.u8(0x21) // C++14
		structure := d.die(typeCode)
		d.u32(d.name(fmt.Sprintf("type%d", i)))
		d.u8(8)
		d.u8(1)
		d.u16(7)
		d.die(fieldCode)
		d.u32(field)
		d.u32(uint32(structure - start))
		d.u8(0)
		d.die(declaredCode)
		d.u32(field)
		d.u8(0)
		d.end(start)
	}
	manyFunctions(d, n)
	return input{image: image(functionSize*n, d), places: spread(n)}
}

// partialUnits returns n partial units, each with a function that is inlined, and as many units that import them.
func partialUnits(n int) input {
	d := &debug{}
	dir := d.name("/src")
	roots, origins := make([]int, n), make([]int, n)
	for i := range n {
		start := d.begin(partialUnit)
		roots[i] = d.die(partialRootCode)
		origins[i] = d.die(abstractCode)
		d.u32(d.name(number(i)))
		d.u8(1)
		d.end(start)
	}
	for i := range n {
		low := at(i) - 8
		lines := d.program(4, sequence{low, 4})
		start := d.root(d.name(fmt.Sprintf("src/file%d.c", i)), dir, low, functionSize, lines)
		for j := range 2 {
			d.die(importCode)
			d.u32(uint32(roots[(i+j)%n]))
		}
		d.die(outsideCode)
		d.u32(uint32(origins[i]))
		d.body(low, functionSize)
		d.end(start)
	}
	return input{image: image(functionSize*n, d), places: spread(n)}
}

// compressed returns a unit of n functions in compressed sections.
func compressed(n int, kind elf.CompressionType) input {
	d := &debug{}
	manyFunctions(d, n)
	return input{image: image(functionSize*n, nil, d.packed(kind)...), places: spread(n)}
}
