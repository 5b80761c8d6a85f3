package check

import (
	"bytes"
	"testing"

	"symkit/check/internal/checks"
	"symkit/check/report"
)

// TestDWARF6 replays the records of a DWARF 5 object on the same object in DWARF 6, which
// debug/dwarf does not read.
func TestDWARF6(t *testing.T) {
	img := openTest(t, "../testdata/dwarf6/prog.o", "prog.o")
	sym := readTest(t, "../testdata/dwarf6/prog.sym")
	for _, wrong := range []bool{false, true} {
		if wrong {
			sym = bytes.Replace(sym, []byte(" 0 n::A::out(int)"), []byte(" 0 n::A::out(long)"), 1)
		}
		rep := mustCheck(t, img, sym, Options{})
		for _, name := range []string{checks.Funcs, checks.Names, checks.Lines, checks.Inlines, checks.CFI} {
			k := rep.Check(name)
			if k.State != report.Checked || k.Compared == 0 || k.Unverified > 0 || (k.Findings > 0) != (wrong && name == checks.Names) {
				t.Errorf("%v: %s: %+v", wrong, name, k)
			}
		}
	}
}
