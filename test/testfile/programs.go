package testfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Programs returns the names of the files in dir, the module's testdata/elf, that hold
// a program, a library or its debug information.
func Programs(t testing.TB, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}

	for _, e := range entries {
		// Packed fixtures have .xz after their extension.
		switch filepath.Ext(strings.TrimSuffix(e.Name(), ".xz")) {
		case ".elf", ".so", ".debug":
			names = append(names, e.Name())
		}
	}

	// A wrong directory must not pass for one with few programs.
	if len(names) < 90 {
		t.Fatalf("only %d fixtures in %s", len(names), dir)
	}
	return names
}
