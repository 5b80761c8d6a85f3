package main

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"fmt"

	"symkit/test/elftest"
)

// layoutShapes are of DWARF and tables that compilers and linkers lay out in other ways than those of imageShapes.
var layoutShapes = []shape{
	{"abbreviations", 250_000, func(n int) input {
		d := &debug{}
		lines := d.program(4, sequence{textAddr, 4 * n})
		start := d.root(d.name("a.c"), d.name("/src"), textAddr, uint32(functionSize*n), lines)
		for i := range n {
			code := uint64(len(abbreviations) + 1 + i)
			d.codes = binary.AppendUvarint(d.codes, code)
			d.codes = append(d.codes, byte(dwarf.TagSubprogram), 0, byte(dwarf.AttrName), formStrp, byte(dwarf.AttrLowpc), formAddr, byte(dwarf.AttrHighpc), formData4, 0, 0)
			d.info = binary.AppendUvarint(d.info, code)
			d.u32(d.name(number(i)))
			d.body(at(i)-8, functionSize)
		}
		d.end(start)
		return input{image: image(functionSize*n, d), places: spread(n)}
	}},
	{"directories of a line table", 250_000, func(n int) input { return lineFiles(n, n) }},
	{"methods", 250_000, methods},
	{"units at one address", 250_000, func(n int) input {
		d := &debug{}
		dir := d.name("/src")
		for i := range n {
			start := d.root(d.name(fmt.Sprintf("src/file%d.c", i)), dir, textAddr, functionSize, d.program(4, sequence{textAddr, 4}))
			d.function(functionCode, d.name(number(i)), textAddr, functionSize)
			d.end(start)
		}
		return input{image: image(functionSize, d), places: spread(1)}
	}},
	{"units that overlap", 100_000, func(n int) input {
		d := &debug{}
		dir := d.name("/src")
		for i := range n {
			low := at(i) - 8
			start := d.root(d.name(fmt.Sprintf("src/file%d.c", i)), dir, low, uint32(functionSize*(n-i)), d.program(4, sequence{low, 4}))
			d.function(functionCode, d.name(number(i)), low, uint32(functionSize*(n-i)))
			d.end(start)
		}
		return input{image: image(functionSize*n, d), places: spread(n)}
	}},
	{"line sequences at one address", 500_000, func(n int) input {
		d := &debug{}
		all := make([]sequence, n)
		for i := range all {
			all[i] = sequence{textAddr, 4}
		}
		start := d.root(d.name("a.c"), d.name("/src"), textAddr, functionSize, d.program(4, all...))
		d.function(functionCode, d.name("f"), textAddr, functionSize)
		d.end(start)
		return input{image: image(functionSize, d), places: spread(1)}
	}},
	{"blocks", 250_000, func(n int) input {
		d := &debug{}
		start := d.root(d.name("a.c"), d.name("/src"), textAddr, uint32(functionSize*n), d.program(16, sequence{textAddr, n}))
		origin := d.die(abstractCode)
		d.u32(d.name("inlined"))
		d.u8(1)
		d.function(parentCode, d.name("f"), textAddr, uint32(functionSize*n))
		for i := range n {
			d.die(blockCode)
			d.body(at(i)-8, functionSize)
			d.call(leafCode, start, origin, at(i)-4, 8, i&0x7fff)
			d.u8(0)
		}
		d.u8(0)
		d.end(start)
		return input{image: image(functionSize*n, d), places: spread(n)}
	}},
	{"inlined functions", 250_000, func(n int) input {
		d := &debug{}
		start := d.root(d.name("a.c"), d.name("/src"), textAddr, uint32(functionSize*n), d.program(16, sequence{textAddr, n}))
		origins := make([]int, n)
		for i := range n {
			origins[i] = d.die(abstractCode)
			d.u32(d.name(fmt.Sprintf("inlined_%d", i)))
			d.u8(1)
		}
		for i := range n {
			d.function(parentCode, d.name(number(i)), at(i)-8, functionSize)
			d.call(leafCode, start, origins[n-1-i], at(i)-4, 8, i&0x7fff)
			d.u8(0)
		}
		d.end(start)
		return input{image: image(functionSize*n, d), places: spread(n)}
	}},
	{"linkage names", 250_000, func(n int) input {
		d := &debug{}
		start := d.root(d.name("a.c"), d.name("/src"), textAddr, uint32(functionSize*n), d.program(4, sequence{textAddr, 4 * n}))
		for i := range n {
			d.function(linkedCode, d.name(fmt.Sprintf("_ZN5space5class13method%07dEiPKc", i)), at(i)-8, functionSize)
		}
		d.end(start)
		table := symbolTable(n, functionSize, func(i int) string { return fmt.Sprintf("_ZN5space5class13method%07dEiPKc", i) })
		return input{image: image(functionSize*n, d, table...), places: spread(n)}
	}},
	{"rows of an FDE", 500_000, func(n int) input {
		frames := frameTable(1, functionSize)
		fde := frames.Data[20:]
		code := fde[24:32]
		b := append(frames.Data[:20:20], fde[:24]...)
		b = append(b, code...)
		le.PutUint64(b[36:], uint64(functionSize*n))
		for i := range n {
			b = append(b, 0x44, 0x0e) // advance_loc 4, def_cfa_offset
			b = binary.AppendUvarint(b, uint64(16+8*(i%64)))
		}
		b = append(b, make([]byte, -len(b)&7)...)
		le.PutUint32(b[20:], uint32(len(b)-24))
		frames.Data = append(b, 0, 0, 0, 0)
		return input{image: image(functionSize*n, nil, append(symbolTable(1, uint64(functionSize*n), letter), frames)...), places: spread(n)}
	}},
	{"symbols without sizes", 1_000_000, func(n int) input {
		table := symbolTable(n, functionSize, number)
		for i := range n {
			le.PutUint64(table[0].Data[24*(i+1)+16:], 0)
		}
		return input{image: image(functionSize*n, nil, table...), places: spread(n)}
	}},
	{"symbols in two tables", 500_000, func(n int) input {
		table := symbolTable(n, functionSize, number)
		other := symbolTable(n, functionSize, number)
		other[0].Name, other[0].Kind, other[0].Link, other[0].Flags = ".dynsym", elf.SHT_DYNSYM, ".dynstr", elf.SHF_ALLOC
		other[1].Name, other[1].Flags = ".dynstr", elf.SHF_ALLOC
		return input{image: image(functionSize*n, nil, append(table, other...)...), places: spread(n)}
	}},
	{"functions in sections of an object", 50_000, functionSections},
}

// functionSections returns an object of n functions, each in a section of its own, as -ffunction-sections makes them.
func functionSections(n int) input {
	d := &debug{}
	start := d.root(d.name("a.c"), d.name("/src"), 0, 0, d.program(4, sequence{0, 1}))
	first := len(d.info)
	for i := range n {
		d.function(functionCode, d.name(number(i)), 0, functionSize)
	}
	d.end(start)
	s := spec(functionSize, d)
	s.Kind, s.Segments, s.Extended = elf.ET_REL, nil, true
	info := 0
	for i := range s.Sections {
		if s.Sections[i].Name == ".debug_info" {
			info = i + 1
		}
	}
	table, names, rela := s.Enc(), []byte{0}, s.Enc()
	table.Sym(0, 0, 0, 0, 0, 0)
	for i := range n {
		index := len(s.Sections) + 1
		s.Sections = append(s.Sections, elftest.Sec{Name: ".text." + number(i), Kind: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Align: 16, Data: make([]byte, functionSize)})
		table.Sym(uint32(len(names)), 0, functionSize, byte(elf.STB_GLOBAL)<<4|byte(elf.STT_FUNC), 0, uint16(index))
		names = append(append(names, number(i)...), 0)
		rela.U64(uint64(first+17*i+5), s.RelocInfo(uint64(i+1), uint64(elf.R_X86_64_64)), 0)
	}
	s.Sections = append(s.Sections,
		elftest.Sec{Name: ".symtab", Kind: elf.SHT_SYMTAB, Link: ".strtab", Info: 1, Entsize: 24, Align: 8, Data: table.B},
		elftest.Sec{Name: ".strtab", Kind: elf.SHT_STRTAB, Align: 1, Data: names},
		elftest.Sec{Name: ".rela.debug_info", Kind: elf.SHT_RELA, Link: ".symtab", Info: uint32(info), Entsize: 24, Align: 8, Data: rela.B})
	return input{image: s.Build(), object: true}
}

// methods returns n functions that are declared in classes, each of which is in a namespace.
func methods(n int) input {
	d := &debug{}
	start := d.root(d.name("a.cc"), d.name("/src"), textAddr, uint32(functionSize*n), d.program(4, sequence{textAddr, 4 * n}))
	method := d.name("method")
	declarations := make([]int, n)
	for i := range n {
		d.die(spaceCode)
		d.u32(d.name(fmt.Sprintf("space%d", i)))
		d.die(typeCode)
		d.u32(d.name(fmt.Sprintf("class%d", i)))
		d.u8(8)
		d.u8(1)
		d.u16(7)
		declarations[i] = d.die(declaredCode)
		d.u32(method)
		d.u16(0) // the ends of the class and of the namespace
	}
	for i := range n {
		d.die(memberCode)
		d.u32(uint32(declarations[n-1-i] - start))
		d.body(at(i)-8, functionSize)
	}
	d.end(start)
	return input{image: image(functionSize*n, d), places: spread(n)}
}
