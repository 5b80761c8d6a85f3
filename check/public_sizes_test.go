package check

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"symkit/check/internal/checks"
	"symkit/check/report"
	"symkit/elfx"
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
