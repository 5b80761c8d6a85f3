package elfx

import (
	"bytes"
	"debug/elf"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The fixtures hold what a linker makes of each object when it puts every
// section where layOut does (testdata/README.md).
func TestRealRelocations(t *testing.T) {
	for _, name := range []string{"i686", "riscv64", "loongarch64", "mips64el"} {
		object := mustFile(t, unxz(t, "reloc-"+name+".o"))
		linked := mustFile(t, unxz(t, "reloc-"+name+".elf"))
		n := 0
		for i := range object.Sections {
			s := &object.Sections[i]
			if s.applied() == 0 {
				continue
			}
			w := linked.Section(s.Name)
			got, err := s.Data()
			want, wantErr := w.Data()
			if !bytes.Equal(got, want) || err != nil || wantErr != nil || s.Addr != w.Addr {
				t.Errorf("%s: %s at %#x differs from the one linked at %#x, %v, %v\n%x\n%x", name, s.Name, s.Addr, w.Addr, err, wantErr, got, want)
			}
			if strings.HasPrefix(s.Name, ".debug_") {
				n++
			}
		}
		if losses := append(object.Losses(), object.RelocLosses()...); n < 4 || len(losses) > 0 {
			t.Errorf("%s: %d sections, %v", name, n, losses)
		}
	}
}

// An object with more sections than st_shndx can number, code before and behind
// that number: .debug_aranges has the addresses of the functions' sections.
func TestRealManySections(t *testing.T) {
	f := mustFile(t, unxzFile(t, filepath.Join(fixtureDir, "sections-x86_64-gcc12-O2-dw5.o.xz")))
	table, err := f.Symtab()
	if err != nil {
		t.Fatal(err)
	}
	var want []uint64
	high := false
	for i := range table.Symbols {
		if s := &table.Symbols[i]; s.Type == elf.STT_FUNC {
			want = append(want, f.Sections[s.Shndx].Addr)
			high = high || s.Shndx >= uint32(elf.SHN_LORESERVE)
			if s.Value != f.Sections[s.Shndx].Addr || !f.Sections[s.Shndx].loaded() {
				t.Errorf("symbol %d at %#x, its section at %#x", i, s.Value, f.Sections[s.Shndx].Addr)
			}
		}
	}
	data, err := f.SectionData(".debug_aranges")
	if err != nil {
		t.Fatal(err)
	}
	c := f.cursor(".debug_aranges", data)
	c.Skip(16) // its header, padded to two addresses
	var got []uint64
	for addr, size := c.U64(), c.U64(); size != 0; addr, size = c.U64(), c.U64() {
		got = append(got, addr)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) || !high || len(f.Losses())+len(f.RelocLosses()) > 0 {
		t.Errorf("ranges at %#x, functions at %#x, %v", got, want, f.RelocLosses())
	}
}
