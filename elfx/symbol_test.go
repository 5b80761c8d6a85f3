package elfx

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"strings"
	"testing"

	"symkit/internal/wire"
)

// sym appends one symbol table entry.
func (e *enc) sym(name uint32, value, size uint64, info, other uint8, shndx uint16) *enc {
	e.u32(name)
	if e.wide {
		return e.u8(info, other).u16(shndx).u64(value, size)
	}
	return e.u32(uint32(value), uint32(size)).u8(info, other).u16(shndx)
}

func symSize(class elf.Class) uint64 {
	if class == elf.ELFCLASS32 {
		return 16
	}
	return 24
}

// symbolSpec has a symbol table that uses SHT_SYMTAB_SHNDX, and relocations.
func symbolSpec(class elf.Class, big bool) *spec {
	s := &spec{class: class, big: big}
	syms := s.enc().sym(0, 0, 0, 0, 0, 0).sym(1, 0x1234, 8, 0x12, 3, 1).
		sym(5, 7, 0, 0x00, 0, 0xfff1).sym(200, 1, 1, 0x2a, 0, 0xffff)
	rela := s.enc().word(0x10, s.relocInfo(3, 7), ^uint64(4)+1)
	s.sections = []sec{
		{name: ".symtab", kind: elf.SHT_SYMTAB, link: ".strtab", entsize: symSize(class), data: syms.b},
		{name: ".strtab", kind: elf.SHT_STRTAB, data: []byte("\x00foo\x00unterminated")},
		{name: ".symtab_shndx", kind: elf.SHT_SYMTAB_SHNDX, link: ".symtab", entsize: 4, data: s.enc().u32(0, 0, 0, 0xfff1).b},
		{name: ".rela.text", kind: elf.SHT_RELA, link: ".symtab", data: rela.b},
		{name: ".rel.text", kind: elf.SHT_REL, link: ".symtab", data: s.enc().word(0x20, s.relocInfo(2, 1)).b},
	}
	word := uint64(8)
	if class == elf.ELFCLASS32 {
		word = 4
	}
	s.sections[3].entsize, s.sections[4].entsize = 3*word, 2*word
	return s
}

func (s *spec) relocInfo(sym, kind uint64) uint64 {
	if s.class == elf.ELFCLASS32 {
		return sym<<8 | kind
	}
	return sym<<32 | kind
}

// gABI, "Symbol Table" and "Relocation".
func TestSymbols(t *testing.T) {
	everyKind(t, func(t *testing.T, class elf.Class, big bool) {
		f := mustFile(t, symbolSpec(class, big).build())
		table, err := f.Symtab()
		if err != nil {
			t.Fatal(err)
		}
		want := []Symbol{
			{},
			{Name: 1, Value: 0x1234, Size: 8, Type: elf.STT_FUNC, Bind: elf.STB_GLOBAL, Other: 3, Shndx: 1},
			{Name: 5, Value: 7, Shndx: ShnAbs},
			{Name: 200, Value: 1, Size: 1, Type: elf.STT_LOOS, Bind: elf.STB_WEAK, Shndx: 0xfff1},
		}
		names := []string{"", "foo", "unterminated", ""}
		for i, s := range table.Symbols {
			if s != want[i] || string(table.NameOf(&s)) != names[i] {
				t.Errorf("symbol %d: %+v %q", i, s, table.NameOf(&s))
			}
		}
		if len(table.Symbols) != len(want) {
			t.Errorf("%d symbols", len(table.Symbols))
		}
		rela, err := f.Section(".rela.text").Relocs()
		if err != nil || len(rela) != 1 || rela[0] != (Reloc{0x10, -4, 7, 3}) {
			t.Errorf("RELA %+v, %v", rela, err)
		}
		rel, err := f.Section(".rel.text").Relocs()
		if err != nil || len(rel) != 1 || rel[0] != (Reloc{0x20, 0, 1, 2}) {
			t.Errorf("REL %+v, %v", rel, err)
		}
		if table, err := f.Dynsym(); table != nil || err != nil {
			t.Errorf(".dynsym: %v, %v", table, err)
		}
	})
}

// MIPS64 ELF, "Relocation": r_info is no number in a little-endian file.
func TestRelocsMIPS64(t *testing.T) {
	for _, big := range []bool{false, true} {
		s := &spec{machine: elf.EM_MIPS, big: big}
		data := s.enc().u64(0x10).u32(9).u8(0, 1, 2, 3).u64(5).b
		s.sections = []sec{{name: ".rela", kind: elf.SHT_RELA, entsize: 24, data: data}}
		relocs, err := mustFile(t, s.build()).Section(".rela").Relocs()
		if err != nil || relocs[0] != (Reloc{0x10, 5, 0x010203, 9}) {
			t.Errorf("big %v: %+v, %v", big, relocs, err)
		}
	}
}

func TestNameCut(t *testing.T) {
	table := SymbolTable{strings: []byte(strings.Repeat("x", 2*MaxSymbolName))}
	if n := len(table.NameOf(&Symbol{Name: 3})); n != MaxSymbolName {
		t.Errorf("name of %d bytes", n)
	}
}

func TestNameOfAllocs(t *testing.T) {
	table := SymbolTable{strings: []byte("\x00main\x00")}
	s := Symbol{Name: 1}
	if n := testing.AllocsPerRun(100, func() { table.NameOf(&s) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// One allocation for the symbols, however many.
func TestSymbolAllocs(t *testing.T) {
	s := symbolSpec(elf.ELFCLASS64, false)
	s.sections[0].data = bytes.Repeat(s.sections[0].data[:48], 1000)
	s.sections = s.sections[:2]
	f := mustFile(t, s.build())
	if n := testing.AllocsPerRun(10, func() { f.Symtab() }); n > 8 {
		t.Errorf("%v allocations for 2000 symbols", n)
	}
}

func TestSymbolErrors(t *testing.T) {
	for _, test := range []struct {
		name    string
		damage  func(s *spec)
		want    error
		section string
		offset  int
	}{
		{"entsize", func(s *spec) { s.sections[0].entsize = 16 }, ErrEntrySize, ".symtab", 0},
		{"half an entry", func(s *spec) {
			s.sections[0].data = s.sections[0].data[:40]
			s.sections[2].data = s.sections[2].data[:4]
		}, wire.ErrTruncated, ".symtab", 24},
		{"no strings", func(s *spec) { s.sections[0].link = ".rela.text" }, ErrSymbolStrings, ".symtab", 0},
		{"few indices", func(s *spec) { s.sections[2].data = s.sections[2].data[:8] }, wire.ErrTruncated, ".symtab_shndx", 8},
	} {
		s := symbolSpec(elf.ELFCLASS64, false)
		test.damage(s)
		_, err := mustFile(t, s.build()).Symtab()
		t.Run(test.name, func(t *testing.T) { wantError(t, err, test.want, test.section, test.offset) })
	}
	for _, test := range []struct {
		name, read string
		damage     func(s *spec)
		want       error
		offset     int
	}{
		{"entsize", ".rela.text", func(s *spec) { s.sections[3].entsize = 16 }, ErrEntrySize, 0},
		{"half an entry", ".rela.text", func(s *spec) { s.sections[3].data = append(s.sections[3].data, 1) }, wire.ErrTruncated, 24},
		{"type", ".strtab", func(*spec) {}, ErrNotRelocs, 0},
	} {
		s := symbolSpec(elf.ELFCLASS64, false)
		test.damage(s)
		_, err := mustFile(t, s.build()).Section(test.read).Relocs()
		t.Run("relocations "+test.name, func(t *testing.T) { wantError(t, err, test.want, test.read, test.offset) })
	}
}

// dynamicSpec is a file without section headers; gnu chooses the hash table.
func dynamicSpec(class elf.Class, big, gnu bool) *spec {
	s := &spec{class: class, big: big, noSections: true}
	s.segments = []seg{{kind: elf.PT_LOAD, flags: elf.PF_X}, {kind: elf.PT_DYNAMIC, section: ".dynamic"}}
	syms := s.enc().sym(0, 0, 0, 0, 0, 0).sym(1, 0x10, 1, 0x12, 0, 1).sym(5, 0x20, 2, 0x12, 0, 1)
	hash := s.enc()
	if gnu {
		// 2 buckets, symoffset 1, 1 bloom word; symbol 1 ends bucket 0's
		// chain, symbol 2 bucket 1's.
		hash.u32(2, 1, 1, 0).word(0).u32(1, 2).u32(0x11, 0x21)
	} else {
		hash.u32(1, 3, 1, 0, 2, 0)
	}
	s.sections = []sec{
		{name: ".dynsym", data: syms.b},
		{name: ".dynstr", data: []byte("\x00foo\x00bar\x00libx.so.1\x00")},
		{name: ".hash", data: hash.b},
		{name: ".dynamic", data: make([]byte, 0)},
	}
	at := func(name string) uint64 { return s.layout().addr[name] }
	tag := elf.DT_HASH
	if gnu {
		tag = elf.DT_GNU_HASH
	}
	dyn := s.enc()
	for _, d := range []struct {
		tag   elf.DynTag
		value uint64
	}{{elf.DT_SONAME, 9}, {elf.DT_SYMTAB, at(".dynsym")}, {elf.DT_STRTAB, at(".dynstr")}, {elf.DT_STRSZ, 19}, {tag, at(".hash")}, {0, 0}, {elf.DT_SONAME, 1}} {
		dyn.word(uint64(d.tag), d.value)
	}
	s.sections[3].data = dyn.b
	return s
}

// gABI, "Dynamic Section": names and symbols of a file whose section headers
// were stripped.
func TestDynamicWithoutSections(t *testing.T) {
	everyKind(t, func(t *testing.T, class elf.Class, big bool) {
		for _, gnu := range []bool{false, true} {
			f := mustFile(t, dynamicSpec(class, big, gnu).build())
			if name, err := f.Soname(); name != "libx.so.1" || err != nil {
				t.Errorf("soname %q, %v", name, err)
			}
			table, err := f.Dynsym()
			if err != nil || table == nil || len(table.Symbols) != 3 {
				t.Fatalf("gnu %v: %+v, %v", gnu, table, err)
			}
			if s := &table.Symbols[2]; s.Value != 0x20 || string(table.NameOf(s)) != "bar" {
				t.Errorf("symbol %+v %q", s, table.NameOf(s))
			}
		}
	})
}

func TestDynamicErrors(t *testing.T) {
	type damage func(l *layout, dyn func(i int) []byte)
	set := func(i int, value uint64) damage {
		return func(_ *layout, dyn func(int) []byte) { binary.LittleEndian.PutUint64(dyn(i)[8:], value) }
	}
	for _, test := range []struct {
		name    string
		damage  damage
		soname  bool
		want    error
		section string
		offset  int
	}{
		{"soname outside", set(0, 20), true, wire.ErrOffset, "DT_STRTAB", 0},
		{"soname at the end", set(0, 19), true, wire.ErrUnterminated, "DT_STRTAB", 19},
		{"strings outside", set(3, 1<<40), true, wire.ErrTruncated, "DT_STRTAB", -1},
		{"strings nowhere", set(2, 1), true, wire.ErrTruncated, "DT_STRTAB", 0},
		{"hash nowhere", set(4, 1), false, wire.ErrTruncated, "DT_GNU_HASH", 0},
		{"symbols nowhere", set(1, 1), false, wire.ErrTruncated, "DT_SYMTAB", 0},
		{"buckets", func(l *layout, _ func(int) []byte) { l.data[l.offset[".hash"]+3] = 1 }, false, wire.ErrTruncated, "DT_GNU_HASH", 24},
		{"endless chain", func(l *layout, _ func(int) []byte) { l.data[l.offset[".hash"]+28+3] = 1 }, false, wire.ErrTruncated, "DT_GNU_HASH", 32},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := dynamicSpec(elf.ELFCLASS64, false, true).layout()
			test.damage(l, func(i int) []byte { return l.data[int(l.offset[".dynamic"])+16*i:] })
			f := mustFile(t, l.data)
			var err error
			if test.soname {
				_, err = f.Soname()
			} else {
				_, err = f.Dynsym()
			}
			if test.offset < 0 {
				test.offset = len(l.data) - int(l.offset[".dynstr"])
			}
			wantError(t, err, test.want, test.section, test.offset)
		})
	}
}

// A soname by way of section headers.
func TestSoname(t *testing.T) {
	s := &spec{}
	s.sections = []sec{
		{name: ".dynamic", kind: elf.SHT_DYNAMIC, link: ".dynstr", data: s.enc().u64(14, 1, 0, 0).b},
		{name: ".dynstr", kind: elf.SHT_STRTAB, data: []byte("\x00libc.so.6\x00")},
	}
	if name, err := mustFile(t, s.build()).Soname(); name != "libc.so.6" || err != nil {
		t.Errorf("%q, %v", name, err)
	}
	s.sections[0].kind = elf.SHT_NOBITS
	if name, err := mustFile(t, s.build()).Soname(); name != "" || err != nil {
		t.Errorf("debug file: %q, %v", name, err)
	}
	s.sections[0].kind = elf.SHT_DYNAMIC
	s.sections[0].data = s.sections[0].data[:12]
	_, err := mustFile(t, s.build()).Soname()
	wantError(t, err, wire.ErrTruncated, ".dynamic", 8)
}

// unwindSpec has .eh_frame and .sframe only through program headers.
func unwindSpec(class elf.Class, big bool) *spec {
	s := &spec{class: class, big: big, noSections: true}
	s.segments = []seg{{kind: elf.PT_LOAD}, {kind: elf.PT_GNU_EH_FRAME, section: "hdr"}, {kind: ptGNUSFrame, section: "sframe"}}
	s.sections = []sec{
		{name: "hdr", data: make([]byte, 12)},
		{name: "frames", data: append(s.enc().u32(4, 0, 8, 1, 2, 0).b, "behind"...)},
		{name: "sframe", data: []byte("SFRAME")},
	}
	l := s.layout()
	s.sections[0].data = s.enc().u8(1, 0x1b, 0xff, 0xff).u32(uint32(l.addr["frames"]-l.addr["hdr"]-4), 0).b
	return s
}

// LSB Core, "The .eh_frame_hdr section": Breakpad aborts on such a file.
func TestUnwindWithoutSections(t *testing.T) {
	everyKind(t, func(t *testing.T, class elf.Class, big bool) {
		s := unwindSpec(class, big)
		f := mustFile(t, s.build())
		eh := f.Section(".eh_frame")
		if eh == nil || eh.Addr != s.layout().addr["frames"] || eh.Size != 24 {
			t.Errorf(".eh_frame %+v, losses %v", eh, f.Losses())
		}
		if data, err := f.SectionData(".sframe"); string(data) != "SFRAME" || err != nil {
			t.Errorf(".sframe %q, %v", data, err)
		}
	})
}

func TestEhFramePointer(t *testing.T) {
	s := unwindSpec(elf.ELFCLASS64, false)
	l := s.layout()
	hdr, frames := l.addr["hdr"], l.addr["frames"]
	for enc, b := range map[uint8][]byte{
		0x00: s.enc().u64(frames).b,
		0x02: s.enc().u16(0).b,
		0x12: s.enc().u16(uint16(frames - hdr - 4)).b,
		0x1a: s.enc().u16(uint16(frames - hdr - 4)).b,
		0x03: s.enc().u32(uint32(frames)).b,
		0x3b: s.enc().u32(uint32(frames - hdr)).b,
		0x1c: s.enc().u64(frames - hdr - 4).b,
		0x0f: nil, 0xff: nil, 0x50: nil,
	} {
		data := bytes.Clone(l.data)
		at := l.offset["hdr"]
		data[at+1] = enc
		copy(data[at+4:], b)
		f := mustFile(t, data)
		eh := f.Section(".eh_frame")
		if good := b != nil && enc != 2; good != (eh != nil && eh.Addr == frames) {
			t.Errorf("encoding %#x: %+v, losses %v", enc, eh, f.Losses())
		} else if !good {
			if len(f.Losses()) == 0 {
				t.Fatalf("encoding %#x: no loss", enc)
			}
			wantError(t, f.Losses()[0], ErrPointer, ".eh_frame_hdr", 4)
		}
	}
}
