package check

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/check/report"
	"symkit/elfx"
	"symkit/test/planted"
)

// verifySFrame returns the findings about an ELF file.
func verifySFrame(t *testing.T, data []byte) []report.Finding {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.so")
	err := os.WriteFile(path, data, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elfx.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rep, err := SFrame(t.Context(), &elfx.Image{Main: f}, report.Options{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return rep.Findings
}

// known are the differences of right files: what an assembler ignored (sframe/testdata/src/special-*.s).
func known(name string) bool {
	return strings.Contains(name, "special") && !strings.HasPrefix(name, "v3")
}

// consequences are causes that a defect can have beside its own.
var consequences = map[string][]string{
	"versions": {"unmerged"}, "damaged": {"unmerged"}, "discarded": {"only-eh-frame"}, "outside-code": {"only-eh-frame", "overlap"},
	"overlap": {"cfa", "frame-pointer", "return-address", "pac-state"}, "unsorted": nil,
}

// TestSFramePlanted plants defects into right libraries of all machines: each defect is named with its
// cause, and nothing is named in the right files.
func TestSFramePlanted(t *testing.T) {
	files, err := filepath.Glob("../dump/testdata/sframe/v[23]-*.so")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d libraries, %v", len(files), err)
	}
	kinds, total := map[string]int{}, 0
	for _, file := range files {
		name := filepath.Base(file)
		if known(name) || strings.Contains(name, "noeh") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := verifySFrame(t, data); len(found) > 0 {
			t.Errorf("%s: %v", name, found)
		}
		for _, p := range planted.SFrames(data) {
			kinds[p.Kind]++
			total++
			found := verifySFrame(t, p.Data)
			if !slices.ContainsFunc(found, func(f report.Finding) bool { return f.Cause == p.Cause }) {
				t.Errorf("%s: %s: no finding with cause %s: %v", name, p.Kind, p.Cause, found)
			}
			for _, f := range found {
				if f.Cause != p.Cause && !slices.Contains(consequences[p.Cause], f.Cause) {
					t.Errorf("%s: %s: also %s: %s", name, p.Kind, f.Cause, f.What)
				}
			}
		}
	}
	t.Logf("%d defects of %d kinds", total, len(kinds))
	if len(kinds) < 40 || total < 200 {
		t.Errorf("%d defects of %d kinds", total, len(kinds))
	}
}
