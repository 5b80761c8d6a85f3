package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"

	"symkit/test/elftest"
)

// recordShapes are of records that ELF files have beside DWARF, and of DWARF that is not as compilers write it.
var recordShapes = []shape{
	{"functions in each other", 100_000, nestedFunctions},
	{"functions of one address", 200_000, func(n int) input {
		d := &debug{}
		lines := d.program(4, sequence{textAddr, 4})
		start := d.root(d.name("a.c"), d.name("/src"), textAddr, functionSize, lines)
		for i := range n {
			d.function(functionCode, d.name(number(i)), textAddr, functionSize)
		}
		d.end(start)
		return input{image: image(functionSize, d), places: spread(1)}
	}},
	{"files of a line table", 250_000, func(n int) input { return lineFiles(n, 1) }},
	{"abbreviation tables", 100_000, func(n int) input {
		d := &debug{tables: n}
		for i := range n {
			low := at(i) - 8
			start := d.root(d.name(fmt.Sprintf("src/file%d.c", i)), d.name("/src"), low, functionSize, d.program(4, sequence{low, 4}))
			le.PutUint32(d.info[start+8:], uint32(i*len(abbrevTable())))
			d.function(functionCode, d.name(number(i)), low, functionSize)
			d.end(start)
		}
		return input{image: image(functionSize*n, d), places: spread(n)}
	}},
	{"partial units in a chain", 100_000, importChain},
	{"chains of origins", 100_000, originChains},
	{"type units of DWARF 4", 100_000, oldTypeUnits},
	{"symbols of one address", 2_000_000, func(n int) input {
		return input{image: image(functionSize, nil, symbolsAt(n, number, func(int) uint64 { return textAddr })...), places: spread(1)}
	}},
	{"symbols of one name", 1_000_000, func(n int) input {
		return input{image: image(functionSize*n, nil, symbolTable(n, functionSize, letter)...), places: spread(n)}
	}},
	{"KiB of a name", 64_000, func(n int) input {
		name := string(bytes.Repeat([]byte{'n'}, 1024*n))
		return input{image: image(functionSize, nil, symbolTable(1, functionSize, func(int) string { return name })...), places: spread(1)}
	}},
	{"symbol versions", 32_000, versions},
	{"slots of a linkage table", 200_000, slots},
	{"program headers", 60_000, programHeaders},
	{"notes", 500_000, func(n int) input {
		s := elftest.Spec{}
		notes := elftest.Sec{Name: ".note.x", Kind: elf.SHT_NOTE, Flags: elf.SHF_ALLOC, Align: 4, Data: bytes.Repeat(s.NoteBytes("x", 1, []byte("1234"), 4), n)}
		return input{image: image(functionSize, nil, append(symbolTable(1, functionSize, letter), notes)...), places: spread(1)}
	}},
	{"COMDAT groups", 50_000, groups},
	{"CIEs", 250_000, func(n int) input {
		frames := frameTable(1, functionSize)
		frames.Data = frames.Data[:0]
		for i := range uint64(n) {
			frames.Data = append(frames.Data, frameEntries(uint64(len(frames.Data)), textAddr+functionSize*i)...)
		}
		frames.Data = append(frames.Data, 0, 0, 0, 0)
		return input{image: image(functionSize*n, nil, append(symbolTable(1, functionSize, letter), frames)...), places: spread(n)}
	}},
	{"FDEs in each other", 32_000, func(n int) input {
		frames := frameTable(n, functionSize)
		for i := range uint64(n) {
			le.PutUint64(frames.Data[20+32*i+16:], functionSize*(uint64(n)-i))
		}
		return input{image: image(functionSize*n, nil, append(symbolTable(1, functionSize, letter), frames)...), places: spread(n)}
	}},
	{"SFrame FDEs", 500_000, sframes},
	{"exidx entries", 250_000, exidx},
	{"mapping symbols", 500_000, func(n int) input {
		table := symbolsAt(n, func(i int) string { return []string{"$x", "$d"}[i%2] }, func(i int) uint64 { return textAddr + functionSize*uint64(i) + functionSize/2 })
		for i := range n {
			table[0].Data[24*(i+1)+4] = 0 // local, without a type
		}
		s := spec(functionSize*(n+1), nil, append(table, frameTable(n, functionSize))...)
		s.Machine = elf.EM_AARCH64
		return input{image: s.Build()}
	}},
}

// nestedFunctions returns n functions that all end at one address.
func nestedFunctions(n int) input {
	d := &debug{}
	lines := d.program(4, sequence{textAddr, 4 * n})
	start := d.root(d.name("a.c"), d.name("/src"), textAddr, uint32(functionSize*n), lines)
	for i := range n {
		d.function(functionCode, d.name(number(i)), at(i)-8, uint32(functionSize*(n-i)))
	}
	d.end(start)
	return input{image: image(functionSize*n, d), places: spread(n)}
}

// lineFiles returns a unit of n functions, each of a source file of its own, in one of dirs directories.
func lineFiles(n, dirs int) input {
	d := &debug{}
	start := len(d.lines)
	b := append(d.lines, 0, 0, 0, 0, 5, 0, 8, 0, 0, 0, 0, 0)
	header := len(b)
	b = append(b, 1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1)
	b = binary.AppendUvarint(append(b, 1, 1, formString), uint64(dirs))
	for i := range dirs {
		b = append(fmt.Appendf(b, "/src%d", i), 0)
	}
	b = binary.AppendUvarint(append(b, 2, 1, formString, 2, formUdata), uint64(n))
	for i := range n {
		b = binary.AppendUvarint(append(fmt.Appendf(b, "file%d.c", i), 0), uint64(i%dirs))
	}
	le.PutUint32(b[header-4:], uint32(len(b)-header))
	b = le.AppendUint64(append(b, 0, 9, 2), textAddr)
	for i := range n {
		b = append(binary.AppendUvarint(append(b, 4), uint64(i)), 1, 2, functionSize) // set_file, copy, advance_pc
	}
	d.lines = append(b, 0, 1, 1)
	le.PutUint32(d.lines[start:], uint32(len(d.lines)-start-4))

	unit := d.root(d.name("a.c"), d.name("/src"), textAddr, uint32(functionSize*n), uint32(start))
	for i := range n {
		d.function(functionCode, d.name(number(i)), at(i)-8, functionSize)
	}
	d.end(unit)
	return input{image: image(functionSize*n, d), places: spread(n)}
}

// importChain returns n partial units, each of which imports the next one, and a unit that imports the first.
func importChain(n int) input {
	d := &debug{}
	var next, origin int
	for i := range n {
		start := d.begin(partialUnit)
		root := d.die(partialRootCode)
		origin = d.die(abstractCode)
		d.u32(d.name(number(i)))
		d.u8(1)
		if i > 0 {
			d.die(importCode)
			d.u32(uint32(next))
		}
		d.end(start)
		next = root
	}
	start := d.root(d.name("a.c"), d.name("/src"), textAddr, uint32(functionSize*n), d.program(4, sequence{textAddr, 4 * n}))
	d.die(importCode)
	d.u32(uint32(next))
	for i := range n {
		d.die(outsideCode)
		d.u32(uint32(origin))
		d.body(at(i)-8, functionSize)
	}
	d.end(start)
	return input{image: image(functionSize*n, d), places: spread(n)}
}

// originChains returns n units of a function whose origin is that of the unit before, in chains of eight.
func originChains(n int) input {
	d := &debug{}
	dir, before := d.name("/src"), 0
	for i := range n {
		low := at(i) - 8
		start := d.root(d.name(fmt.Sprintf("src/file%d.c", i)), dir, low, functionSize, d.program(4, sequence{low, 4}))
		if i%8 == 0 {
			before = len(d.info)
			d.function(functionCode, d.name(number(i)), low, functionSize)
		} else {
			die := d.die(outsideCode)
			d.u32(uint32(before))
			d.body(low, functionSize)
			before = die
		}
		d.end(start)
	}
	return input{image: image(functionSize*n, d), places: spread(n)}
}

// oldTypeUnits returns n type units of DWARF 4, and a unit of n functions.
func oldTypeUnits(n int) input {
	d := &debug{}
	field := d.name("field")
	for i := range uint64(n) {
		start := len(d.types)
		b := append(d.types, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8)
		b = le.AppendUint32(le.AppendUint64(b, i+1), 25)
		b = append(b, typeRootCode, 0x21, typeCode)
		b = append(le.AppendUint32(b, d.name(fmt.Sprintf("type%d", i))), 8, 1, 7, 0, declaredCode)
		b = append(le.AppendUint32(b, field), 0, 0)
		le.PutUint32(b[start:], uint32(len(b)-start-4))
		d.types = b
	}
	manyFunctions(d, n)
	return input{image: image(functionSize*n, d), places: spread(n)}
}

// symbolsAt returns .symtab and .strtab of count functions.
func symbolsAt(count int, name func(i int) string, addr func(i int) uint64) []elftest.Sec {
	table := symbolTable(count, functionSize, name)
	for i := range count {
		le.PutUint64(table[0].Data[24*(i+1)+8:], addr(i))
	}
	return table
}

// versions returns a library with n exported functions, each of a version of its own.
func versions(n int) input {
	table := symbolTable(n, functionSize, number)
	names := table[1].Data
	s := elftest.Spec{}
	defined, versions := s.Enc(), s.Enc()
	versions.U16(0)
	for i := range n {
		next := uint32(28)
		if i == n-1 {
			next = 0
		}
		defined.U16(1, 0, uint16(i+2), 1).U32(0, 20, next, uint32(len(names)), 0)
		names = append(fmt.Appendf(names, "V_%d", i), 0)
		versions.U16(uint16(i + 2))
	}
	table[0].Name, table[0].Kind, table[0].Link, table[0].Flags = ".dynsym", elf.SHT_DYNSYM, ".dynstr", elf.SHF_ALLOC
	table[1].Name, table[1].Flags, table[1].Data = ".dynstr", elf.SHF_ALLOC, names
	table = append(table,
		elftest.Sec{Name: ".gnu.version", Kind: elf.SHT_GNU_VERSYM, Flags: elf.SHF_ALLOC, Link: ".dynsym", Entsize: 2, Align: 2, Data: versions.B},
		elftest.Sec{Name: ".gnu.version_d", Kind: elf.SHT_GNU_VERDEF, Flags: elf.SHF_ALLOC, Link: ".dynstr", Info: uint32(n), Align: 8, Data: defined.B})
	return input{image: image(functionSize*n, nil, table...), places: spread(n)}
}

// slots returns a library that calls n functions of others by its procedure linkage table.
func slots(n int) input {
	table := symbolTable(n, 0, number)
	for i := range n {
		symbol := table[0].Data[24*(i+1):]
		le.PutUint16(symbol[6:], 0) // not defined
		le.PutUint64(symbol[8:], 0) // without an address
	}
	table[0].Name, table[0].Kind, table[0].Link, table[0].Flags = ".dynsym", elf.SHT_DYNSYM, ".dynstr", elf.SHF_ALLOC
	table[1].Name, table[1].Flags = ".dynstr", elf.SHF_ALLOC
	table = append(table,
		elftest.Sec{Name: ".plt", Kind: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Align: 16, Data: make([]byte, 16*n)},
		elftest.Sec{Name: ".got.plt", Kind: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC | elf.SHF_WRITE, Align: 8, Data: make([]byte, 8*n)})
	s := spec(functionSize, nil, append(symbolTable(1, functionSize, letter), table...)...)
	placed := s.Layout()
	plt, got := placed.Addr[".plt"], placed.Addr[".got.plt"]
	rela := s.Enc()
	for i := range uint64(n) {
		rela.U64(got+8*i, s.RelocInfo(i+1, uint64(elf.R_X86_64_JMP_SLOT)), 0)
		for k := range s.Sections {
			if s.Sections[k].Name == ".plt" {
				code := s.Sections[k].Data[16*i:]
				copy(code, []byte{0xff, 0x25}) // jmp *slot(%rip)
				le.PutUint32(code[2:], uint32(got+8*i-(plt+16*i+6)))
			}
		}
	}
	s.Sections = append(s.Sections, elftest.Sec{Name: ".rela.plt", Kind: elf.SHT_RELA, Flags: elf.SHF_ALLOC, Link: ".dynsym", Entsize: 24, Align: 8, Data: rela.B})
	return input{image: s.Build(), places: spread(1)}
}

// programHeaders returns a library of n segments, each of a section with a function.
func programHeaders(n int) input {
	s := spec(functionSize, nil)
	s.Extended = true
	table, strings := s.Enc(), []byte{0}
	table.Sym(0, 0, 0, 0, 0, 0)
	first := len(s.Sections)
	for i := range n {
		name := fmt.Sprintf(".text.%d", i)
		s.Sections = append(s.Sections, elftest.Sec{Name: name, Kind: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Align: 16, Data: make([]byte, functionSize)})
		s.Segments = append(s.Segments, elftest.Seg{Kind: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X, Section: name})
	}
	s.Segments = s.Segments[1:]
	placed := s.Layout()
	var places []uint64
	for i := range n {
		addr := placed.Addr[s.Sections[first+i].Name]
		table.Sym(uint32(len(strings)), addr, functionSize, byte(elf.STB_GLOBAL)<<4|byte(elf.STT_FUNC), 0, uint16(min(first+i+1, 0xfeff)))
		strings = append(append(strings, number(i)...), 0)
		if i%8 == 0 {
			places = append(places, addr+8)
		}
	}
	s.Sections = append(s.Sections,
		elftest.Sec{Name: ".symtab", Kind: elf.SHT_SYMTAB, Link: ".strtab", Info: 1, Entsize: 24, Align: 8, Data: table.B},
		elftest.Sec{Name: ".strtab", Kind: elf.SHT_STRTAB, Align: 1, Data: strings})
	return input{image: s.Build(), places: places}
}

// groups returns an object of n functions, each in a section and COMDAT group of its own.
func groups(n int) input {
	s := &elftest.Spec{Kind: elf.ET_REL, Extended: true}
	s.Sections = []elftest.Sec{{Name: ".note.gnu.build-id", Kind: elf.SHT_NOTE, Flags: elf.SHF_ALLOC, Align: 4, Data: s.NoteBytes("GNU", 3, buildID, 4)}}
	table, strings, more := s.Enc(), []byte{0}, s.Enc()
	table.Sym(0, 0, 0, 0, 0, 0)
	more.U32(0)
	for i := range n {
		index := uint32(len(s.Sections) + 1)
		s.Sections = append(s.Sections,
			elftest.Sec{Name: fmt.Sprintf(".text.%d", i), Kind: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR | elf.SHF_GROUP, Align: 16, Data: make([]byte, functionSize)},
			elftest.Sec{Name: fmt.Sprintf(".group.%d", i), Kind: elf.SHT_GROUP, Link: ".symtab", Info: uint32(i + 1), Entsize: 4, Align: 4, Data: s.Enc().U32(1, index).B})
		table.Sym(uint32(len(strings)), 0, functionSize, byte(elf.STB_GLOBAL)<<4|byte(elf.STT_FUNC), 0, uint16(elf.SHN_XINDEX))
		strings = append(append(strings, number(i)...), 0)
		more.U32(index)
	}
	s.Sections = append(s.Sections,
		elftest.Sec{Name: ".symtab", Kind: elf.SHT_SYMTAB, Link: ".strtab", Info: 1, Entsize: 24, Align: 8, Data: table.B},
		elftest.Sec{Name: ".strtab", Kind: elf.SHT_STRTAB, Align: 1, Data: strings},
		elftest.Sec{Name: ".symtab_shndx", Kind: elf.SHT_SYMTAB_SHNDX, Link: ".symtab", Entsize: 4, Align: 4, Data: more.B})
	return input{image: s.Build()}
}

// frameEntries returns a CIE and an FDE of it, for the function at an address; at is their offset in .eh_frame.
func frameEntries(at, addr uint64) []byte {
	cie := frameTable(1, functionSize).Data
	fde := cie[20:52]
	le.PutUint64(fde[8:], addr)
	return cie[:52]
}

// sframes returns a library with an SFrame section of version 2 that has n FDEs of a row.
func sframes(n int) input {
	s := spec(functionSize*n, nil, symbolTable(1, functionSize, letter)...)
	data := make([]byte, 28+20*n+3*n)
	s.Sections = append(s.Sections, elftest.Sec{Name: ".sframe", Kind: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC, Align: 8, Data: data})
	addr := s.Layout().Addr[".sframe"]
	copy(data, []byte{0xe2, 0xde, 2, 1, 3, 0, 0xf8, 0}) // sorted, for x86_64
	for i, v := range []int{n, n, 3 * n, 0, 20 * n} {
		le.PutUint32(data[8+4*i:], uint32(v))
	}
	for i := range n {
		fde, row := data[28+20*i:], data[28+20*n+3*i:]
		for j, v := range []uint32{uint32(textAddr + functionSize*uint64(i) - addr), functionSize, uint32(3 * i), 1} {
			le.PutUint32(fde[4*j:], v)
		}
		copy(row, []byte{0, 1<<1 | 1, 8}) // rsp + 8
	}
	return input{image: s.Build(), places: spread(n)}
}

// exidx returns a library for ARM with n entries in the index of unwind tables.
func exidx(n int) input {
	s := spec(functionSize*n, nil)
	s.Class, s.Machine, s.Flags = elf.ELFCLASS32, elf.EM_ARM, 0x05000000
	index := s.Enc()
	s.Sections = append(s.Sections, elftest.Sec{Name: ".ARM.exidx", Kind: 0x70000001, Flags: elf.SHF_ALLOC, Link: ".text", Align: 4, Data: make([]byte, 8*n)})
	placed := s.Layout()
	index.Wide = false
	for i := range uint64(n) {
		code := placed.Addr[".text"] + functionSize*i
		index.U32(uint32(code-(placed.Addr[".ARM.exidx"]+8*i))&0x7fffffff, 0x80a8b0b0+uint32(i%2)<<16) // pop {r4, lr}
	}
	s.Sections[len(s.Sections)-1].Data = index.B
	table, strings := s.Enc(), []byte("\x00f\x00")
	table.Wide = false
	table.Sym(0, 0, 0, 0, 0, 0).Sym(1, placed.Addr[".text"], functionSize, byte(elf.STB_GLOBAL)<<4|byte(elf.STT_FUNC), 0, 1)
	s.Sections = append(s.Sections,
		elftest.Sec{Name: ".symtab", Kind: elf.SHT_SYMTAB, Link: ".strtab", Info: 1, Entsize: 16, Align: 4, Data: table.B},
		elftest.Sec{Name: ".strtab", Kind: elf.SHT_STRTAB, Align: 1, Data: strings})
	return input{image: s.Build()}
}
