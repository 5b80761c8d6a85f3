package dump

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/ulikunitz/xz"

	"symkit/elfx"
	"symkit/test/testfile"
)

// mapped opens a file with the contents data until t ends.
func mapped(t *testing.T, data []byte) *elfx.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := elfx.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// The names of PUBLIC records alias the mapped file until they are written.
func TestWriteChanged(t *testing.T) {
	data, err := testfile.Read(filepath.Join(fixtures, "lang-x86_64-gcc12-O2-dw5.elf"))
	if err != nil {
		t.Fatal(err)
	}
	f := mapped(t, data)
	path := f.Path()
	m, err := Dump(t.Context(), &elfx.Image{Main: f}, Options{})
	if err != nil || m.Stats.Publics == 0 {
		t.Fatal(err, m.Stats.Publics)
	}
	if err := m.Write(io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	if err := m.Write(io.Discard); !errors.Is(err, elfx.ErrChanged) || err.Error() != path+": "+elfx.ErrChanged.Error() {
		t.Errorf("writing: %v", err)
	}
	if _, err := Dump(t.Context(), &elfx.Image{Main: f}, Options{}); !errors.Is(err, elfx.ErrChanged) {
		t.Errorf("dumping: %v", err)
	}
}

// MiniDebugInfo of more than 1 MB is unpacked outside of Go's heap, and must be
// there until the names of its symbols are written.
func TestLargeMini(t *testing.T) {
	const name = "cxx-x86_64-gcc12-O2-dw5-mini.elf"
	data, err := testfile.Read(filepath.Join(fixtures, name))
	if err != nil {
		t.Fatal(err)
	}
	want, text := dumpText(t, fixture(t, name), Options{})
	grown, err := elfx.NewFile(name, growMini(t, data, 4<<20))
	if err != nil {
		t.Fatal(err)
	}
	defer grown.Close()
	m, err := Dump(t.Context(), &elfx.Image{Main: grown}, Options{})
	if err != nil || m.Stats.Publics != want.Stats.Publics {
		t.Fatal(err, m.Stats.Publics)
	}
	runtime.GC()
	var got bytes.Buffer
	if err := m.Write(&got); err != nil || !bytes.Equal(got.Bytes(), text) {
		t.Errorf("%v; %d bytes, want %d", err, got.Len(), len(text))
	}
}

// growMini appends bytes to the file in .gnu_debugdata, and that section to the
// end of the 64-bit little-endian file.
func growMini(t *testing.T, data []byte, more int) []byte {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range f.Sections {
		if s.Name != ".gnu_debugdata" {
			continue
		}
		packed, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		r, err := xz.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		inner, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		w, err := xz.NewWriter(&out)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(append(inner, make([]byte, more)...)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		const shoff, entry, offset, size = 0x28, 64, 24, 32 // ELF-64: in the file, of a section header, in it
		header := data[binary.LittleEndian.Uint64(data[shoff:])+uint64(i)*entry:]
		binary.LittleEndian.PutUint64(header[offset:], uint64(len(data)))
		binary.LittleEndian.PutUint64(header[size:], uint64(out.Len()))
		return append(data, out.Bytes()...)
	}
	t.Fatal("no .gnu_debugdata")
	return nil
}
