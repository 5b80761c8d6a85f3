package testfile

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// Recipes returns the code blocks of a document that begin with ```sh NAME.
func Recipes(t *testing.T, document, name string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)```sh "+regexp.QuoteMeta(name)+"\n(.*?)```").FindAllSubmatch(text, -1) {
		blocks = append(blocks, string(m[1]))
	}
	if len(blocks) == 0 {
		t.Fatalf("%s has no recipes for %s", document, name)
	}
	return blocks
}

// RunRecipe runs a recipe in a directory of its own that has the files, and returns the
// directory. A command that fails is an error, and so is a file without content in the
// end, except those in mayBeEmpty.
func RunRecipe(t *testing.T, recipe string, files map[string][]byte, env []string, mayBeEmpty ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, data := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o777); err != nil {
			t.Fatal(err)
		}
	}

	sh := exec.Command("sh", "-e", "-c", recipe)
	sh.Dir, sh.Env = dir, append(append(os.Environ(), "LC_ALL=C", "DEBUGINFOD_URLS="), env...)
	out, err := sh.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s\n%s", err, recipe, out)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		empty := false
		for _, name := range mayBeEmpty {
			empty = empty || name == e.Name()
		}
		if info.Size() == 0 && !empty {
			t.Errorf("%s is empty\n%s\n%s", e.Name(), recipe, out)
		}
	}
	return dir
}
