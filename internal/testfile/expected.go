package testfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Expected returns the contents of a symbol file that Breakpad's or Mozilla's dump_syms wrote
// for a file of the corpus, from the directory SYMKIT_EXPECTED (CONTRIBUTING.md). The test is
// left out where the directory does not exist; .ci/run says so.
func Expected(t testing.TB, name string) []byte {
	t.Helper()
	dir := os.Getenv("SYMKIT_EXPECTED")
	if dir == "" {
		t.Fatal("SYMKIT_EXPECTED is not set; see CONTRIBUTING.md")
	}
	_, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("SYMKIT_EXPECTED: %v", err)
	}

	data, err := Read(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
