package mem

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// written returns the path of a new file with the given bytes.
func written(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpen(t *testing.T) {
	for _, content := range []string{"", "a", strings.Repeat("b", 3*pageSize)} {
		m, err := Open(written(t, []byte(content)))
		if err != nil || string(m.Bytes()) != content || m.Info().Size() != int64(len(content)) {
			t.Fatalf("%d bytes, %v", len(content), err)
		}
		m.Drop(0, uint64(len(content)))
		if string(m.Bytes()) != content {
			t.Error("dropped pages are not fetched again")
		}
		for range 2 {
			if err := m.Release(); err != nil {
				t.Error(err)
			}
		}
	}

	dir := t.TempDir()
	if _, err := Open(dir); !errors.Is(err, ErrNotRegular) || !strings.HasSuffix(err.Error(), "it is a directory") {
		t.Errorf("a directory: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := checkSize(1<<31, math.MaxInt32); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}

// TestRead: a file that cannot be mapped is read; one that shrank meanwhile has
// changed.
func TestRead(t *testing.T) {
	file, err := os.Open(written(t, []byte("content")))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	m, err := read(file, info)
	if err != nil || string(m.Bytes()) != "content" {
		t.Fatal(err)
	}
	m.Drop(0, 7)
	if err := m.Release(); err != nil {
		t.Error(err)
	}
	if _, err := read(file, info); err != ErrChanged { // it is at its end
		t.Error(err)
	}
}
