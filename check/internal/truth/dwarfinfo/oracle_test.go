//go:build oracle

package dwarfinfo

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"symkit/elfx"
	"symkit/internal/par"
)

// TestCorpusLikeLibrary compares the reader with debug/dwarf on every file of the corpus.
func TestCorpusLikeLibrary(t *testing.T) {
	root := os.Getenv("SYMKIT_CORPUS")
	if root == "" {
		t.Fatal("SYMKIT_CORPUS is not set; see scripts/corpus.sh")
	}
	var paths []string
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	var files, compared atomic.Int64
	err = par.For(t.Context(), runtime.GOMAXPROCS(0), len(paths), func(i int) error {
		f, err := elfx.Open(paths[i])
		if err != nil {
			return nil // not an ELF file
		}
		defer f.Close()
		n := compareFile(t, f)
		compared.Add(int64(n))
		files.Add(int64(min(n, 1)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d units of %d files", compared.Load(), files.Load())
	if compared.Load() < 10_000 {
		t.Errorf("only %d units of %d files were compared", compared.Load(), files.Load())
	}
}
