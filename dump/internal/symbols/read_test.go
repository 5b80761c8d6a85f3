package symbols

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"symkit/elfx"
	"symkit/internal/dwarfx"
	"symkit/test/mutant"
)

// sym is a symbol of a test.
type sym struct {
	name string
	addr uint64 // from mutant.TextAddr on
	size uint64
	kind elf.SymType
	bind elf.SymBind
}

// tables returns the sections of a symbol table and its strings, whose number is strtab.
func tables(name string, kind elf.SectionType, strtab uint32, list ...sym) []mutant.Section {
	le := binary.LittleEndian
	data, strings := make([]byte, 24), []byte{0}
	for _, s := range list {
		data = le.AppendUint32(data, uint32(len(strings)))
		data = append(data, byte(s.bind)<<4|byte(s.kind), 0, 2, 0) // section 2 is .text
		data = le.AppendUint64(le.AppendUint64(data, mutant.TextAddr+s.addr), s.size)
		strings = append(append(strings, s.name...), 0)
	}
	return []mutant.Section{
		{Name: name, Kind: kind, Data: data, Link: strtab, Entry: 24},
		{Name: name + ".str", Kind: elf.SHT_STRTAB, Data: strings},
	}
}

// versionD is a .gnu.version_d that defines one version, V1, whose strings are section strtab.
func versionD(strtab, name uint32) mutant.Section {
	le := binary.LittleEndian
	data := le.AppendUint16(le.AppendUint16(le.AppendUint16(le.AppendUint16(nil, 1), 0), 1), 1)
	data = le.AppendUint32(le.AppendUint32(le.AppendUint32(data, 0), 20), 0)
	data = le.AppendUint32(le.AppendUint32(data, name), 0)
	return mutant.Section{Name: ".gnu.version_d", Kind: elf.SHT_GNU_VERDEF, Data: data, Link: strtab}
}

// list reads the symbols of a program with sections.
func list(t *testing.T, kind elf.Type, sections []mutant.Section) (got []string) {
	t.Helper()
	data := mutant.Program(0x100, sections...)
	binary.LittleEndian.PutUint16(data[16:], uint16(kind))
	f, err := elfx.NewFile("prog", data)
	if err != nil {
		t.Fatal(err)
	}
	text := f.Section(".text").Addr
	table, _, lost := Read(&elfx.Image{Main: f}, dwarfx.NewCodeMap([]dwarfx.Range{{Lo: text, Hi: text + 0x2000}}))
	if len(lost.Errs) > 0 {
		t.Error(lost.Errs)
	}
	for _, s := range table {
		got = append(got, fmt.Sprintf("%x+%x %s", s.Addr&0xfff, s.End-s.Addr, s.Name))
	}
	return got
}

// TestAllTables: strip -K leaves a .symtab that lacks the symbols of .dynsym. A symbol that is in
// both tables is one symbol; two of one table stay two.
func TestAllTables(t *testing.T) {
	fn, global, local := elf.STT_FUNC, elf.STB_GLOBAL, elf.STB_LOCAL
	got := list(t, elf.ET_DYN, slices.Concat(
		tables(".symtab", elf.SHT_SYMTAB, 4, sym{"kept", 0x10, 8, fn, local}, sym{"both", 0x20, 0, fn, global}, sym{"both@@V1", 0x28, 8, fn, global},
			sym{"twice", 0x30, 4, fn, local}, sym{"twice", 0x30, 4, fn, local}),
		tables(".dynsym", elf.SHT_DYNSYM, 6, sym{"exported", 0x10, 8, fn, global}, sym{"both", 0x20, 8, fn, global}, sym{"both", 0x28, 8, fn, global},
			sym{"other", 0x40, 8, fn, elf.STB_WEAK}, sym{"V1", 0x200, 0, elf.STT_OBJECT, global}),
		[]mutant.Section{versionD(6, 1+9+5+5+6)}))
	want := []string{"10+8 exported", "10+8 kept", "20+8 both", "28+8 both", "30+4 twice", "30+4 twice", "40+8 other"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestObjectNames: a relocatable object has no versions, whatever its names look like.
func TestObjectNames(t *testing.T) {
	fn, global := elf.STT_FUNC, elf.STB_GLOBAL
	names := []string{"?get@Box@ns@@QEAAHXZ", "?get@Bag@ns@@QEAAHXZ", "bar@8", "f@@V1"}
	var symbols []sym
	for i, name := range names {
		symbols = append(symbols, sym{name, uint64(16 * i), 16, fn, global})
	}
	sections := append(tables(".symtab", elf.SHT_SYMTAB, 4, symbols...), versionD(4, uint32(1+21+21+6+3)))
	for kind, last := range map[elf.Type]string{elf.ET_REL: "f@@V1", elf.ET_DYN: "f"} {
		got := list(t, kind, sections)
		want := []string{"0+10 " + names[0], "10+10 " + names[1], "20+10 bar@8", "30+10 " + last}
		if !slices.Equal(got, want) {
			t.Errorf("%v: got %q, want %q", kind, got, want)
		}
	}
}

// TestInnerNames: a function named as compilers name their own labels comes after all other names
// of its address, and is still a function.
func TestInnerNames(t *testing.T) {
	fn, label := elf.STT_FUNC, elf.STT_NOTYPE
	got := list(t, elf.ET_DYN, tables(".symtab", elf.SHT_SYMTAB, 4,
		sym{".LTHUNK0", 0x10, 8, fn, elf.STB_LOCAL}, sym{"_ZThn8_N1B1fEv", 0x10, 8, fn, elf.STB_LOCAL},
		sym{".main", 0x20, 8, fn, elf.STB_GLOBAL}, sym{"start", 0x20, 0, label, elf.STB_LOCAL},
		sym{".Lonly", 0x30, 8, fn, elf.STB_LOCAL}, sym{"inner", 0x34, 0, label, elf.STB_LOCAL}))
	want := []string{"10+8 _ZThn8_N1B1fEv", "10+8 .LTHUNK0", "20+0 start", "20+8 .main", "30+8 .Lonly"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
