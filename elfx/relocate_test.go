package elfx

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"symkit/located"
	"symkit/test/elftest"
)

// The symbols of an object, by index in objectSpec's table.
const (
	symText   = 1 + iota // the section symbol of .text
	symFunc              // .text + 0x10, 0x20 bytes
	symUndef             // in another file
	symCommon            // aligned to 32
	symAbs               // 0x1234
	symTLS               // 4 in .tdata
	symTdata             // the section symbol of .tdata
	symLost              // in a section that there is not
	symCount
)

const textAddr, tdataAddr = 0x40, 0x80 // where objectSpec's sections are laid out

// objectSpec is a relocatable object whose .debug_info has the given bytes and
// relocations.
func objectSpec(machine elf.Machine, class elf.Class, big bool, rela bool, data []byte, relocs ...Reloc) *elftest.Spec {
	s := &elftest.Spec{Kind: elf.ET_REL, Machine: machine, Class: class, Big: big}
	kind, entry := elf.SHT_REL, uint64(8)
	if rela {
		kind, entry = elf.SHT_RELA, 12
	}
	if class == elf.ELFCLASS64 {
		entry *= 2
	}
	s.Sections = []elftest.Sec{
		{Name: ".rodata", Kind: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC, Data: make([]byte, 9), Align: 1},
		{Name: ".text", Kind: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Data: make([]byte, 0x30), Align: 64},
		{Name: ".tdata", Kind: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC | elf.SHF_TLS, Data: make([]byte, 8), Align: 32},
		{Name: ".debug_info", Kind: elf.SHT_PROGBITS, Data: data, Align: 1},
		{Name: ".rel.debug_info", Kind: kind, Info: 4, Link: ".symtab", Entsize: entry, Data: relocBytes(s, rela, relocs)},
		{Name: ".strtab", Kind: elf.SHT_STRTAB, Data: []byte{0}},
		{Name: ".symtab", Kind: elf.SHT_SYMTAB, Link: ".strtab", Entsize: map[bool]uint64{true: 24, false: 16}[class != elf.ELFCLASS32]},
	}
	e := s.Enc()
	for _, sym := range [symCount]Symbol{
		symText:   {Type: elf.STT_SECTION, Shndx: 2},
		symFunc:   {Type: elf.STT_FUNC, Shndx: 2, Value: 0x10, Size: 0x20},
		symUndef:  {Value: 0x99},
		symCommon: {Type: elf.STT_OBJECT, Shndx: uint32(elf.SHN_COMMON), Value: 32},
		symAbs:    {Shndx: uint32(elf.SHN_ABS), Value: 0x1234},
		symTLS:    {Type: elf.STT_TLS, Shndx: 3, Value: 4},
		symTdata:  {Type: elf.STT_SECTION, Shndx: 3},
		symLost:   {Type: elf.STT_FUNC, Shndx: 0x77, Value: 1},
	} {
		appendSymbol(e, sym)
	}
	s.Sections[6].Data = e.B
	return s
}

func appendSymbol(e *elftest.Enc, s Symbol) {
	e.U32(s.Name)
	if e.Wide {
		e.U8(byte(s.Type), 0).U16(uint16(s.Shndx)).U64(s.Value, s.Size)
	} else {
		e.U32(uint32(s.Value), uint32(s.Size)).U8(byte(s.Type), 0).U16(uint16(s.Shndx))
	}
}

func relocBytes(s *elftest.Spec, rela bool, relocs []Reloc) []byte {
	e := s.Enc()
	for _, r := range relocs {
		e.Word(r.Offset)
		switch {
		case e.Wide && s.Machine == elf.EM_MIPS && !s.Big:
			e.U32(r.Sym).U8(byte(r.Type>>24), byte(r.Type>>16), byte(r.Type>>8), byte(r.Type))
		case e.Wide:
			e.U64(uint64(r.Sym)<<32 | uint64(r.Type))
		default:
			e.U32(r.Sym<<8 | r.Type)
		}
		if rela {
			e.Word(uint64(r.Addend))
		}
	}
	return e.B
}

// relocated returns .debug_info after relocation.
func relocated(t *testing.T, s *elftest.Spec) ([]byte, *File) {
	t.Helper()
	f := mustFile(t, s.Build())
	data, err := f.SectionData(".debug_info")
	if err != nil {
		t.Fatal(err)
	}
	return data, f
}

// What one relocation makes of the bytes at offset 2, by machine. "0a" stands
// for bytes that stay.
var applied = []struct {
	name    string
	machine elf.Machine
	class   elf.Class
	big     bool
	rela    bool
	field   string // hex, before
	r       Reloc
	want    string // hex, after
}{
	{"x86-64 psABI 64", elf.EM_X86_64, elf.ELFCLASS64, false, true, "ffffffffffffffff", Reloc{Type: 1, Sym: symFunc, Addend: 3}, "5300000000000000"},
	{"x86-64 psABI 32", elf.EM_X86_64, elf.ELFCLASS64, false, true, "ffffffff", Reloc{Type: 10, Sym: symText, Addend: 1}, "41000000"},
	{"x86-64 psABI 16", elf.EM_X86_64, elf.ELFCLASS64, false, true, "ffff", Reloc{Type: 12, Sym: symText}, "4000"},
	{"x86-64 psABI 8", elf.EM_X86_64, elf.ELFCLASS64, false, true, "ff", Reloc{Type: 14, Sym: symText, Addend: 2}, "42"},
	{"x86-64 psABI PC32", elf.EM_X86_64, elf.ELFCLASS64, false, true, "ffffffff", Reloc{Type: 2, Sym: symText}, "3e000000"},
	{"x86-64 psABI PC64, no symbol", elf.EM_X86_64, elf.ELFCLASS64, false, true, "ffffffffffffffff", Reloc{Type: 24, Addend: 1}, "ffffffffffffffff"},
	{"x86-64 psABI SIZE32", elf.EM_X86_64, elf.ELFCLASS64, false, true, "ffffffff", Reloc{Type: 32, Sym: symFunc, Addend: 1}, "21000000"},
	{"x86-64 psABI NONE", elf.EM_X86_64, elf.ELFCLASS64, false, true, "ffffffff", Reloc{Type: 0, Sym: symFunc}, "ffffffff"},
	{"x86-64 DTPOFF64", elf.EM_X86_64, elf.ELFCLASS64, false, true, "ffffffffffffffff", Reloc{Type: 17, Sym: symTLS, Addend: 1}, "0500000000000000"},
	{"x86-64 DTPOFF64, section symbol", elf.EM_X86_64, elf.ELFCLASS64, false, true, "ffffffffffffffff", Reloc{Type: 17, Sym: symTdata, Addend: 4}, "0400000000000000"},
	{"undefined symbol", elf.EM_X86_64, elf.ELFCLASS64, false, true, "ffffffff", Reloc{Type: 10, Sym: symUndef, Addend: 5}, "05000000"},
	{"common symbol", elf.EM_X86_64, elf.ELFCLASS64, false, true, "ffffffff", Reloc{Type: 10, Sym: symCommon, Addend: 5}, "05000000"},
	{"absolute symbol", elf.EM_X86_64, elf.ELFCLASS64, false, true, "ffffffff", Reloc{Type: 10, Sym: symAbs, Addend: 1}, "35120000"},
	{"i386 psABI 32", elf.EM_386, elf.ELFCLASS32, false, false, "03000000", Reloc{Type: 1, Sym: symFunc}, "53000000"},
	{"i386 psABI PC32", elf.EM_386, elf.ELFCLASS32, false, false, "01000000", Reloc{Type: 2, Sym: symText}, "3f000000"},
	{"AAELF64 ABS64", elf.EM_AARCH64, elf.ELFCLASS64, true, true, "ffffffffffffffff", Reloc{Type: 257, Sym: symFunc, Addend: 3}, "0000000000000053"},
	{"AAELF64 PREL32", elf.EM_AARCH64, elf.ELFCLASS64, false, true, "ffffffff", Reloc{Type: 261, Sym: symText}, "3e000000"},
	{"AAELF32 ABS32", elf.EM_ARM, elf.ELFCLASS32, false, false, "01000000", Reloc{Type: 2, Sym: symFunc}, "51000000"},
	{"AAELF32 PREL31 keeps bit 31", elf.EM_ARM, elf.ELFCLASS32, false, false, "fcffff7f", Reloc{Type: 42, Sym: symText}, "3a000000"},
	{"AAELF32 PREL31 backwards", elf.EM_ARM, elf.ELFCLASS32, true, false, "ffffffc0", Reloc{Type: 42, Sym: symAbs}, "800011f2"},
	{"68K_PC32", elf.EM_68K, elf.ELFCLASS32, true, true, "ffffffff", Reloc{Type: 4, Sym: symText}, "0000003e"},
	{"ALPHA_REFQUAD", elf.EM_ALPHA, elf.ELFCLASS64, false, true, "ffffffffffffffff", Reloc{Type: 2, Sym: symFunc, Addend: 3}, "5300000000000000"},
	{"AMDGPU_ABS64", elf.EM_AMDGPU, elf.ELFCLASS64, false, true, "ffffffffffffffff", Reloc{Type: 3, Sym: symFunc}, "5000000000000000"},
	{"AVR_32", elf.EM_AVR, elf.ELFCLASS32, false, true, "ffffffff", Reloc{Type: 1, Sym: symFunc}, "50000000"},
	{"BPF_64_ABS32", elf.EM_BPF, elf.ELFCLASS64, false, false, "03000000", Reloc{Type: 3, Sym: symFunc}, "53000000"},
	{"HEX_32", elf.EM_QDSP6, elf.ELFCLASS32, false, true, "ffffffff", Reloc{Type: 6, Sym: symFunc}, "50000000"},
	{"MSP430_16_BYTE", elf.EM_MSP430, elf.ELFCLASS32, false, true, "ffff", Reloc{Type: 5, Sym: symFunc}, "5000"},
	{"PARISC_DIR32", elf.EM_PARISC, elf.ELFCLASS32, true, true, "ffffffff", Reloc{Type: 1, Sym: symFunc}, "00000050"},
	{"SH_REL32", elf.EM_SH, elf.ELFCLASS32, false, true, "ffffffff", Reloc{Type: 2, Sym: symText}, "3e000000"},
	{"XTENSA_32", elf.EM_XTENSA, elf.ELFCLASS32, false, true, "ffffffff", Reloc{Type: 1, Sym: symFunc}, "50000000"},
	{"RISC-V ADD8", elf.EM_RISCV, elf.ELFCLASS64, false, true, "f8", Reloc{Type: 33, Sym: symFunc, Addend: 1}, "49"},
	{"RISC-V ADD16", elf.EM_RISCV, elf.ELFCLASS64, false, true, "0001", Reloc{Type: 34, Sym: symFunc, Addend: 1}, "5101"},
	{"RISC-V SUB32", elf.EM_RISCV, elf.ELFCLASS64, false, true, "60000000", Reloc{Type: 39, Sym: symFunc}, "10000000"},
	{"RISC-V SUB64", elf.EM_RISCV, elf.ELFCLASS64, false, true, "0000000000000000", Reloc{Type: 40, Sym: symText}, "c0ffffffffffffff"},
	{"RISC-V SET6 keeps the opcode", elf.EM_RISCV, elf.ELFCLASS64, false, true, "40", Reloc{Type: 53, Sym: symFunc}, "50"},
	{"RISC-V SUB6 keeps the opcode", elf.EM_RISCV, elf.ELFCLASS64, false, true, "54", Reloc{Type: 52, Sym: symFunc, Addend: -0x4e}, "52"},
	{"RISC-V SET8", elf.EM_RISCV, elf.ELFCLASS64, false, true, "ff", Reloc{Type: 54, Sym: symFunc}, "50"},
	{"RISC-V SET16", elf.EM_RISCV, elf.ELFCLASS64, false, true, "ffff", Reloc{Type: 55, Sym: symFunc}, "5000"},
	{"RISC-V SET32", elf.EM_RISCV, elf.ELFCLASS64, false, true, "ffffffff", Reloc{Type: 56, Sym: symFunc}, "50000000"},
	{"RISC-V 32_PCREL", elf.EM_RISCV, elf.ELFCLASS64, false, true, "ffffffff", Reloc{Type: 57, Sym: symText}, "3e000000"},
	{"RISC-V SET_ULEB128 keeps its length", elf.EM_RISCV, elf.ELFCLASS64, false, true, "808000", Reloc{Type: 60, Sym: symFunc, Addend: 0x100}, "d08200"},
	{"RISC-V SUB_ULEB128", elf.EM_RISCV, elf.ELFCLASS64, false, true, "d08200", Reloc{Type: 61, Sym: symFunc}, "808200"},
	{"RISC-V TLS_DTPREL64", elf.EM_RISCV, elf.ELFCLASS64, false, true, "ffffffffffffffff", Reloc{Type: 9, Sym: symTLS, Addend: 0x800}, "0400000000000000"},
	{"RISC-V RELAX", elf.EM_RISCV, elf.ELFCLASS64, false, true, "ff", Reloc{Type: 51}, "ff"},
	{"LoongArch ADD24", elf.EM_LOONGARCH, elf.ELFCLASS64, false, true, "010000", Reloc{Type: 49, Sym: symFunc}, "510000"},
	{"LoongArch ADD6", elf.EM_LOONGARCH, elf.ELFCLASS64, false, true, "41", Reloc{Type: 105, Sym: symFunc}, "51"},
	{"LoongArch SUB_ULEB128", elf.EM_LOONGARCH, elf.ELFCLASS64, false, true, "d100", Reloc{Type: 108, Sym: symFunc}, "8100"},
	{"s390x 64", elf.EM_S390, elf.ELFCLASS64, true, true, "ffffffffffffffff", Reloc{Type: 22, Sym: symFunc}, "0000000000000050"},
	{"s390x PC32", elf.EM_S390, elf.ELFCLASS64, true, true, "ffffffff", Reloc{Type: 5, Sym: symText}, "0000003e"},
	{"ppc64 ADDR64", elf.EM_PPC64, elf.ELFCLASS64, false, true, "ffffffffffffffff", Reloc{Type: 38, Sym: symFunc}, "5000000000000000"},
	{"ppc64 REL64", elf.EM_PPC64, elf.ELFCLASS64, true, true, "ffffffffffffffff", Reloc{Type: 44, Sym: symText}, "000000000000003e"},
	{"ppc64 DTPREL64", elf.EM_PPC64, elf.ELFCLASS64, false, true, "ffffffffffffffff", Reloc{Type: 78, Sym: symTLS, Addend: 0x8000}, "0400000000000000"},
	{"ppc ADDR32", elf.EM_PPC, elf.ELFCLASS32, true, true, "ffffffff", Reloc{Type: 1, Sym: symFunc}, "00000050"},
	{"o32 MIPS_32", elf.EM_MIPS, elf.ELFCLASS32, true, false, "00000001", Reloc{Type: 2, Sym: symFunc}, "00000051"},
	{"o32 PC32", elf.EM_MIPS, elf.ELFCLASS32, false, false, "00000000", Reloc{Type: 248, Sym: symText}, "3e000000"},
	{"n64 MIPS_64", elf.EM_MIPS, elf.ELFCLASS64, true, true, "ffffffffffffffff", Reloc{Type: 18, Sym: symFunc, Addend: 1}, "0000000000000051"},
	{"n64 PC32, then 64", elf.EM_MIPS, elf.ELFCLASS64, false, true, "ffffffffffffffff", Reloc{Type: 248 | 18<<8, Sym: symText}, "3e00000000000000"},
	{"n64 triple of nothing", elf.EM_MIPS, elf.ELFCLASS64, false, true, "ff", Reloc{Type: 0}, "ff"},
	{"SPARC UA64", elf.EM_SPARCV9, elf.ELFCLASS64, true, true, "ffffffffffffffff", Reloc{Type: 54, Sym: symFunc}, "0000000000000050"},
}

func TestApply(t *testing.T) {
	for _, test := range applied {
		var field, want []byte
		fmt.Sscanf(test.field, "%x", &field)
		fmt.Sscanf(test.want, "%x", &want)
		data := append(append([]byte{0x0a, 0x0a}, field...), 0x0a)
		test.r.Offset = 2
		got, f := relocated(t, objectSpec(test.machine, test.class, test.big, test.rela, data, test.r))
		want = append(append([]byte{0x0a, 0x0a}, want...), 0x0a)
		if !bytes.Equal(got, want) {
			t.Errorf("%s: %x, want %x", test.name, got, want)
		}
		for _, err := range append(f.Losses(), f.RelocLosses()...) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// A field that cannot be relocated stays, and is counted at its place.
func TestRelocLosses(t *testing.T) {
	ones := bytes.Repeat([]byte{0xff}, 16)
	for _, test := range []struct {
		name    string
		machine elf.Machine
		relocs  []Reloc
		err     error
		at      int
		text    string
	}{
		{"unknown type", elf.EM_X86_64, []Reloc{{Type: 99, Offset: 3, Sym: symFunc}, {Type: 99, Offset: 7}}, errRelocType, 3, "EM_X86_64 type 0x63 (fields left as they are: 2)"},
		{"a type of code", elf.EM_X86_64, []Reloc{{Type: 9, Offset: 3, Sym: symFunc}}, errRelocType, 3, "R_X86_64_GOTPCREL (fields left as they are: 1)"},
		{"unknown machine", elf.EM_LANAI, []Reloc{{Type: 1, Offset: 4}}, errRelocType, 4, "EM_LANAI type 0x1 ("},
		{"field at the end", elf.EM_X86_64, []Reloc{{Type: 1, Offset: 9}}, errRelocPlace, 9, "R_X86_64_64"},
		{"offset 2^64-1", elf.EM_X86_64, []Reloc{{Type: 1, Offset: 1<<64 - 1}}, errRelocPlace, 16, "R_X86_64_64"},
		{"LEB without an end", elf.EM_RISCV, []Reloc{{Type: 60, Offset: 9}}, errRelocPlace, 9, "EM_RISCV type 0x3c"},
		{"no such symbol", elf.EM_X86_64, []Reloc{{Type: 1, Offset: 1, Sym: symCount}}, errRelocSymbol, 1, "R_X86_64_64"},
		{"symbol in no section", elf.EM_X86_64, []Reloc{{Type: 1, Offset: 1, Sym: symLost}}, errRelocSymbol, 1, "R_X86_64_64"},
		{"special symbol in a MIPS triple", elf.EM_MIPS, []Reloc{{Type: 18 | 18<<8 | 1<<24, Offset: 1}}, errRelocType, 1, "type 0x1001212"},
		{"unknown type in a MIPS triple", elf.EM_MIPS, []Reloc{{Type: 18 | 99<<8, Offset: 1}}, errRelocType, 1, "type 0x6312"},
		{"no symbol in a MIPS triple", elf.EM_MIPS, []Reloc{{Type: 18 | 18<<8, Offset: 1, Sym: symLost}}, errRelocSymbol, 1, "type 0x1212"},
	} {
		got, f := relocated(t, objectSpec(test.machine, elf.ELFCLASS64, false, true, ones, test.relocs...))
		if !bytes.Equal(got, ones) {
			t.Errorf("%s: changed to %x", test.name, got)
		}
		losses := f.RelocLosses()
		if len(losses) != 1 || !strings.Contains(losses[0].Error(), test.text) || !strings.HasPrefix(losses[0].Error(), "test.elf: .debug_info+") {
			t.Errorf("%s: %v", test.name, losses)
			continue
		}
		elftest.WantError(t, losses[0], test.err, ".debug_info", test.at)
	}
}

// A section that was released is relocated again, but its bytes and its losses count once.
func TestRelocatedAgain(t *testing.T) {
	want, f := relocated(t, objectSpec(elf.EM_X86_64, elf.ELFCLASS64, false, true, bytes.Repeat([]byte{0xff}, 64), Reloc{Type: 1, Offset: 8, Sym: symFunc}, Reloc{Type: 99, Offset: 3}))
	want = bytes.Clone(want)
	for range 100 {
		f.Section(".debug_info").Release()
		got, err := f.SectionData(".debug_info")
		if err != nil || !bytes.Equal(got, want) || len(f.RelocLosses()) != 1 {
			t.Fatalf("%x, want %x, %v, %v", got, want, err, f.RelocLosses())
		}
	}
}

// The number of kinds of loss that are distinguished is bounded.
func TestManyRelocLosses(t *testing.T) {
	var relocs []Reloc
	for i := range 100 {
		relocs = append(relocs, Reloc{Type: 1000 + uint32(i), Offset: 1})
	}
	_, f := relocated(t, objectSpec(elf.EM_X86_64, elf.ELFCLASS64, false, true, make([]byte, 8), relocs...))
	losses := f.RelocLosses()
	if len(losses) != maxRelocLosses+1 || !strings.HasSuffix(losses[maxRelocLosses].Error(), "EM_X86_64 type 0x3f8 and others (fields left as they are: 84)") {
		t.Errorf("%d losses, the last %v", len(losses), losses[len(losses)-1])
	}
}

// Data fails where a table of relocations cannot be read: what it is about
// would otherwise pass for relocated.
func TestRelocTables(t *testing.T) {
	for _, test := range []struct {
		name    string
		change  func(*elftest.Spec)
		err     error
		section string
		at      int
	}{
		{"entry size", func(s *elftest.Spec) { s.Sections[4].Entsize = 16 }, errEntrySize, ".rel.debug_info", 0},
		{"half an entry", func(s *elftest.Spec) { s.Sections[4].Data = make([]byte, 36) }, located.ErrTruncated, ".rel.debug_info", 24},
		{"no symbol table", func(s *elftest.Spec) { s.Sections[6].Kind = elf.SHT_PROGBITS }, errRelocTable, ".symtab", 0},
		{"another symbol table", func(s *elftest.Spec) { s.Sections[4].Link = ".strtab" }, errRelocTable, ".rel.debug_info", 0},
		{"damaged symbol table", func(s *elftest.Spec) { s.Sections[6].Data = make([]byte, 25) }, located.ErrTruncated, ".symtab", 24},
		{"damaged compression", func(s *elftest.Spec) { s.Sections[3].Flags = elf.SHF_COMPRESSED }, located.ErrTruncated, ".debug_info", 8},
	} {
		s := objectSpec(elf.EM_X86_64, elf.ELFCLASS64, false, true, make([]byte, 8), Reloc{Type: 1})
		test.change(s)
		_, err := mustFile(t, s.Build()).SectionData(".debug_info")
		t.Log(test.name)
		elftest.WantError(t, err, test.err, test.section, test.at)
	}
}

// Sections that share bytes cannot be copied any number of times.
func TestRelocOverlap(t *testing.T) {
	s := objectSpec(elf.EM_X86_64, elf.ELFCLASS64, false, true, make([]byte, 4000), Reloc{Type: 1})
	s.Sections = append(s.Sections, elftest.Sec{Name: ".debug_line", Kind: elf.SHT_PROGBITS, Data: []byte{1}}, elftest.Sec{Name: ".rel.debug_line", Kind: elf.SHT_RELA,
		Info: 8, Link: ".symtab", Entsize: 24, Data: make([]byte, 24)})
	l := s.Layout()
	header := l.Shoff + l.Index[".debug_line"]*l.Shentsize
	binary.LittleEndian.PutUint64(l.Data[header+24:], l.Offset[".debug_info"])
	binary.LittleEndian.PutUint64(l.Data[header+32:], 4000)
	f := mustFile(t, l.Data)
	if _, err := f.SectionData(".debug_info"); err != nil {
		t.Fatal(err)
	}
	_, err := f.SectionData(".debug_line")
	elftest.WantError(t, err, errOverlap, ".debug_line", 0)
}

// Relocations in code and in a linked file (ld --emit-relocs) are left alone.
func TestNotRelocated(t *testing.T) {
	s := objectSpec(elf.EM_X86_64, elf.ELFCLASS64, false, true, make([]byte, 8), Reloc{Type: 1, Sym: symFunc})
	s.Kind = elf.ET_EXEC
	got, f := relocated(t, s)
	if !bytes.Equal(got, make([]byte, 8)) || f.Section(".debug_info").applied() != 0 {
		t.Errorf("linked file: %x", got)
	}
	s.Kind, s.Sections[4].Info = elf.ET_REL, 2 // .text
	f = mustFile(t, s.Build())
	if data, err := f.SectionData(".text"); !bytes.Equal(data, make([]byte, 0x30)) || err != nil {
		t.Errorf(".text: %x, %v", data, err)
	}
	raw, err := f.Section(".debug_info").Raw()
	if !bytes.Equal(raw, make([]byte, 8)) || err != nil {
		t.Errorf("raw: %x, %v", raw, err)
	}
}

// The names of symbols are not relocated, whatever relocations say: relocation reads them.
func TestRelocatedNames(t *testing.T) {
	s := objectSpec(elf.EM_X86_64, elf.ELFCLASS64, false, true, make([]byte, 16))
	names := &s.Sections[5]
	names.Name, names.Data = ".debug_str", make([]byte, 16)
	s.Sections[6].Link = names.Name
	s.Sections = append(s.Sections, elftest.Sec{Name: ".rela.debug_str", Kind: elf.SHT_RELA, Info: 6, Link: ".symtab", Entsize: 24,
		Data: relocBytes(s, true, []Reloc{{Sym: symAbs, Type: uint32(elf.R_X86_64_64)}})})
	f := mustFile(t, s.Build())
	data, err := f.SectionData(names.Name)
	if err != nil || !bytes.Equal(data, names.Data) {
		t.Errorf("%x, %v", data, err)
	}
}
