package check

import (
	"path/filepath"
	"strings"
	"testing"

	"symkit/check/internal/checks"
	"symkit/check/report"
	"symkit/internal/limitof"
	"symkit/limits"
)

// TestOverLimit: above a limit of the debug information functions are not verified, and unwind rules are,
// with any number of goroutines.
func TestOverLimit(t *testing.T) {
	const name = "lines-clang23.o"
	path := filepath.Join("testdata", "sound", name)
	img, sym := openTest(t, path, name), readTest(t, path+".sym")
	for limit, word := range map[string]string{limitof.Names: "names above", limitof.Files: "files above", limitof.CheckStrings: "symcheck-strings above"} {
		for _, jobs := range []int{1, 8} {
			rep, err := File(t.Context(), img, sym, Options{Options: report.Options{Limits: limits.Limits{}.With(limit, 10)}, Jobs: jobs})
			if err != nil {
				t.Fatal(err)
			}
			functions, rules := rep.Check(checks.Funcs), rep.Check(checks.CFI)
			if limit == limitof.Files {
				functions = rep.Check(checks.Lines)
			}
			if functions.Unverified == 0 || !strings.Contains(strings.Join(functions.Notes, " "), word) {
				t.Errorf("%s: %+v", word, functions)
			}
			if rep.Total() > 0 || rules.Compared == 0 || rules.Unverified > 0 {
				t.Errorf("%s: %d findings, %+v", word, rep.Total(), rules)
			}
		}
	}
}
