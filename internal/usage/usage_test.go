package usage

import (
	"flag"
	"os"
	"path"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestFiles: prog.json has everything that a program with a default command can have, and texts
// with each character that is special to roff or to a shell; walk.json a command with flags of its
// own, and a program under another name whose flags are letters.
func TestFiles(t *testing.T) {
	src := Source{Version: "1.2.3", Date: time.Date(2026, 11, 23, 12, 33, 20, 0, time.UTC)}
	for name, want := range map[string]int{"prog": 5, "walk": 9} {
		text, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		files := Files(src, p)
		if len(files) != want {
			t.Errorf("%s: %d files, want %d", name, len(files), want)
		}
		for file, got := range files {
			golden(t, filepath.Join("testdata", name, path.Base(file)), got)
		}
	}
}

// golden compares text with a file.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		err := os.WriteFile(path, got, 0o666)
		if err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: %s", path, diff)
	}
}

func TestVersion(t *testing.T) {
	_, err := Parse([]byte(`{"version": 2}`))
	if err == nil {
		t.Error("a version that is not known is accepted")
	}
}
