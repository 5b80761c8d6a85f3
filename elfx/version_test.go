package elfx

import (
	"debug/elf"
	"maps"
	"slices"
	"testing"

	"symkit/located"
	"symkit/test/elftest"
)

// versionSpec is a file that defines V1 and V2, the second one after V1, and needs N1 and N2.
func versionSpec(class elf.Class, big bool) *elftest.Spec {
	s := &elftest.Spec{Class: class, Big: big}
	def := s.Enc().U16(1, 0, 1, 1).U32(0, 20, 28).U32(1, 0) // V1: the name alone
	def.U16(1, 0, 2, 2).U32(0, 20, 0).U32(4, 8).U32(1, 0)   // V2: the name, and what it comes after
	need := s.Enc().U16(1, 2).U32(0, 16, 0)
	need.U32(0).U16(0, 3).U32(7, 16).U32(0).U16(0, 4).U32(10, 0)
	s.Sections = []elftest.Sec{
		{Name: ".gnu.version_d", Kind: elf.SHT_GNU_VERDEF, Link: ".dynstr", Data: def.B},
		{Name: ".gnu.version_r", Kind: elf.SHT_GNU_VERNEED, Link: ".dynstr", Data: need.B},
		{Name: ".dynstr", Kind: elf.SHT_STRTAB, Data: []byte("\x00V1\x00V2\x00N1\x00N2\x00")},
	}
	return s
}

// TestVersions: the names of versions that a file defines and needs (LSB Core, "Symbol Versioning").
func TestVersions(t *testing.T) {
	elftest.EveryKind(t, func(t *testing.T, class elf.Class, big bool) {
		names, err := Versions(mustFile(t, versionSpec(class, big).Build()))
		got := slices.Sorted(maps.Keys(names))
		if want := []string{"N1", "N2", "V1", "V2"}; !slices.Equal(got, want) || err != nil {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	})

	s := versionSpec(elf.ELFCLASS64, false)
	s.Sections[0].Data = s.Sections[0].Data[:50]
	names, err := Versions(mustFile(t, s.Build()))
	elftest.WantError(t, err, located.ErrTruncated, ".gnu.version_d", 48)
	if !names["V1"] || !names["N2"] {
		t.Errorf("names outside of the damage: %v", names)
	}

	// Entries that have the most auxiliary ones, which overlap.
	s.Sections[0].Data = slices.Repeat(s.Enc().U16(0, 0, 0, 0xffff).U32(0, 20, 24, 0).B, 100)
	_, err = Versions(mustFile(t, s.Build()))
	elftest.WantError(t, err, errVersions, ".gnu.version_d", 24)

	s.Sections[0].Link = ""
	_, err = Versions(mustFile(t, s.Build()))
	elftest.WantError(t, err, errSymbolStrings, ".gnu.version_d", 0)
}
