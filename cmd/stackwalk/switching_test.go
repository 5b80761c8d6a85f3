//go:build unix

package main

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/test/testfile"
)

// TestSwitching runs the lines of docs/switching.md.
func TestSwitching(t *testing.T) {
	store := os.DirFS(filepath.Join(breakpad, "symbols"))
	server := httptest.NewServer(http.FileServerFS(store))
	defer server.Close()

	script, err := os.ReadFile(filepath.Join("testdata", "script", "microdump.txt"))
	if err != nil {
		t.Fatal(err)
	}
	_, log, _ := strings.Cut(string(script), "-- log.txt --\n")
	dump, err := os.ReadFile(filepath.Join(dumps, "minidump2.dmp"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"crash.dmp": dump, "raw.json": []byte(`{"ModuleSignatureInfo": "{}"}`), "log.txt": []byte(log)}
	err = fs.WalkDir(store, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files["symbols/"+path], err = fs.ReadFile(store, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	for _, recipe := range testfile.Recipes(t, "../../docs/switching.md", "stackwalk") {
		testfile.RunRecipe(t, recipe, files, []string{"SYMBOLS_URL=" + server.URL}, "log.txt")
	}
}
