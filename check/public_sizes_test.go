package check

import (
	"bytes"
	"debug/elf"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"symkit/check/internal/checks"
	"symkit/check/report"
	"symkit/elfx"
	"symkit/test/elftest"
)

// TestPublicSizes checks that INFO PUBLIC_SIZES is compared with the symbols, and with the stubs of
// linkage tables.
func TestPublicSizes(t *testing.T) {
	const name = "lang-x86_64-gcc12-O2-dw4.elf"
	const line = "INFO PUBLIC_SIZES 1000 1650 8 2 2 2 10 15 1 4 1 1 1 1 1 1 1 1 1 1 1 20 28\n"
	f, err := elfx.NewFile(name, readTest(t, filepath.Join("..", "testdata", "elf", name)))
	if err != nil {
		t.Fatal(err)
	}
	golden := readTest(t, filepath.Join("..", "dump", "testdata", name+".golden"))
	golden = bytes.Replace(golden, []byte("GENERATOR test"), []byte("GENERATOR symkit dump_syms 1"), 1)
	if !bytes.Contains(golden, []byte(line)) {
		t.Fatal("the golden file has other sizes")
	}
	for _, test := range []struct{ old, with, want string }{
		{line, line, ""},
		{" 20 28\n", " 20 27\n", "0x27 bytes in INFO PUBLIC_SIZES; the symbol has 0x28"},
		{" 20 28\n", " 20 0\n", "no size in INFO PUBLIC_SIZES; the symbol has 0x28 bytes"},
		{"1650 8 2", "1650 9 2", "0x9 bytes in INFO PUBLIC_SIZES, but no symbol has a size, and no stub ends there"},
		{" 20 28\n", " 28\n", "20 sizes for 21 PUBLIC records from 0x1000 to 0x1650"},
		{"1000 1650 8", "1000 1649 8", "21 sizes for 20 PUBLIC records from 0x1000 to 0x1649"},
		{"1000 1650 8", "1000 1658 8", "no PUBLIC is at the last address, 0x1658"},
		{"1000 1650 8", "ff8 1650 8", "no PUBLIC is at the first address, 0xff8"},
		{line, "", ""},
	} {
		sym := bytes.Replace(golden, []byte(test.old), []byte(test.with), 1)
		got := text(t, mustCheck(t, &elfx.Image{Main: f}, sym, Options{Options: report.Options{Only: []string{checks.Publics}, Limit: 100}}))
		if found := strings.Contains(got, "PUBLIC_SIZES") || strings.Contains(got, " sizes for ") || strings.Contains(got, "no PUBLIC is at"); found != (test.want != "") || !strings.Contains(got, test.want) {
			t.Errorf("%q: want %q, got:\n%s", test.with, test.want, got)
		}
	}
}

// TestPublicSizesOfLabels: the size of a function counts before that of a label at its address, which may be that of a
// table of functions (mono --aot), and that of a label if the function has none.
func TestPublicSizesOfLabels(t *testing.T) {
	for _, test := range []struct{ function, label, want uint64 }{{10, 190, 10}, {0, 190, 190}, {10, 0, 10}, {10, 5, 10}} {
		s := elftest.Plain(elf.ELFCLASS64, false)
		at := s.Layout().Addr[".text"]
		const local, function = 0x00, 0x02 // labels have no type
		s.Sections = append(s.Sections,
			elftest.Sec{Name: ".symtab", Kind: elf.SHT_SYMTAB, Link: ".strtab", Info: 3, Entsize: 24, Data: s.Enc().Sym(0, 0, 0, 0, 0, 0).
				Sym(1, at, test.label, local, 0, 1).
				Sym(7, at, test.function, function, 0, 1).B},
			elftest.Sec{Name: ".strtab", Kind: elf.SHT_STRTAB, Data: []byte("\x00table\x00slot\x00")})
		img := openData(t, s.Build(), "sizes")
		for _, size := range []uint64{test.want, test.want + 1} {
			sym := fmt.Appendf(nil, "MODULE Linux x86_64 0 sizes\nINFO PUBLIC_SIZES %x %[1]x %[2]x\nPUBLIC %[1]x 0 slot\n", at-img.Main.LoadAddress(), size)
			rep := mustCheck(t, img, sym, Options{Options: report.Options{Only: []string{checks.Publics}, Limit: 100}})
			if wrong := strings.Contains(text(t, rep), "PUBLIC_SIZES"); wrong != (size != test.want) {
				t.Errorf("%+v: size %d is wrong: %v", test, size, wrong)
			}
		}
	}
}
