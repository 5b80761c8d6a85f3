//go:build oracle

package dwarfinfo

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"symkit/elfx"
)

// TestCorpusLikeLibrary compares the reader with debug/dwarf on every file of the corpus.
func TestCorpusLikeLibrary(t *testing.T) {
	root := os.Getenv("SYMKIT_CORPUS")
	if root == "" {
		t.Fatal("SYMKIT_CORPUS is not set; see scripts/corpus.sh")
	}
	files, compared := 0, 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		f, err := elfx.Open(path)
		if err != nil {
			return nil // not an ELF file
		}
		defer f.Close()
		n := compareFile(t, f)
		compared += n
		files += min(n, 1)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d units of %d files", compared, files)
	if compared < 10_000 {
		t.Errorf("only %d units of %d files were compared", compared, files)
	}
}
