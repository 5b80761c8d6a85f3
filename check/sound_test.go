package check

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"
)

// TestSound: files of producers that do what others do not, with symbol files that are
// right. Each of these once had findings.
func TestSound(t *testing.T) {
	for _, test := range []struct {
		name string
		// A symbol file in which the text old is replaced by new is wrong, and the
		// check says so: what lets the true one pass does not let anything pass.
		old, new string
		check    string
	}{
		// DWARF 5 with an absolute name beside a directory: debug/dwarf joins the two.
		{"abspath-clang14.o", "FILE 0 /s/x.c", "FILE 0 /b/s/x.c", CheckLines},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join("testdata", "sound", test.name)
			img, sym := openTest(t, path, test.name), readTest(t, path+".sym")
			if rep := mustReplay(t, img, sym, Options{}); rep.Total() > 0 {
				t.Errorf("%s", text(t, rep))
			}
			wrong := bytes.Replace(sym, []byte(test.old), []byte(test.new), 1)
			rep := mustReplay(t, img, wrong, Options{})
			if bytes.Equal(wrong, sym) || !slices.ContainsFunc(rep.Findings, func(f Finding) bool { return f.Check == test.check }) {
				t.Errorf("%q for %q was not found: %s", test.new, test.old, text(t, rep))
			}
		})
	}
}
