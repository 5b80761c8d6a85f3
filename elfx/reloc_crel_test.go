package elfx

import (
	"bytes"
	"debug/elf"
	"errors"
	"slices"
	"testing"

	"symkit/located"
	"symkit/test/elftest"
)

// TestRealCrel: objects with compact relocations have the bytes, addresses and symbols of
// the same objects without.
func TestRealCrel(t *testing.T) {
	for _, name := range []string{"x86_64", "i686", "armv7", "riscv64", "powerpc64"} {
		compact, plain := mustFile(t, unxz(t, "crel-"+name+".o")), mustFile(t, unxz(t, "rela-"+name+".o"))
		n := 0
		for i := range plain.Sections {
			s := &plain.Sections[i]
			if s.applied() == 0 {
				continue
			}
			n++
			c := compact.Section(s.Name)
			if c == nil || c.applied() == 0 {
				t.Fatalf("%s: %s has no relocations", name, s.Name)
			}
			want, err := s.Data()
			got, compactErr := c.Data()
			if err != nil || compactErr != nil || !bytes.Equal(got, want) || c.Addr != s.Addr {
				t.Errorf("%s: %s: %v, %v\n%x\n%x", name, s.Name, err, compactErr, got, want)
			}
		}
		lost := slices.Concat(compact.Losses(), compact.RelocLosses())
		if n < 4 || len(lost) > 0 {
			t.Errorf("%s: %d sections, %v", name, n, lost)
		}
	}
}

// crelSpec is an object whose .debug_info has the given compact relocations.
func crelSpec(class elf.Class, kind elf.SectionType, relocs []byte) *elftest.Spec {
	machine := elf.EM_X86_64
	if class == elf.ELFCLASS32 {
		machine = elf.EM_386
	}
	s := objectSpec(machine, class, false, true, bytes.Repeat([]byte{0xff}, 24))
	s.Sections[4] = elftest.Sec{Name: ".crel.debug_info", Kind: kind, Info: 4, Link: ".symtab", Entsize: 1, Data: relocs}
	return s
}

// TestCrel reads entries of the compact form (proposal of the gABI, "Relocation").
func TestCrel(t *testing.T) {
	for _, test := range []struct {
		name  string
		class elf.Class
		bytes []byte
		want  []Reloc
	}{
		{"none", elf.ELFCLASS64, []byte{0 << 3}, nil},
		{"addend, all members", elf.ELFCLASS64, []byte{1<<3 | 4, 2<<3 | 7, 5, 1, 0x7d}, []Reloc{{Offset: 2, Sym: 5, Type: 1, Addend: -3}}},
		{"without addends bit 2 is of the offset", elf.ELFCLASS64, []byte{1 << 3, 5<<2 | 3, 1, 10}, []Reloc{{Offset: 5, Sym: 1, Type: 10}}},
		{"differences", elf.ELFCLASS64, []byte{3<<3 | 4, 1<<3 | 7, 2, 1, 4, 8 << 3, 8<<3 | 5, 0x7f, 0x7c},
			[]Reloc{{1, 4, 1, 2}, {9, 4, 1, 2}, {17, 0, 1, 1}}},
		{"shift", elf.ELFCLASS64, []byte{2<<3 | 4 | 3, 1<<3 | 2, 1, 2 << 3}, []Reloc{{Offset: 8, Type: 1}, {Offset: 24, Type: 1}}},
		{"long offset", elf.ELFCLASS64, []byte{1<<3 | 4, 0x80 | 3<<3 | 2, 0x81, 0x01, 1}, []Reloc{{Offset: 3 | 129<<4, Type: 1}}},
		{"long offset without addends", elf.ELFCLASS64, []byte{1 << 3, 0x80 | 31<<2 | 2, 1, 1}, []Reloc{{Offset: 63, Type: 1}}},
		{"32 bits wrap", elf.ELFCLASS32, []byte{2<<3 | 4, 2<<3 | 6, 1, 0x7f, 0x80 | 15<<3, 0xff, 0xff, 0xff, 0x7f},
			[]Reloc{{2, -1, 1, 0}, {(2 + 15 + 0xfffffff<<4) & 0xffffffff, -1, 1, 0}}},
	} {
		for _, kind := range []elf.SectionType{shtCrel, shtCrelLLVM} {
			f := mustFile(t, crelSpec(test.class, kind, test.bytes).Build())
			got, err := f.Section(".crel.debug_info").Relocs()
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("%s: %+v, %v, want %+v", test.name, got, err, test.want)
			}
		}
	}
}

// TestCrelErrors: damage of a relocation section costs the section that is relocated, and
// has a place.
func TestCrelErrors(t *testing.T) {
	for _, test := range []struct {
		name  string
		kind  elf.SectionType
		bytes []byte
		want  error
		at    int
	}{
		{"no header", shtCrelLLVM, nil, located.ErrTruncated, 0},
		{"header without an end", shtCrelLLVM, []byte{0x80}, located.ErrTruncated, 1},
		{"more entries than bytes", shtCrelLLVM, []byte{3<<3 | 4, 0, 0}, located.ErrTruncated, 1},
		{"huge count", shtCrelLLVM, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0}, located.ErrTruncated, 10},
		{"no symbol", shtCrelLLVM, []byte{1<<3 | 4, 7}, located.ErrTruncated, 2},
		{"offset without an end", shtCrelLLVM, []byte{1<<3 | 4, 0x80, 0x80}, located.ErrTruncated, 3},
		{"unknown type", 0x40000042, []byte{1<<3 | 4, 7, 1, 1, 1}, errNotRelocs, 0},
		{"Android's", shtAndroidRela, []byte("APS2"), errNotRelocs, 0},
		{"relative ones", 19, make([]byte, 8), errNotRelocs, 0},
	} {
		f := mustFile(t, crelSpec(elf.ELFCLASS64, test.kind, test.bytes).Build())
		data, err := f.SectionData(".debug_info")
		e, ok := errors.AsType[*located.Error](err)
		if data != nil || !ok || !errors.Is(err, test.want) || e.Offset != test.at || e.Section != ".crel.debug_info" {
			t.Errorf("%s: %x, %v", test.name, data, err)
		}
	}

	// Other sections that name a section in sh_info are not relocations.
	s := crelSpec(elf.ELFCLASS64, 0x6fff4c0a, []byte{1, 2, 3})
	s.Sections[4].Name = ".llvm_bb_addr_map"
	f := mustFile(t, s.Build())
	_, err := f.SectionData(".debug_info")
	if err != nil {
		t.Error(err)
	}
}
