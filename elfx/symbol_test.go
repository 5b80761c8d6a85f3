package elfx

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"strings"
	"testing"

	"symkit/located"
	"symkit/test/elftest"
)

func symSize(class elf.Class) uint64 {
	if class == elf.ELFCLASS32 {
		return 16
	}
	return 24
}

// symbolSpec has a symbol table that uses SHT_SYMTAB_SHNDX, and relocations.
func symbolSpec(class elf.Class, big bool) *elftest.Spec {
	s := &elftest.Spec{Class: class, Big: big}
	syms := s.Enc().Sym(0, 0, 0, 0, 0, 0).Sym(1, 0x1234, 8, 0x12, 3, 1).
		Sym(5, 7, 0, 0x00, 0, 0xfff1).Sym(200, 1, 1, 0x2a, 0, 0xffff)
	rela := s.Enc().Word(0x10, s.RelocInfo(3, 7), ^uint64(4)+1)
	s.Sections = []elftest.Sec{
		{Name: ".symtab", Kind: elf.SHT_SYMTAB, Link: ".strtab", Entsize: symSize(class), Data: syms.B},
		{Name: ".strtab", Kind: elf.SHT_STRTAB, Data: []byte("\x00foo\x00unterminated")},
		{Name: ".symtab_shndx", Kind: elf.SHT_SYMTAB_SHNDX, Link: ".symtab", Entsize: 4, Data: s.Enc().U32(0, 0, 0, 0xfff1).B},
		{Name: ".rela.text", Kind: elf.SHT_RELA, Link: ".symtab", Data: rela.B},
		{Name: ".rel.text", Kind: elf.SHT_REL, Link: ".symtab", Data: s.Enc().Word(0x20, s.RelocInfo(2, 1)).B},
	}
	word := uint64(8)
	if class == elf.ELFCLASS32 {
		word = 4
	}
	s.Sections[3].Entsize, s.Sections[4].Entsize = 3*word, 2*word
	return s
}

// gABI, "Symbol Table" and "Relocation".
func TestSymbols(t *testing.T) {
	elftest.EveryKind(t, func(t *testing.T, class elf.Class, big bool) {
		f := mustFile(t, symbolSpec(class, big).Build())
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
		s := &elftest.Spec{Machine: elf.EM_MIPS, Big: big}
		data := s.Enc().U64(0x10).U32(9).U8(0, 1, 2, 3).U64(5).B
		s.Sections = []elftest.Sec{{Name: ".rela", Kind: elf.SHT_RELA, Entsize: 24, Data: data}}
		relocs, err := mustFile(t, s.Build()).Section(".rela").Relocs()
		if err != nil || relocs[0] != (Reloc{0x10, 5, 0x010203, 9}) {
			t.Errorf("big %v: %+v, %v", big, relocs, err)
		}
	}
}

func TestNameCut(t *testing.T) {
	table := SymbolTable{strings: []byte(strings.Repeat("x", 2*maxSymbolName))}
	if n := len(table.NameOf(&Symbol{Name: 3})); n != maxSymbolName {
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
	s.Sections[0].Data = bytes.Repeat(s.Sections[0].Data[:48], 1000)
	s.Sections = s.Sections[:2]
	f := mustFile(t, s.Build())
	if n := testing.AllocsPerRun(10, func() { f.Symtab() }); n > 8 {
		t.Errorf("%v allocations for 2000 symbols", n)
	}
}

// TestNullSymbol: a table of the null symbol alone needs no strings, as in u-boot's programs.
func TestNullSymbol(t *testing.T) {
	s := symbolSpec(elf.ELFCLASS64, false)
	s.Sections = []elftest.Sec{{Name: ".dynsym", Kind: elf.SHT_DYNSYM, Entsize: 24, Data: make([]byte, 24)}}
	table, err := mustFile(t, s.Build()).Dynsym()
	if err != nil || len(table.Symbols) != 1 || table.NameOf(&table.Symbols[0]) != nil {
		t.Errorf("%v, %v", table, err)
	}
}

func TestSymbolErrors(t *testing.T) {
	for _, test := range []struct {
		name    string
		damage  func(s *elftest.Spec)
		want    error
		section string
		offset  int
	}{
		{"entsize", func(s *elftest.Spec) { s.Sections[0].Entsize = 16 }, errEntrySize, ".symtab", 0},
		{"half an entry", func(s *elftest.Spec) {
			s.Sections[0].Data = s.Sections[0].Data[:40]
			s.Sections[2].Data = s.Sections[2].Data[:4]
		}, located.ErrTruncated, ".symtab", 24},
		{"no strings", func(s *elftest.Spec) { s.Sections[0].Link = ".rela.text" }, errSymbolStrings, ".symtab", 0},
		{"few indices", func(s *elftest.Spec) { s.Sections[2].Data = s.Sections[2].Data[:8] }, located.ErrTruncated, ".symtab_shndx", 8},
	} {
		s := symbolSpec(elf.ELFCLASS64, false)
		test.damage(s)
		_, err := mustFile(t, s.Build()).Symtab()
		t.Run(test.name, func(t *testing.T) { elftest.WantError(t, err, test.want, test.section, test.offset) })
	}
	for _, test := range []struct {
		name, read string
		damage     func(s *elftest.Spec)
		want       error
		offset     int
	}{
		{"entsize", ".rela.text", func(s *elftest.Spec) { s.Sections[3].Entsize = 16 }, errEntrySize, 0},
		{"half an entry", ".rela.text", func(s *elftest.Spec) { s.Sections[3].Data = append(s.Sections[3].Data, 1) }, located.ErrTruncated, 24},
		{"type", ".strtab", func(*elftest.Spec) {}, errNotRelocs, 0},
	} {
		s := symbolSpec(elf.ELFCLASS64, false)
		test.damage(s)
		_, err := mustFile(t, s.Build()).Section(test.read).Relocs()
		t.Run("relocations "+test.name, func(t *testing.T) { elftest.WantError(t, err, test.want, test.read, test.offset) })
	}
}

// dynamicSpec is a file without section headers; gnu chooses the hash table.
func dynamicSpec(class elf.Class, big, gnu bool) *elftest.Spec {
	s := &elftest.Spec{Class: class, Big: big, NoSections: true}
	s.Segments = []elftest.Seg{{Kind: elf.PT_LOAD, Flags: elf.PF_X}, {Kind: elf.PT_DYNAMIC, Section: ".dynamic"}}
	syms := s.Enc().Sym(0, 0, 0, 0, 0, 0).Sym(1, 0x10, 1, 0x12, 0, 1).Sym(5, 0x20, 2, 0x12, 0, 1)
	hash := s.Enc()
	if gnu {
		// 2 buckets, symoffset 1, 1 bloom word; symbol 1 ends bucket 0's
		// chain, symbol 2 bucket 1's.
		hash.U32(2, 1, 1, 0).Word(0).U32(1, 2).U32(0x11, 0x21)
	} else {
		hash.U32(1, 3, 1, 0, 2, 0)
	}
	s.Sections = []elftest.Sec{
		{Name: ".dynsym", Data: syms.B},
		{Name: ".dynstr", Data: []byte("\x00foo\x00bar\x00libx.so.1\x00")},
		{Name: ".hash", Data: hash.B},
		{Name: ".dynamic", Data: make([]byte, 0)},
	}
	at := func(name string) uint64 { return s.Layout().Addr[name] }
	tag := elf.DT_HASH
	if gnu {
		tag = elf.DT_GNU_HASH
	}
	dyn := s.Enc()
	for _, d := range []struct {
		tag   elf.DynTag
		value uint64
	}{{elf.DT_SONAME, 9}, {elf.DT_SYMTAB, at(".dynsym")}, {elf.DT_STRTAB, at(".dynstr")}, {elf.DT_STRSZ, 19}, {tag, at(".hash")}, {0, 0}, {elf.DT_SONAME, 1}} {
		dyn.Word(uint64(d.tag), d.value)
	}
	s.Sections[3].Data = dyn.B
	return s
}

// gABI, "Dynamic Section": names and symbols of a file whose section headers
// were stripped.
func TestDynamicWithoutSections(t *testing.T) {
	elftest.EveryKind(t, func(t *testing.T, class elf.Class, big bool) {
		for _, gnu := range []bool{false, true} {
			f := mustFile(t, dynamicSpec(class, big, gnu).Build())
			if name, err := Soname(f); name != "libx.so.1" || err != nil {
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
	type damage func(l *elftest.Placed, dyn func(i int) []byte)
	set := func(i int, value uint64) damage {
		return func(_ *elftest.Placed, dyn func(int) []byte) { binary.LittleEndian.PutUint64(dyn(i)[8:], value) }
	}
	for _, test := range []struct {
		name    string
		damage  damage
		soname  bool
		want    error
		section string
		offset  int
	}{
		{"soname outside", set(0, 20), true, located.ErrOffset, "DT_STRTAB", 0},
		{"soname at the end", set(0, 19), true, located.ErrUnterminated, "DT_STRTAB", 19},
		{"strings outside", set(3, 1<<40), true, located.ErrTruncated, "DT_STRTAB", -1},
		{"strings nowhere", set(2, 1), true, located.ErrTruncated, "DT_STRTAB", 0},
		{"hash nowhere", set(4, 1), false, located.ErrTruncated, "DT_GNU_HASH", 0},
		{"symbols nowhere", set(1, 1), false, located.ErrTruncated, "DT_SYMTAB", 0},
		{"buckets", func(l *elftest.Placed, _ func(int) []byte) { l.Data[l.Offset[".hash"]+3] = 1 }, false, located.ErrTruncated, "DT_GNU_HASH", 24},
		{"endless chain", func(l *elftest.Placed, _ func(int) []byte) { l.Data[l.Offset[".hash"]+28+3] = 1 }, false, located.ErrTruncated, "DT_GNU_HASH", 32},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := dynamicSpec(elf.ELFCLASS64, false, true).Layout()
			test.damage(l, func(i int) []byte { return l.Data[int(l.Offset[".dynamic"])+16*i:] })
			f := mustFile(t, l.Data)
			var err error
			if test.soname {
				_, err = Soname(f)
			} else {
				_, err = f.Dynsym()
			}
			if test.offset < 0 {
				test.offset = len(l.Data) - int(l.Offset[".dynstr"])
			}
			elftest.WantError(t, err, test.want, test.section, test.offset)
		})
	}
}

// A soname that section headers locate.
func TestSoname(t *testing.T) {
	s := &elftest.Spec{}
	s.Sections = []elftest.Sec{
		{Name: ".dynamic", Kind: elf.SHT_DYNAMIC, Link: ".dynstr", Data: s.Enc().U64(14, 1, 0, 0).B},
		{Name: ".dynstr", Kind: elf.SHT_STRTAB, Data: []byte("\x00libc.so.6\x00")},
	}
	if name, err := Soname(mustFile(t, s.Build())); name != "libc.so.6" || err != nil {
		t.Errorf("%q, %v", name, err)
	}
	s.Sections[0].Kind = elf.SHT_NOBITS
	if name, err := Soname(mustFile(t, s.Build())); name != "" || err != nil {
		t.Errorf("debug file: %q, %v", name, err)
	}
	s.Sections[0].Kind = elf.SHT_DYNAMIC
	s.Sections[0].Data = s.Sections[0].Data[:12]
	_, err := Soname(mustFile(t, s.Build()))
	elftest.WantError(t, err, located.ErrTruncated, ".dynamic", 8)
}

// unwindSpec has .eh_frame and .sframe only through program headers.
func unwindSpec(class elf.Class, big bool) *elftest.Spec {
	s := &elftest.Spec{Class: class, Big: big, NoSections: true}
	s.Segments = []elftest.Seg{{Kind: elf.PT_LOAD}, {Kind: elf.PT_GNU_EH_FRAME, Section: "hdr"}, {Kind: ptGNUSFrame, Section: "sframe"}}
	s.Sections = []elftest.Sec{
		{Name: "hdr", Data: make([]byte, 12)},
		{Name: "frames", Data: append(s.Enc().U32(4, 0, 8, 1, 2, 0).B, "behind"...)},
		{Name: "sframe", Data: []byte("SFRAME")},
	}
	l := s.Layout()
	s.Sections[0].Data = s.Enc().U8(1, 0x1b, 0xff, 0xff).U32(uint32(l.Addr["frames"]-l.Addr["hdr"]-4), 0).B
	return s
}

// LSB Core, "The .eh_frame_hdr section": Breakpad aborts on such a file.
func TestUnwindWithoutSections(t *testing.T) {
	elftest.EveryKind(t, func(t *testing.T, class elf.Class, big bool) {
		s := unwindSpec(class, big)
		f := mustFile(t, s.Build())
		eh := f.Section(".eh_frame")
		if eh == nil || eh.Addr != s.Layout().Addr["frames"] || eh.Size != 24 {
			t.Errorf(".eh_frame %+v, losses %v", eh, f.Losses())
		}
		if data, err := f.SectionData(".sframe"); string(data) != "SFRAME" || err != nil {
			t.Errorf(".sframe %q, %v", data, err)
		}
	})
}

func TestEhFramePointer(t *testing.T) {
	s := unwindSpec(elf.ELFCLASS64, false)
	l := s.Layout()
	hdr, frames := l.Addr["hdr"], l.Addr["frames"]
	for enc, b := range map[uint8][]byte{
		0x00: s.Enc().U64(frames).B,
		0x02: s.Enc().U16(0).B,
		0x12: s.Enc().U16(uint16(frames - hdr - 4)).B,
		0x1a: s.Enc().U16(uint16(frames - hdr - 4)).B,
		0x03: s.Enc().U32(uint32(frames)).B,
		0x3b: s.Enc().U32(uint32(frames - hdr)).B,
		0x1c: s.Enc().U64(frames - hdr - 4).B,
		0x0f: nil, 0xff: nil, 0x50: nil,
	} {
		data := bytes.Clone(l.Data)
		at := l.Offset["hdr"]
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
			elftest.WantError(t, f.Losses()[0], errPointer, ".eh_frame_hdr", 4)
		}
	}
}
