package testfile

import (
	"os"
	"path/filepath"
	"testing"
)

// Expected returns the contents of a symbol file that Breakpad's or Mozilla's dump_syms wrote
// for a file of the corpus, from the directory SYMKIT_EXPECTED (CONTRIBUTING.md). With the value
// none the test is left out; .ci/run says so.
func Expected(t testing.TB, name string) []byte {
	t.Helper()
	dir := os.Getenv("SYMKIT_EXPECTED")
	switch dir {
	case "":
		t.Fatal("SYMKIT_EXPECTED is not set; see CONTRIBUTING.md")
	case "none":
		t.Skip("SYMKIT_EXPECTED=none")
	}

	data, err := Read(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
