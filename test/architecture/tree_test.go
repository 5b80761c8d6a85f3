// Package architecture has no code. Its tests are about all packages, documents and scripts of the repository.
package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// top is the top directory of the repository, the working directory of the tests.
const top = "../.."

// sourceTree is what the tests of this file read: the paths of all files of the
// repository, by kind.
type sourceTree struct{ code, text []string }

// readSourceTree lists the repository. Inputs of tests are left out: other programs
// wrote them.
func readSourceTree(t *testing.T) (tree sourceTree) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "bin" || path == filepath.Join("testdata", "src")):
			return filepath.SkipDir
		case d.IsDir() || path == "words_test.go":
			return nil
		}

		switch filepath.Ext(path) {
		case ".go":
			tree.code = append(tree.code, path)
		case ".md", ".sh":
			tree.text = append(tree.text, path)
		default:
			if d.Name() == "Makefile" {
				tree.text = append(tree.text, path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.code) < 100 || len(tree.text) < 5 {
		t.Fatalf("only %d Go files and %d documents", len(tree.code), len(tree.text))
	}
	return tree
}

func readSource(t *testing.T, path string) []byte {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return src
}
