package check

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/check/report"
	"symkit/elfx"
	"symkit/test/testfile"
)

// dwzNotFound is the note about names that are in a supplementary file.
const dwzNotFound = "names in a supplementary file (dwz) that was not found"

// readTest reads a test file, unpacked.
func readTest(t testing.TB, path string) []byte {
	t.Helper()
	data, err := testfile.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// openTest opens an ELF file of the tests under the given name.
func openTest(t testing.TB, path, name string) *elfx.Image {
	t.Helper()
	return openData(t, readTest(t, path), name)
}

// openData opens an ELF file with the given content under the given name.
func openData(t testing.TB, data []byte, name string) *elfx.Image {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := elfx.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return &elfx.Image{Main: f}
}

// own opens a file of the repository's testdata/elf and the symbol file that dump_syms wrote for
// it.
func own(t testing.TB, name string) (*elfx.Image, []byte) {
	t.Helper()
	return openTest(t, filepath.Join("..", "testdata", "elf", name), name),
		readTest(t, filepath.Join("testdata", "own", name+".sym"))
}

func mustCheck(t testing.TB, img *elfx.Image, sym []byte, opt Options) *report.Report {
	t.Helper()
	rep, err := File(context.Background(), img, sym, opt)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// counts returns the number of findings of each check that has some.
func counts(r *report.Report) map[string]uint64 {
	m := map[string]uint64{}
	for _, k := range r.Checks {
		if k.Findings > 0 {
			m[k.Name] = k.Findings
		}
	}
	return m
}

// text returns the text form of a report.
func text(t testing.TB, r *report.Report) string {
	t.Helper()
	var b strings.Builder
	if err := r.WriteText(&b, "file.sym"); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
