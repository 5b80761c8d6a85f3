package elfx

import (
	"bytes"
	"debug/elf"
	"testing"
)

// EHABI32 §5: without section headers PT_ARM_EXIDX gives the index, and the
// table is before it in its segment. On other machines the number means
// something else.
func TestExidxSegment(t *testing.T) {
	build := func(machine elf.Machine, segments ...seg) *File {
		s := spec{class: elf.ELFCLASS32, machine: machine, noSections: true, segments: segments, sections: []sec{
			{name: ".ARM.extab", kind: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC, data: []byte("tabletabletable!")},
			{name: ".ARM.exidx", kind: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC, data: []byte("indexind")},
		}}
		return mustFile(t, s.build())
	}
	load, exidx := seg{kind: elf.PT_LOAD, flags: elf.PF_R}, seg{kind: ptARMExidx, flags: elf.PF_R, section: ".ARM.exidx"}
	f := build(elf.EM_ARM, load, exidx)
	index, table := f.Section(".ARM.exidx"), f.Section(".ARM.extab")
	if index == nil || table == nil || table.Addr != loadBase || table.Addr+table.Size != index.Addr {
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
