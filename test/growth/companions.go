package main

import (
	"bytes"
	"debug/elf"
	"fmt"

	"symkit/test/elftest"
)

var companionShapes = []shape{
	{"rows of a .dwp", 100_000, packageRows},
	{"members of an archive", 10_000, members},
	{"partial units of another file", 100_000, supplementary},
	{"split files", 5_000, splitFiles},
	{"functions of a GSYM", 500_000, func(n int) input {
		d := &debug{}
		manyFunctions(d, n)
		return input{more: map[string][]byte{"gsym.elf": append(image(functionSize*n, d), make([]byte, padding*n)...)}, places: spread(n)}
	}},
}

// packageRows returns n units, which are skeletons, and the package of their split units.
func packageRows(n int) input {
	main, split := &debug{}, &debug{}
	addrs := []byte{0, 0, 0, 0, 5, 0, 8, 0}
	name := main.name("unit.dwo")
	offsets := make([]int, 0, n+1)
	for i := range uint64(n) {
		low := at(int(i)) - 8
		lines := main.program(4, sequence{low, 4})
		start := main.begin(skeletonUnit, le.AppendUint64(nil, unitID(i))...)
		main.die(skeletonCode)
		main.u32(name)
		main.u32(lines)
		main.u32(uint32(len(addrs)))
		main.body(low, functionSize)
		le.PutUint32(main.info[start:], uint32(len(main.info)-start-4)) // without children
		addrs = le.AppendUint64(addrs, low)

		offsets = append(offsets, split.splitUnit(i))
	}
	le.PutUint32(addrs, uint32(len(addrs)-4))
	offsets = append(offsets, len(split.info))

	var s elftest.Spec
	for _, sec := range []elftest.Sec{
		{Name: ".debug_info.dwo", Data: split.info}, {Name: ".debug_abbrev.dwo", Data: abbrevTable()},
		{Name: ".debug_cu_index", Data: unitIndex(offsets)},
	} {
		sec.Kind, sec.Align = elf.SHT_PROGBITS, 1
		s.Sections = append(s.Sections, sec)
	}
	addr := elftest.Sec{Name: ".debug_addr", Kind: elf.SHT_PROGBITS, Align: 1, Data: addrs}
	return input{image: image(functionSize*n, main, addr), split: s.Build(), places: spread(n)}
}

// unitID returns the id of a split unit: as compilers make them, any 64 bits.
func unitID(i uint64) uint64 { return (i + 1) * 0x9e3779b97f4a7c15 }

// unitIndex returns the .debug_cu_index of units at offsets, of which the last is the end (DWARF 5, §7.3.5.3).
func unitIndex(offsets []int) []byte {
	const info, abbrev = 1, 3
	units := len(offsets) - 1
	slots := 2
	for 2*slots < 3*units+2 {
		slots *= 2
	}
	ids, rows := make([]uint64, slots), make([]uint32, slots)
	for i := range uint64(units) {
		id := unitID(i)
		slot, step := id&uint64(slots-1), id>>32&uint64(slots-1)|1
		for rows[slot] != 0 {
			slot = (slot + step) & uint64(slots-1)
		}
		ids[slot], rows[slot] = id, uint32(i+1)
	}
	b := []byte{5, 0, 0, 0}
	for _, v := range []int{2, units, slots} {
		b = le.AppendUint32(b, uint32(v))
	}
	for _, id := range ids {
		b = le.AppendUint64(b, id)
	}
	for _, row := range rows {
		b = le.AppendUint32(b, row)
	}
	b = le.AppendUint32(le.AppendUint32(b, info), abbrev)
	for i := range units {
		b = le.AppendUint32(le.AppendUint32(b, uint32(offsets[i])), 0)
	}
	for i := range units {
		b = le.AppendUint32(le.AppendUint32(b, uint32(offsets[i+1]-offsets[i])), uint32(len(abbrevTable())))
	}
	return b
}

// members returns an archive of n libraries, each of a function.
func members(n int) input {
	b := []byte("!<arch>\n")
	for i := range n {
		s := spec(functionSize, nil, symbolTable(1, functionSize, number)...)
		id := append([]byte{}, buildID...)
		le.PutUint32(id[12:], uint32(i))
		s.Sections[1].Data = s.NoteBytes("GNU", 3, id, 4)
		data := s.Build()
		b = fmt.Appendf(b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", fmt.Sprintf("m%d.so/", i), 0, 0, 0, 0o644, len(data))
		b = append(b, data...)
		if len(b)%2 == 1 {
			b = append(b, '\n')
		}
	}
	return input{archive: b}
}

// supplementary returns n units whose functions are instances of those of as many partial units in a file of dwz.
func supplementary(n int) input {
	d, other := &debug{}, &debug{}
	dir := d.name("/src")
	for i := range n {
		start := other.begin(partialUnit)
		other.die(partialRootCode)
		origin := other.die(abstractCode)
		other.u32(other.name(number(i)))
		other.u8(1)
		other.end(start)

		low := at(i) - 8
		lines := d.program(4, sequence{low, 4})
		start = d.root(d.name(fmt.Sprintf("src/file%d.c", i)), dir, low, functionSize, lines)
		d.die(otherCode)
		d.u32(uint32(origin))
		d.body(low, functionSize)
		d.end(start)
	}
	id := bytes.Repeat([]byte{0x22}, 20)
	link := elftest.Sec{Name: ".gnu_debugaltlink", Kind: elf.SHT_PROGBITS, Align: 1, Data: append([]byte("growth.dwz\x00"), id...)}
	s := &elftest.Spec{}
	s.Sections = append([]elftest.Sec{{Name: ".note.gnu.build-id", Kind: elf.SHT_NOTE, Flags: elf.SHF_ALLOC, Align: 4, Data: s.NoteBytes("GNU", 3, id, 4)}}, other.sections()...)
	return input{image: image(functionSize*n, d, link), more: map[string][]byte{"growth.dwz": s.Build()}, places: spread(n)}
}

// splitFiles returns n units, which are skeletons, and the files of their split units.
func splitFiles(n int) input {
	whole := &debug{}
	in := input{more: map[string][]byte{}, places: spread(n)}
	addrs := []byte{0, 0, 0, 0, 5, 0, 8, 0}
	for i := range uint64(n) {
		low, name := at(int(i))-8, fmt.Sprintf("unit%d.dwo", i)
		lines := whole.program(4, sequence{low, 4})
		start := whole.begin(skeletonUnit, le.AppendUint64(nil, unitID(i))...)
		whole.die(skeletonCode)
		whole.u32(whole.name(name))
		whole.u32(lines)
		whole.u32(uint32(len(addrs)))
		whole.body(low, functionSize)
		le.PutUint32(whole.info[start:], uint32(len(whole.info)-start-4)) // without children
		addrs = le.AppendUint64(addrs, low)

		d := &debug{}
		d.splitUnit(i)
		var s elftest.Spec
		for _, sec := range []elftest.Sec{{Name: ".debug_info.dwo", Data: d.info}, {Name: ".debug_abbrev.dwo", Data: abbrevTable()}} {
			sec.Kind, sec.Align = elf.SHT_PROGBITS, 1
			s.Sections = append(s.Sections, sec)
		}
		in.more[name] = s.Build()
	}
	le.PutUint32(addrs, uint32(len(addrs)-4))
	in.image = image(functionSize*n, whole, elftest.Sec{Name: ".debug_addr", Kind: elf.SHT_PROGBITS, Align: 1, Data: addrs})
	return in
}

// splitUnit adds split unit i, of one function, and returns its offset.
func (d *debug) splitUnit(i uint64) int {
	start := d.begin(splitUnit, le.AppendUint64(nil, unitID(i))...)
	d.die(splitRootCode)
	d.info = append(d.info, "a.c\x00\x0c"...)
	d.die(splitCode)
	d.info = append(d.info, number(int(i))...)
	d.info = append(d.info, 0, 0) // the end of the name, and number 0 of .debug_addr
	d.u32(functionSize)
	d.end(start)
	return start
}
