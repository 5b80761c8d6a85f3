//go:build unix

package elfx

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/internal/mem"
	"symkit/test/elftest"
)

// A mapped file that is cut off is an error, not SIGBUS.
func TestShrunk(t *testing.T) {
	s := elftest.Plain(elf.ELFCLASS64, false)
	s.Sections = append(s.Sections,
		elftest.Sec{Name: ".debug_line", Kind: elf.SHT_PROGBITS, Data: make([]byte, 1<<20)},
		elftest.Sec{Name: ".zdebug_abbrev", Kind: elf.SHT_PROGBITS, Data: make([]byte, 1<<16)})
	path := filepath.Join(t.TempDir(), "shrinks")
	if err := os.WriteFile(path, s.Build(), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := f.SectionData(".debug_line")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	sum := 0
	err = mem.Guard(func() error {
		sum += bytes.Count(data, []byte{1})
		return nil
	})
	if err != ErrChanged {
		t.Errorf("read of a truncated mapping: %v", err)
	}
	for range 2 { // the inflate-once must keep the error
		if _, err := f.SectionData(".debug_abbrev"); !errors.Is(err, ErrChanged) || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("inflating from a truncated mapping: %v", err)
		}
	}
}

// Copy stays as it is when the file is overwritten; Data shows the change.
func TestCopy(t *testing.T) {
	for _, size := range []int{100, 1<<20 + 5} {
		s := elftest.Plain(elf.ELFCLASS64, false)
		want := bytes.Repeat([]byte("debug"), size)
		s.Sections[3].Data = want // .debug_info
		path := filepath.Join(t.TempDir(), "f")
		file := s.Build()
		if err := os.WriteFile(path, file, 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Section(".debug_info").Copy()
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
		if err := os.WriteFile(path, make([]byte, len(file)), 0o666); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Error("the copy changed with the file")
		}
		if data, err := f.SectionData(".debug_info"); err != nil || bytes.Equal(data, want) {
			t.Errorf("%v; or the file is not mapped", err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := inMemory(t, elftest.Plain(elf.ELFCLASS64, false).Build()).Section(".bss").Copy(); !errors.Is(err, errAbsent) {
		t.Error(err)
	}
}
