package atomicfile

import (
	"io"
	"io/fs"
	"os"
	"testing"
)

// TestLeftBehind: what a killed process left of a replacement is replaced.
func TestLeftBehind(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	content := func(text string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	}
	if _, err := Publish(root, []string{"a/file"}, false, content("old")); err != nil {
		t.Fatal(err)
	}
	if err := root.WriteFile("a/"+beside("file"), []byte("left"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Publish(root, []string{"a/file"}, true, content("new")); err != nil {
		t.Fatal(err)
	}
	entries, err := fs.ReadDir(root.FS(), "a")
	if data, _ := root.ReadFile("a/file"); err != nil || len(entries) != 1 || string(data) != "new" {
		t.Errorf("%v, %q, %v; want one file with the new content", entries, data, err)
	}
}
