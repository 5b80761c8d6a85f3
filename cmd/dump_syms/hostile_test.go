package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/check/lint"
	"symkit/check/report"
	"symkit/test/programtest"
)

// hostileNames appends to a 64-bit little-endian file string tables in which
// each name has become bytes that a line of text cannot have, and the last one
// of each is 10 MB long.
func hostileNames(t *testing.T, data []byte, tables ...string) []byte {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	bad := []byte("\n\x1b\r\xff\t\x7f\xc0 \u2028")
	for i, s := range f.Sections {
		found := false
		for _, name := range tables {
			found = found || s.Name == name
		}
		if !found {
			continue
		}
		content, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		for j, c := range content {
			if c != 0 && j%3 == 0 {
				content[j] = bad[j/3%len(bad)]
			}
		}
		content = append(bytes.TrimRight(content, "\x00"), strings.Repeat("n\n", 5<<20)+"\x00"...)
		data = replaced(data, i, content)
	}
	return data
}

// TestHostileNames: names cannot break a line, whatever bytes they have.
func TestHostileNames(t *testing.T) {
	for _, name := range []string{"cxx-x86_64-gcc12-O2-dw5.elf", "cxx-x86_64-gcc12-O2-dw5.so", "lang-x86_64-gcc12-O2-dw5.elf"} {
		data := programtest.Fixture(t, name)
		path := filepath.Join(t.TempDir(), "a\x1b\n\xff b")
		programtest.Write(t, path, hostileNames(t, data, ".strtab", ".dynstr", ".debug_str", ".debug_line_str"))
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), []string{"--inlines", path}, &stdout, &stderr); code != 0 {
			t.Fatalf("%s: exit code %d: %s", name, code, &stderr)
		}
		if i := bytes.IndexFunc(stdout.Bytes(), func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f || r == 0xfffd }); i >= 0 {
			t.Errorf("%s: %q", name, stdout.Bytes()[i:][:20])
		}
		rep, err := lint.File(stdout.Bytes(), report.Options{})
		if err != nil || rep.Total() > 0 {
			t.Errorf("%s: %v, %+v", name, err, rep)
		}
		for line := range bytes.Lines(stdout.Bytes()) {
			if len(line) > 100<<10 {
				t.Errorf("%s: a line of %d bytes", name, len(line))
			}
		}
		if strings.ContainsAny(stderr.String(), "\x1b\r\x7f") {
			t.Errorf("%s: %q", name, &stderr)
		}
	}
}

// withNames appends zero bytes to the .strtab of an ELF file.
func withNames(t *testing.T, data []byte, zeros int) []byte {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(f.Sections, func(s *elf.Section) bool { return s.Name == ".strtab" })
	content, err := f.Sections[i].Data()
	if err != nil {
		t.Fatal(err)
	}
	return replaced(data, i, append(content, make([]byte, zeros)...))
}

// replaced gives section i of an ELF-64 file other content, at the end of the file.
func replaced(data []byte, i int, content []byte) []byte {
	const shoff, entry, offset, size = 0x28, 64, 24, 32 // in the file, of a section header, in it
	header := data[binary.LittleEndian.Uint64(data[shoff:])+uint64(i)*entry:]
	binary.LittleEndian.PutUint64(header[offset:], uint64(len(data)))
	binary.LittleEndian.PutUint64(header[size:], uint64(len(content)))
	return append(data, content...)
}
