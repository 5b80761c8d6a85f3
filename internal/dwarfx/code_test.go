package dwarfx

import (
	"slices"
	"testing"
)

func TestNewCodeMap(t *testing.T) {
	in := []Range{{Lo: 0x300, Hi: 0x400}, {Lo: 0x100, Hi: 0x180}, {Lo: 0x180, Hi: 0x200}, {Lo: 0x500, Hi: 0x500}, {Lo: 0x600, Hi: 0x5ff}, {Lo: 0x110, Hi: 0x120}, {Lo: 0x350, Hi: 0x380}, {Lo: ^uint64(0) - 1, Hi: ^uint64(0)}, {Lo: 0x100, Hi: 0x101}}
	keep := slices.Clone(in)
	got := NewCodeMap(in)
	want := CodeMap{{Lo: 0x100, Hi: 0x200}, {Lo: 0x300, Hi: 0x400}, {Lo: ^uint64(0) - 1, Hi: ^uint64(0)}}
	if !slices.Equal(got, want) {
		t.Errorf("got %#x", got)
	}
	if !slices.Equal(in, keep) {
		t.Error("the argument changed")
	}
	for addr, in := range map[uint64]bool{0: false, 0xff: false, 0x100: true, 0x1ff: true, 0x200: false, 0x2ff: false,
		0x300: true, 0x3ff: true, 0x400: false, ^uint64(0) - 1: true, ^uint64(0): false} {
		if got.Contains(addr) != in {
			t.Errorf("Contains(%#x) = %v", addr, !in)
		}
	}
	if NewCodeMap(nil).Contains(0) {
		t.Error("the empty map contains 0")
	}
}

// TestTombstone: DWARF 6 issue 200609.1, in every address size.
func TestTombstone(t *testing.T) {
	for _, size := range []uint8{1, 2, 4, 8} {
		top := ^uint64(0) >> (64 - 8*size)
		for addr, want := range map[uint64]bool{0: false, 1: false, top: true, top - 1: true, top - 2: false, top / 2: false} {
			if tombstone(addr, size) != want {
				t.Errorf("size %d: tombstone(%#x) = %v", size, addr, !want)
			}
		}
	}
}

// TestLanguages, DWARF 5 §7.12.
func TestLanguages(t *testing.T) {
	tests := []struct {
		l      Language
		c, cxx bool
		family family
		sep    string
	}{
		{0x01, true, false, familyC, ""}, {0x02, true, false, familyC, ""}, {0x0c, true, false, familyC, ""},
		{0x1d, true, false, familyC, ""}, {0x2c, true, false, familyC, ""}, {0x3e, true, false, familyC, ""},
		{0x04, false, true, familyCxx, "::"}, {0x19, false, true, familyCxx, "::"}, {0x1a, false, true, familyCxx, "::"},
		{0x21, false, true, familyCxx, "::"}, {0x2a, false, true, familyCxx, "::"}, {0x2b, false, true, familyCxx, "::"},
		{0x3a, false, true, familyCxx, "::"}, {0x11, false, true, familyCxx, "::"},
		{0x1c, false, false, familyAny, "::"}, {0x13, false, false, familyAny, "."}, {0x16, false, false, familyAny, ""},
		{0x10, false, false, familyAny, ""}, {0x8001, false, false, familyAny, ""}, {0, false, false, familyAny, ""},
	}
	for _, tt := range tests {
		if tt.l.isC() != tt.c || tt.l.isCxx() != tt.cxx || familyOf(tt.l) != tt.family || tt.l.Separator() != tt.sep {
			t.Errorf("%#x: C %v, C++ %v, family %d, separator %q", uint16(tt.l), tt.l.isC(), tt.l.isCxx(), familyOf(tt.l), tt.l.Separator())
		}
	}
}
