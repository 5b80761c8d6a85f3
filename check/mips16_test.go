package check

import (
	"bytes"
	"testing"

	"symkit/check/internal/checks"
	"symkit/check/report"
)

// TestMIPS16: addresses of MIPS16 and microMIPS have no bit for the instruction set. A line or
// an inlined call that begins one byte later is a finding.
func TestMIPS16(t *testing.T) {
	for _, name := range []string{"mips16.elf", "micromips.so", "clang23.elf"} {
		const dir = "../testdata/mips16/"
		img, sym := openTest(t, dir+name+".xz", name), readTest(t, dir+name+".sym")
		rep := mustCheck(t, img, sym, Options{})
		for _, check := range []string{checks.Funcs, checks.Names, checks.Lines, checks.Inlines, checks.CFI} {
			k := rep.Check(check)
			if k.State != report.Checked || k.Compared == 0 || k.Unverified > 0 || k.Findings > 0 {
				t.Errorf("%s: %s: %+v", name, check, k)
			}
		}
	}

	img := openTest(t, "../testdata/mips16/stripped.so.xz", "stripped.so")
	rep := mustCheck(t, img, readTest(t, "../testdata/mips16/stripped.so.sym"), Options{})
	if k := rep.Check(checks.Publics); k.Compared == 0 || k.Findings > 0 {
		t.Errorf("stripped.so: %+v", k)
	}

	img = openTest(t, "../testdata/mips16/mips16.elf.xz", "mips16.elf")
	sym := readTest(t, "../testdata/mips16/mips16.elf.sym")
	odd := bytes.Replace(sym, []byte("\n130 2 5 0\n132 2 3 0\n"), []byte("\n131 2 5 0\n133 1 3 0\n"), 1)
	if rep := mustCheck(t, img, odd, Options{}); bytes.Equal(odd, sym) || rep.Check(checks.Lines).Findings == 0 {
		t.Errorf("odd lines: %+v", rep.Check(checks.Lines))
	}
}
