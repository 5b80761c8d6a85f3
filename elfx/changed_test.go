package elfx

import (
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"symkit/test/elftest"
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

// TestStreamsChanged: Streams reads the header of a compressed section, which may be gone. A fault
// there must not get out of elfx: dump has other goroutines that read the file then.
func TestStreamsChanged(t *testing.T) {
	s := &elftest.Spec{}
	s.Sections = []elftest.Sec{
		{Name: ".text", Kind: elf.SHT_PROGBITS, Data: make([]byte, 1<<17)}, // no page of it is the section's
		{Name: ".debug_info", Kind: elf.SHT_PROGBITS, Flags: elf.SHF_COMPRESSED, Data: s.Chdr(elf.COMPRESS_ZLIB, 4, zlibBytes([]byte("info")))},
	}
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, s.Build(), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info := f.Section(".debug_info")
	if !info.Streams() {
		t.Fatal("the section cannot be streamed")
	}
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	if info.Streams() {
		t.Error("a section that is gone can be streamed")
	}
	if _, err := info.Data(); !errors.Is(err, ErrChanged) {
		t.Errorf("%v, want %v", err, ErrChanged)
	}
}
