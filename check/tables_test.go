package check

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"symkit/check/internal/checks"
	"symkit/check/report"
	"symkit/elfx"
	"symkit/test/mutant"
)

// testSymbol is a function of 8 bytes, at an address from mutant.TextAddr on.
type testSymbol struct {
	name string
	addr uint64
}

// functionTable returns a symbol table of functions and its strings, whose section is number strtab.
func functionTable(name string, kind elf.SectionType, strtab uint32, list ...testSymbol) []mutant.Section {
	le := binary.LittleEndian
	data, names := make([]byte, 24), []byte{0}
	for _, s := range list {
		data = append(le.AppendUint32(data, uint32(len(names))), byte(elf.STB_GLOBAL)<<4|byte(elf.STT_FUNC), 0, 2, 0)
		data = le.AppendUint64(le.AppendUint64(data, mutant.TextAddr+s.addr), 8)
		names = append(append(names, s.name...), 0)
	}
	return []mutant.Section{
		{Name: name, Kind: kind, Data: data, Link: strtab, Entry: 24},
		{Name: name + ".str", Kind: elf.SHT_STRTAB, Data: names},
	}
}

// neededVersion is a .gnu.version_r with one version of one file; its name is at an offset of
// section strtab.
func neededVersion(strtab, name uint32) mutant.Section {
	le := binary.LittleEndian
	data := le.AppendUint16(le.AppendUint16(nil, 1), 1)
	data = le.AppendUint32(le.AppendUint32(le.AppendUint32(data, 1), 16), 0) // vn_file, vn_aux, vn_next
	data = le.AppendUint16(le.AppendUint16(le.AppendUint32(data, 0), 0), 2)
	data = le.AppendUint32(le.AppendUint32(data, name), 0)
	return mutant.Section{Name: ".gnu.version_r", Kind: elf.SHT_GNU_VERNEED, Data: data, Link: strtab}
}

// TestAllSymbolTables: a .symtab does not excuse missing symbols of .dynsym (strip -K leaves such
// files), a name is cut only at a version that the file has, and m needs a second symbol, not a
// second table.
func TestAllSymbolTables(t *testing.T) {
	data := mutant.Program(0x100, slices.Concat(
		functionTable(".symtab", elf.SHT_SYMTAB, 4, testSymbol{"kept", 0x10}, testSymbol{"both@V1", 0x20}, testSymbol{"?get@Box@ns@@QEAAHXZ", 0x30}),
		functionTable(".dynsym", elf.SHT_DYNSYM, 6, testSymbol{"both", 0x20}, testSymbol{"exported", 0x40}, testSymbol{"V1", 0x200}),
		[]mutant.Section{neededVersion(6, 1+5+9)})...)
	f, err := elfx.NewFile("prog", data)
	if err != nil {
		t.Fatal(err)
	}

	for _, test := range []struct {
		publics string
		wants   []string
	}{
		{"kept\nboth\n?get@Box@ns@@QEAAHXZ\nexported", nil},
		{"kept\nboth@V1\n?get@Box@ns@@QEAAHXZ", []string{"no PUBLIC at 0x1040: exported"}},
		{"kept\nboth\n?get\nexported", []string{"the symbol is ?get@Box@ns@@QEAAHXZ"}},
		{"kept\nm both\n?get@Box@ns@@QEAAHXZ\nexported", []string{"marked m, but no other symbol shares its address"}},
	} {
		var sym strings.Builder
		sym.WriteString("MODULE Linux x86_64 0 prog\n")
		for i, name := range strings.Split(test.publics, "\n") {
			mark, name := "", name
			if rest, ok := strings.CutPrefix(name, "m "); ok {
				mark, name = "m ", rest
			}
			sym.WriteString(fmt.Sprintf("PUBLIC %s%x 0 %s\n", mark, 0x1010+16*i, name))
		}
		rep := mustCheck(t, &elfx.Image{Main: f}, []byte(sym.String()), Options{Options: report.Options{Only: []string{checks.Publics}, Limit: 100}})
		var got []string
		for _, f := range rep.Findings {
			got = append(got, f.What)
		}
		if !slices.Equal(got, test.wants) {
			t.Errorf("%q: got %q, want %q", test.publics, got, test.wants)
		}
	}
}
