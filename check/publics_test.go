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

// TestInnerLabels checks that labels have PUBLIC records, except labels inside functions, whose
// code is the function's.
func TestInnerLabels(t *testing.T) {
	data := readTest(t, filepath.Join("..", "testdata", "elf", "asm-x86_64-gas-dw5.elf"))
	data = bytes.Replace(data, []byte("\x00.debug_info\x00"), []byte("\x00.xebug_info\x00"), 1)
	f, err := elfx.NewFile("asm", data)
	if err != nil {
		t.Fatal(err)
	}
	sym := "MODULE Linux x86_64 0 asm\nINFO GENERATOR symkit dump_syms 1\n"
	rep := mustCheck(t, &elfx.Image{Main: f}, []byte(sym), Options{Options: report.Options{Only: []string{checks.Publics}, Limit: 100}})
	got := text(t, rep)
	for label, want := range map[string]bool{"no_type": true, "framed": true, "framed_zero": false} {
		if has := strings.Contains(got, ": "+label+" ["); has != want {
			t.Errorf("%s missing: %v, want %v\n%s", label, has, want, got)
		}
	}
}
