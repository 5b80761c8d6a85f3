package atomicfile

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// leave puts a file where a process that was killed while it replaced name would
// have left one.
func leave(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, beside(name))
	if err := os.WriteFile(path, []byte("left"), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSweep: what a killed process left is removed by whoever has to do with the
// name next; what a living one holds stays.
func TestSweep(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "solaris" || runtime.GOOS == "aix" {
		return // only what is a day old counts as left there
	}
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := io.WriteString(w, s)
			return err
		}
	}
	for _, publish := range map[string]func(name string) error{
		"sweep":   func(name string) error { Sweep(root, name); return nil },
		"create":  func(name string) error { _, err := Publish(root, []string{name}, false, text("new")); return err },
		"replace": func(name string) error { _, err := Publish(root, []string{name}, true, text("new")); return err },
		"named":   func(name string) error { return publishNamed(root, name, true, text("new")) },
	} {
		left := leave(t, dir, "a")
		if err := publish("a"); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(left); !os.IsNotExist(err) {
			t.Errorf("left behind: %v", err)
		}
	}

	held := leave(t, dir, "a")
	f, err := os.OpenFile(held, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	hold(f)
	for _, replace := range []func(*os.Root, string, bool, func(io.Writer) error) error{
		func(root *os.Root, name string, replace bool, write func(io.Writer) error) error {
			_, err := Publish(root, []string{name}, replace, write)
			return err
		},
		publishNamed,
	} {
		if err := replace(root, "a", true, text("newest")); err != nil {
			t.Error(err)
		}
		if got, err := os.ReadFile(held); string(got) != "left" {
			t.Errorf("what a living process holds: %q, %v", got, err)
		}
	}
	if got, err := os.ReadFile(filepath.Join(dir, "a")); string(got) != "newest" {
		t.Errorf("%q, %v", got, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}
