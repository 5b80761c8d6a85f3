package elfx

import (
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"symkit/elfx/internal/elftest"
)

func TestUnchanged(t *testing.T) {
	data := elftest.Plain(elf.ELFCLASS64, false).Build()
	past := time.Now().Add(-time.Hour)
	for _, test := range []struct {
		name   string
		change func(path string) error
		want   error
	}{
		{"nothing", func(string) error { return nil }, nil},
		{"removed", os.Remove, nil},
		{"replaced", func(path string) error {
			if err := os.WriteFile(path+"2", nil, 0o666); err != nil {
				return err
			}
			return os.Rename(path+"2", path)
		}, nil},
		{"grown", func(path string) error { return os.Truncate(path, int64(len(data)+1)) }, ErrChanged},
		{"written to", func(path string) error { return os.WriteFile(path, data, 0o666) }, ErrChanged},
	} {
		path := filepath.Join(t.TempDir(), "f")
		if err := errors.Join(os.WriteFile(path, data, 0o666), os.Chtimes(path, past, past)); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := test.change(path); err != nil {
			t.Fatal(err)
		}
		for name, got := range map[string]error{
			"Main": (&Image{Main: f}).Unchanged(), "Debug": (&Image{Main: inMemory(t, data), Debug: f}).Unchanged(),
		} {
			if !errors.Is(got, test.want) || got != nil && got.Error() != path+": "+ErrChanged.Error() {
				t.Errorf("%s %s: %v", name, test.name, got)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func inMemory(t *testing.T, data []byte) *File {
	t.Helper()
	f, err := NewFile("memory", data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
