//go:build unix

package filecache

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// TestWithoutName: where no file can be kept, each is there without a name, and the reason is told once.
// On Windows every open file has a name.
func TestWithoutName(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	err := os.WriteFile(file, nil, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	none := errors.New("none")
	tmp := t.TempDir()
	for _, dir := range []string{tmp, filepath.Join(tmp, "missing")} { // the second: in memory
		t.Setenv("TMPDIR", dir)
		if dir != tmp && runtime.GOOS != "linux" {
			break
		}
		for cache, want := range map[string]error{"": none, file: syscall.ENOTDIR} {
			var told []error
			c := &Cache{Dir: cache, None: none, Uncached: func(err error) { told = append(told, err) }}
			for _, name := range []string{"a/b", "a/c", "a/b"} {
				err := c.Put(t.Context(), name, content(name))
				if err != nil || read(t, c, name) != name || !c.Has(name) {
					t.Errorf("%q: %v", cache, err)
				}
			}
			if len(told) != 1 || !errors.Is(told[0], want) || c.Source(c.Path("a/b")) != "https://server/x" {
				t.Errorf("%q: told %v, source %s", cache, told, c.Source(c.Path("a/b")))
			}
			c.Drop("a/b")
			if c.Has("a/b") {
				t.Error("a file that was removed")
			}
		}
	}
	names := left(t, tmp)
	if len(names) > 0 {
		t.Errorf("left: %q", names)
	}
}
