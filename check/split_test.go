package check

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"symkit/check/internal/checks"
	"symkit/check/report"
	"symkit/elfx/companion"
)

// TestSplit checks that functions, names, lines and inlined calls of split DWARF are verified, with
// .dwo files and with a .dwp file, and that a wrong inlined call and a wrong name are found.
func TestSplit(t *testing.T) {
	for _, name := range []string{"cxx-x86_64-gcc12-O2-dw5-split", "cxx-x86_64-clang14-O2-dw4-split"} {
		for _, form := range [][]string{{"-cxx.dwo", "-other.dwo"}, {".dwp"}} {
			t.Run(name+form[0], func(t *testing.T) {
				img, sym := own(t, name+".elf")
				for _, suffix := range form {
					file, dir := name+suffix, filepath.Dir(img.Main.Path())
					if suffix == ".dwp" {
						file = name + ".elf.dwp"
					}
					data := readTest(t, filepath.Join("..", "testdata", "elf", name+suffix))
					err := os.WriteFile(filepath.Join(dir, file), data, 0o644)
					if err != nil {
						t.Fatal(err)
					}
				}
				others := companion.Find(t.Context(), img, companion.Search{})
				defer others.Close()

				rep := mustCheck(t, img, sym, Options{Companions: others})
				if rep.Total() > 0 || len(rep.Gaps) > 0 {
					t.Error(text(t, rep))
				}
				for _, check := range []string{checks.Funcs, checks.Names, checks.Lines, checks.Inlines} {
					if k := rep.Check(check); k.State != report.Checked || k.Compared < 20 || k.Unverified > 0 {
						t.Errorf("%+v", k)
					}
				}

				// The line of a call, the inlined function, and the name of a function change.
				for _, change := range []struct{ check, old, new string }{
					{checks.Inlines, `\nINLINE (\d+) \d+ `, "\nINLINE $1 999 "},
					{checks.Inlines, `\nINLINE_ORIGIN (\d+) .*price\(\) const`, "\nINLINE_ORIGIN $1 shop::Heavy::prize() const"},
					{checks.Names, `\nFUNC (\S+ \S+) 0 \(anonymous namespace\)`, "\nFUNC $1 0 nowhere"},
					{checks.Names, `\nFUNC (\S+ \S+) 0 .*::.*`, "\nFUNC $1 0 else"},
				} {
					wrong := regexp.MustCompile(change.old).ReplaceAll(sym, []byte(change.new))
					if bytes.Equal(wrong, sym) {
						continue // no such record
					}
					k := mustCheck(t, img, wrong, Options{Companions: others}).Check(change.check)
					if k.Findings == 0 {
						t.Errorf("%s: not found", change.new)
					}
				}
			})
		}
	}
}
