//go:build unix

package mem

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOpenFIFO: a FIFO, whose opening would wait for its writer, is refused.
func TestOpenFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{path: "it is a pipe", "/dev/null": "it is a device"} {
		if _, err := Open(path); !errors.Is(err, ErrNotRegular) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestShrunk: a mapped file that is cut off is an error, wherever in the mapping
// it is read; after Release the same read is a defect.
func TestShrunk(t *testing.T) {
	in(t, poison)
	path := written(t, bytes.Repeat([]byte{1}, 3*pageSize+5))
	m, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	data := m.Bytes()
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{pageSize, 2*pageSize - 1, len(data) - 1} {
		if err := Guard(func() error { sink += data[at]; return nil }); err != ErrChanged {
			t.Errorf("byte %#x: %v", at, err)
		}
	}
	if debug.SetPanicOnFault(false) {
		t.Error("Guard has not restored the setting")
	}

	if err := m.Release(); err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{0, pageSize, len(data) - 1} {
		if !crashes(t, func() { sink += data[at] }) {
			t.Errorf("byte %#x is accessible after Release", at)
		}
	}
}
