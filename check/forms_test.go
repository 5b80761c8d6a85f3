package check

import (
	"bytes"
	"debug/elf"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"symkit/check/internal/checks"
	"symkit/check/report"
	"symkit/elfx"
	"symkit/elfx/companion"
)

// twinOf is the plainly linked file with the same code as the files whose debug information has
// another form.
const twinOf = "cxx-x86_64-gcc12-O2-dw5.elf"

// TestForms checks that data that is read is right, and that data that is not read is counted under
// its own check, with the reason. Nothing is a finding.
func TestForms(t *testing.T) {
	const (
		split  = "units whose split DWARF file (.dwo, .dwp) was not found"
		symbol = "inlined calls of functions that only the symbol table knows"
		unread = "inlined calls of functions that are not read"
	)
	for _, test := range []struct {
		elf, sym string
		notes    map[string][]string     // by check, of what is not verified
		states   map[string]report.State // other than Checked
	}{
		{elf: "cxx-x86_64-gcc12-O2-dw5-types.elf", sym: twinOf},
		{elf: "cxx-x86_64-gcc12-O2-dw5-zstd.elf", sym: twinOf},
		{elf: "cxx-x86_64-gcc12-O2-dw5-zlib-gnu.elf", sym: twinOf},
		{elf: "cxx-x86_64-clang14-O2-dw5-64.elf"},
		{elf: "cxx-x86_64-gcc12-O2-dw5.o"},
		{
			elf: "cxx-x86_64-gcc12-O2-dw5-dwz.elf", sym: twinOf,
			notes:  map[string][]string{checks.Names: {dwzNotFound}, checks.Inlines: {dwzNotFound}},
			states: map[string]report.State{checks.Inlines: report.NotVerified},
		},
		{
			// The lines are in the program itself.
			elf: "cxx-x86_64-gcc12-O2-dw5-split.elf", sym: twinOf,
			notes: map[string][]string{
				checks.Funcs: {split}, checks.Names: {"of functions that are not read"}, checks.Inlines: {unread, symbol, split},
			},
			states: map[string]report.State{checks.Inlines: report.NotVerified},
		},
		{
			elf: "cxx-x86_64-gcc12-O2-dw5-mini.elf", sym: twinOf,
			notes: map[string][]string{
				checks.Funcs: {"no debug information"}, checks.Names: {"no debug information"},
				checks.Lines: {"no debug information"}, checks.Inlines: {"no debug information"},
			},
			states: map[string]report.State{checks.Funcs: report.NotInELF, checks.Names: report.NotInELF, checks.Lines: report.NotInELF, checks.Inlines: report.NotInELF},
		},
	} {
		t.Run(test.elf, func(t *testing.T) {
			names := []string{checks.Funcs, checks.Names, checks.Code, checks.Lines, checks.Inlines, checks.Publics, checks.CFI}
			if strings.HasSuffix(test.elf, ".o") { // it has no symbols outside of functions
				names = slices.DeleteFunc(names, func(s string) bool { return s == checks.Publics })
			}
			img := openTest(t, filepath.Join("..", "testdata", "elf", test.elf), test.elf)
			sym := test.sym
			if sym == "" {
				sym = test.elf
			}
			rep := mustCheck(t, img, readTest(t, filepath.Join("testdata", "own", sym+".sym")), Options{Options: report.Options{Only: names}})
			if rep.Total() > 0 {
				t.Error(text(t, rep))
			}
			notes := map[string][]string{}
			for _, k := range rep.Checks {
				if k.Unverified > 0 {
					notes[k.Name] = k.Notes
				}
				want := test.states[k.Name]
				if want == "" {
					want = report.Checked
				}
				if k.State != want || want == report.Checked && k.Compared == 0 {
					t.Errorf("%s: %+v", k.Name, k)
				}
			}
			want := map[string][]string{}
			maps.Copy(want, test.notes)
			if diff := cmp.Diff(want, notes); diff != "" {
				t.Errorf("not verified (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSupplementary checks that with dwz's supplementary file all names are verified, and a wrong
// name is found.
func TestSupplementary(t *testing.T) {
	dir := t.TempDir()
	const name = "cxx-x86_64-gcc12-O2-dw5-dwz"
	for _, ext := range []string{".elf", ".alt"} {
		if err := os.WriteFile(filepath.Join(dir, name+ext), readTest(t, filepath.Join("..", "testdata", "elf", name+ext)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := elfx.Open(filepath.Join(dir, name+".elf"))
	if err != nil {
		t.Fatal(err)
	}
	img := &elfx.Image{Main: f}
	t.Cleanup(func() { img.Close() })
	others := companion.Find(t.Context(), img, companion.Search{})
	t.Cleanup(others.Close)
	opt := Options{Options: report.Options{Only: []string{checks.Names, checks.Inlines}}, Companions: others}
	sym := readTest(t, filepath.Join("testdata", "own", twinOf+".sym"))
	rep := mustCheck(t, img, sym, opt)
	for _, k := range rep.Checks {
		if k.State != report.Checked || k.Compared == 0 || k.Unverified > 0 || k.Findings > 0 {
			t.Errorf("%+v\n%s", k, text(t, rep))
		}
	}
	const origin = "shop::quote("
	if !bytes.Contains(sym, []byte(origin)) {
		t.Fatal("the symbol file has changed")
	}
	rep = mustCheck(t, img, bytes.Replace(sym, []byte(origin), []byte("shop::quota("), 1), opt)
	if rep.Check(checks.Inlines).Findings == 0 {
		t.Error(text(t, rep))
	}
}

// TestRelocLosses checks that data that needs a relocation which cannot be applied is not verified.
func TestRelocLosses(t *testing.T) {
	const name = "cxx-x86_64-gcc12-O2-dw5.o"
	data := readTest(t, filepath.Join("..", "testdata", "elf", name))
	e, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	const relocType = 8 // offset of the type in an Elf64_Rela
	data[e.Section(".rela.debug_line").Offset+relocType] = 0xfe
	f, err := elfx.NewFile(name, data)
	if err != nil {
		t.Fatal(err)
	}
	rep := mustCheck(t, &elfx.Image{Main: f}, readTest(t, filepath.Join("testdata", "own", name+".sym")), Options{})
	k := rep.Check(checks.Lines)
	if k.Unverified != 1 || !strings.Contains(strings.Join(k.Notes, "\n"), "unknown relocation type") {
		t.Errorf("%+v", k)
	}
}
