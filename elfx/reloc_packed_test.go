package elfx

import (
	"bytes"
	"debug/elf"
	"fmt"
	"slices"
	"testing"

	"symkit/located"
	"symkit/test/elftest"
)

// packedSpec is a file with one section of packed relocations.
func packedSpec(kind elf.SectionType, class elf.Class, numbers ...int64) *elftest.Spec {
	data := []byte("APS2")
	for _, v := range numbers {
		data = appendSLEB(data, v)
	}
	return &elftest.Spec{Class: class, Sections: []elftest.Sec{{Name: ".rela.dyn", Kind: kind, Entsize: 1, Data: data}}}
}

func appendSLEB(b []byte, v int64) []byte {
	for {
		low := byte(v & 0x7f)
		v >>= 7
		if v == 0 && low&0x40 == 0 || v == -1 && low&0x40 != 0 {
			return append(b, low)
		}
		b = append(b, low|0x80)
	}
}

// packedNumbers are relocations in groups of all kinds.
func packedNumbers(class elf.Class) []int64 {
	info := func(sym, kind int64) int64 {
		if class == elf.ELFCLASS32 {
			return sym<<8 | kind
		}
		return sym<<32 | kind
	}
	return slices.Concat([]int64{9, 0x1000},
		[]int64{2, groupedByInfo | groupedByOffsetDelta, 8, info(0, 8)}, // relative, every 8 bytes, without addend
		[]int64{2, groupHasAddend, 0x10, info(1, 6), 5, 0x10, info(2, 7), -7},
		[]int64{1, 0, -0x20, info(3, 6)},
		[]int64{2, groupedByInfo | groupHasAddend | groupedByAddend, info(4, 1), 0x30, 1, 2},
		[]int64{2, groupedByOffsetDelta | groupHasAddend, 4, info(5, 1), 1, info(6, 1), 1},
	)
}

func TestPackedRelocs(t *testing.T) {
	want := []Reloc{
		{0x1008, 0, 8, 0}, {0x1010, 0, 8, 0},
		{0x1020, 5, 6, 1}, {0x1030, -2, 7, 2},
		{0x1010, 0, 6, 3},
		{0x1011, 0x30, 1, 4}, {0x1013, 0x30, 1, 4},
		{0x1017, 0x31, 1, 5}, {0x101b, 0x32, 1, 6},
	}
	for _, kind := range []elf.SectionType{shtAndroidRel, shtAndroidRela} {
		for _, class := range []elf.Class{elf.ELFCLASS32, elf.ELFCLASS64} {
			s := packedSpec(kind, class, packedNumbers(class)...)
			relocs, err := mustFile(t, s.Build()).Section(".rela.dyn").Relocs()
			if err != nil || !slices.Equal(relocs, want) {
				t.Errorf("%v %v: %+v, %v", kind, class, relocs, err)
			}
		}
	}
}

// A damaged section gives the relocations before the damage.
func TestPackedRelocsDamage(t *testing.T) {
	for _, test := range []struct {
		name    string
		numbers []int64
		damage  func(data []byte) []byte
		want    error
		offset  int
		n       int
	}{
		{"magic", nil, func(d []byte) []byte { return bytes.Replace(d, []byte("S2"), []byte("S1"), 1) }, errPackedMagic, 0, 0},
		{"empty", nil, func(d []byte) []byte { return d[:3] }, located.ErrTruncated, 0, 0},
		{"no count", nil, nil, located.ErrTruncated, 4, 0},
		{"count", []int64{1 << 40, 0, 1 << 40, 3, 8, 1}, nil, errPackedCount, 4, 0},
		{"negative count", []int64{-1, 0, 1, 3, 8, 1}, nil, errPackedCount, 4, 0},
		{"group", []int64{2, 0, 3, 3, 8, 1}, nil, errPackedCount, 6, 0},
		{"empty group", []int64{2, 0, 0, 3, 8, 1}, nil, errPackedCount, 6, 0},
		{"end", []int64{2, 0, 1, 0, 8, 1, 1, 0, 8}, nil, located.ErrTruncated, 13, 1},
	} {
		s := packedSpec(shtAndroidRela, elf.ELFCLASS64, test.numbers...)
		if test.damage != nil {
			s.Sections[0].Data = test.damage(s.Sections[0].Data)
		}
		relocs, err := mustFile(t, s.Build()).Section(".rela.dyn").Relocs()
		t.Run(test.name, func(t *testing.T) {
			elftest.WantError(t, err, test.want, ".rela.dyn", test.offset)
			if len(relocs) != test.n {
				t.Errorf("%d relocations, want %d", len(relocs), test.n)
			}
		})
	}
}

func FuzzPackedRelocs(f *testing.F) {
	f.Add(fmt.Append(nil, "APS2"))
	f.Add(packedSpec(shtAndroidRela, elf.ELFCLASS64, packedNumbers(elf.ELFCLASS64)...).Sections[0].Data)
	f.Fuzz(func(t *testing.T, data []byte) {
		s := packedSpec(shtAndroidRela, elf.ELFCLASS64)
		s.Sections[0].Data = data
		file := mustFile(t, s.Build())
		relocs, _ := file.Section(".rela.dyn").Relocs()
		if len(relocs) > len(file.data)/8 {
			t.Errorf("%d relocations of %d bytes", len(relocs), len(file.data))
		}
	})
}
