package elfx

import (
	"bytes"
	"debug/elf"
	"testing"

	"symkit/test/elftest"
)

// EHABI32 §5: without section headers PT_ARM_EXIDX gives the index, and the
// table is before it in its segment. On other machines the number means
// something else.
func TestExidxSegment(t *testing.T) {
	build := func(machine elf.Machine, segments ...elftest.Seg) *File {
		s := elftest.Spec{Class: elf.ELFCLASS32, Machine: machine, NoSections: true, Segments: segments, Sections: []elftest.Sec{
			{Name: ".ARM.extab", Kind: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC, Data: []byte("tabletabletable!")},
			{Name: ".ARM.exidx", Kind: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC, Data: []byte("indexind")},
		}}
		return mustFile(t, s.Build())
	}
	load, exidx := elftest.Seg{Kind: elf.PT_LOAD, Flags: elf.PF_R}, elftest.Seg{Kind: ptARMExidx, Flags: elf.PF_R, Section: ".ARM.exidx"}
	f := build(elf.EM_ARM, load, exidx)
	index, table := f.Section(".ARM.exidx"), f.Section(".ARM.extab")
	if index == nil || table == nil || table.Addr != elftest.LoadBase || table.Addr+table.Size != index.Addr {
		t.Fatalf("index %+v, table %+v", index, table)
	}
	got, err := index.Data()
	before, tableErr := table.Data()
	if string(got) != "indexind" || !bytes.HasSuffix(before, []byte("tabletabletable!")) || err != nil || tableErr != nil {
		t.Errorf("%q, %v; %q, %v", got, err, before, tableErr)
	}
	if f := build(elf.EM_ARM, exidx, load); f.Section(".ARM.extab") == nil {
		t.Error("order of segments")
	}
	if f := build(elf.EM_386, load, exidx); f.Section(".ARM.exidx") != nil {
		t.Error("another machine")
	}
	if f := build(elf.EM_ARM, load); f.Section(".ARM.exidx") != nil {
		t.Error("no such segment")
	}
}
