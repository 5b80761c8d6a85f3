package mutant

import (
	"debug/dwarf"
	"debug/elf"
	"slices"
)

// companionKinds are kinds of records of a .dwp file.
var companionKinds = []recordKind{
	{"rows of a .dwp", func(size int) []section { return []section{packageRows(size/24, 0)} }},
	{"ids of one row of a .dwp", func(size int) []section { return []section{packageRows(1, size/12)} }},
	{"split units of a .dwp", func(size int) []section {
		return []section{debug(".debug_info.dwo", repeated(splitUnit, size)), debug(".debug_abbrev.dwo", append(abbrev(1, dwarf.TagCompileUnit, false), 0)), packageRows(1, 0)}
	}},
}

// splitUnit is the smallest split unit.
var splitUnit = sized(5, 0, 5, 8, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1)

// packageRows returns a .debug_cu_index of one column, with a slot for each row and more ones for row 1.
func packageRows(rows, more int) section {
	b := []byte{5, 0, 0, 0}
	for _, v := range []int{1, rows, rows + more} {
		b = le.AppendUint32(b, uint32(v))
	}
	for i := range rows + more {
		b = le.AppendUint64(b, uint64(i)+1)
	}
	for i := range rows + more {
		b = le.AppendUint32(b, uint32(min(i, rows-1)+1))
	}
	b = le.AppendUint32(b, 1) // the column of .debug_info
	return debug(".debug_cu_index", append(b, make([]byte, 8*rows)...))
}

// companionBombs are the files of companionKinds, as they are and compressed.
func companionBombs() (bombs []Bomb) {
	for _, k := range companionKinds {
		bombs = append(bombs, Bomb{k.name, func() []byte { return build(k.make(plainRecords)...) }})
		for _, kind := range []elf.CompressionType{elf.COMPRESS_ZLIB, elf.COMPRESS_ZSTD} {
			bombs = append(bombs, Bomb{k.name + ", compressed by " + compressionNames[kind], func() []byte {
				return buildPacked(textSize, k.make(packedRecords), func(s *section) { packSection(s, kind) })
			}})
		}
	}
	return bombs
}

// goKinds are kinds of records of Go's table of functions, which has no other description.
var goKinds = []recordKind{
	{"the smallest functions of Go", func(size int) []section { return goFunctions(size/56, false) }},
	{"functions of Go with names of their own", func(size int) []section { return goFunctions(size/60, true) }},
}

// goFunctions returns a .gopclntab of Go 1.20 with functions in .text, in the order of their addresses.
func goFunctions(count int, named bool) []section {
	const header = 8 + 8*8
	names := []byte("f\x00")
	entries := 4 * (2*count + 1)
	var table, records []byte
	for i := range count {
		name, at := 0, uint32(i*textSize/count)
		if named {
			name = len(names)
			names = append(names, 'a'+byte(i&15), 'a'+byte(i>>4&15), 'a'+byte(i>>8&15), 'a'+byte(i>>12&15), 0)
		}
		table = le.AppendUint32(le.AppendUint32(table, at), uint32(entries+len(records)))
		for _, v := range []uint32{at, uint32(name), 0, 0, 0, 1, 1, 0, 0, 0, 0} {
			records = le.AppendUint32(records, v)
		}
	}
	table = le.AppendUint32(table, textSize)
	lines := []byte{2, 1, 0}

	// The names, the table of units, the files, the line tables and the functions follow the header.
	cuAt := uint64(header + len(names))
	pcAt := cuAt + 4 + 2
	b := []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8}
	for _, v := range []uint64{uint64(count), 1, TextAddr, header, cuAt, cuAt + 4, pcAt, pcAt + 1 + uint64(len(lines))} {
		b = le.AppendUint64(b, v)
	}
	s := debug(".gopclntab", slices.Concat(b, names, []byte{0, 0, 0, 0}, []byte("f\x00"), []byte{0}, lines, table, records))
	s.flags, s.addr = elf.SHF_ALLOC, 0x100000
	return []section{s}
}

// exidxBomb returns a program for ARM with an index of entries of "cannot unwind", for two bytes of
// code each.
func exidxBomb(size int) []byte {
	const index = 0x1000000
	var entries []byte
	for i := range size / 8 {
		place := uint32(index + 8*i)
		entries = le.AppendUint32(entries, (uint32(TextAddr+2*i%size)-place)&0x7fffffff)
		entries = le.AppendUint32(entries, 0x80b0b0b0)
	}
	return build32(elf.EM_ARM, size/4, section{name: ".ARM.exidx", kind: 0x70000001, flags: elf.SHF_ALLOC, addr: index, data: entries})
}

// build32 is buildText for a 32-bit machine, without a build id.
func build32(machine elf.Machine, text int, sections ...section) []byte {
	sections = append([]section{{name: ".text", kind: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, addr: TextAddr, data: make([]byte, text)}}, sections...)
	names, headers, body := []byte{0}, make([]byte, 40), make([]byte, 52+32)
	for _, s := range append(sections, section{name: ".shstrtab", kind: elf.SHT_STRTAB}) {
		name := len(names)
		names = append(append(names, s.name...), 0)
		if s.name == ".shstrtab" {
			s.data = names
		}
		for _, v := range []uint32{uint32(name), uint32(s.kind), uint32(s.flags), uint32(s.addr), uint32(len(body)), uint32(len(s.data)), s.link, 0, 4, uint32(s.entry)} {
			headers = le.AppendUint32(headers, v)
		}
		body = append(body, s.data...)
	}

	file := append(body, headers...)
	copy(file, "\x7fELF\x01\x01\x01")
	for at, v := range map[int]uint16{16: uint16(elf.ET_EXEC), 18: uint16(machine), 40: 52, 42: 32, 44: 1, 46: 40, 48: uint16(len(headers) / 40), 50: uint16(len(headers)/40 - 1)} {
		le.PutUint16(file[at:], v)
	}
	for at, v := range map[int]uint32{20: 1, 28: 52, 32: uint32(len(body)), 36: 0x05000000, 52: uint32(elf.PT_LOAD), 52 + 8: TextAddr, 52 + 16: uint32(text), 52 + 20: uint32(text), 52 + 24: 5} {
		le.PutUint32(file[at:], v)
	}
	return file
}
