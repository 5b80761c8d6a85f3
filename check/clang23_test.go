package check

import (
	"bytes"
	"testing"

	"symkit/check/internal/checks"
	"symkit/check/report"
)

// TestClang23 replays records on objects of clang 23 with addresses as expressions and as
// indices with offsets, and with units for modules: all of them are verified.
func TestClang23(t *testing.T) {
	const dir = "../testdata/clang23/"
	for name, symName := range map[string]string{
		"plain.o": "plain.sym", "Expressions.o": "plain.sym", "Form.o": "plain.sym",
		"modules4.o": "modules4.sym", "modules5.o": "modules5.sym",
	} {
		img := openTest(t, dir+name, symName[:len(symName)-len("sym")]+"o")
		sym := readTest(t, dir+symName)
		for _, wrong := range []bool{false, true} {
			if wrong {
				sym = bytes.Replace(sym, []byte(" main\n"), []byte(" maim\n"), 1)
			}
			rep := mustCheck(t, img, sym, Options{})
			for _, check := range []string{checks.Funcs, checks.Names, checks.Lines, checks.Inlines, checks.CFI} {
				k := rep.Check(check)
				if check == checks.Inlines && symName != "plain.sym" {
					continue // m.c has no inlined call that clang describes
				}
				if k.State != report.Checked || k.Compared == 0 || k.Unverified > 0 || (k.Findings > 0) != (wrong && check == checks.Names) {
					t.Errorf("%s, %v: %s: %+v", name, wrong, check, k)
				}
			}
		}
	}
}
