package elfx

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"symkit/test/elftest"
)

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestWriteTo(t *testing.T) {
	data := elftest.Plain(elf.ELFCLASS64, false).Build()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out bytes.Buffer
	if n, err := f.WriteTo(&out); n != int64(len(data)) || err != nil || !bytes.Equal(out.Bytes(), data) {
		t.Errorf("%d bytes of %d, %v", n, len(data), err)
	}
	full := errors.New("full")
	if n, err := f.WriteTo(failingWriter{full}); n != 0 || err != full {
		t.Errorf("a failing writer: %d, %v", n, err)
	}
}
