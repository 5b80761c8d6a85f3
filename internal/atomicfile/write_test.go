package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	put := func(text string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			_, werr := io.WriteString(w, text)
			return errors.Join(werr, err)
		}
	}
	if err := Write(t.Context(), path, put("first", nil)); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if err := Write(t.Context(), path, put("second", broken)); !errors.Is(err, broken) {
		t.Errorf("a failing writer: %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "first" {
		t.Errorf("after a failure the file is %q", got)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
	if err := Write(t.Context(), filepath.Join(dir, "no", "out"), put("x", nil)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a directory that is not there: %v", err)
	}
	if err := Write(t.Context(), os.DevNull, put("x", nil)); err != nil {
		t.Errorf("a device: %v", err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("the device is %v, %v", info.Mode(), err)
	}
}
