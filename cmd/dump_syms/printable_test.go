package main

import (
	"archive/zip"
	"bytes"
	"debug/elf"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/test/programtest"
	"symkit/test/testfile"
)

// TestUnprintable puts control characters into the names of functions, source files,
// modules, build directories and sections. None of them reaches symbol files,
// messages, manifests or lists.
func TestUnprintable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), testfile.Hostile)
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	tables := []string{".strtab", ".dynstr", ".debug_str", ".debug_line_str", ".shstrtab", ".gnu_debuglink", ".debug_frame", ".eh_frame", ".debug_abbrev"}
	for _, name := range []string{"cxx-x86_64-gcc12-O2-dw5.so", "lang-x86_64-gcc12-O2-dw5.elf", "cxx-x86_64-gcc12-O2-dw5-stripped.elf", "go-x86_64-gc.elf"} {
		data := programtest.Fixture(t, name)
		for shift := range testfile.HostileShifts() {
			names := tables[:4]
			switch {
			case shift%5 == 1:
				names = tables // damage of tables and of their names, too
			case len(data) > 1<<20 && shift > 0:
				continue
			}
			changed, err := testfile.HostileELF(data, shift, names...)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, fmt.Sprint(name, shift))
			programtest.Write(t, path, changed)
			tested.Printable(t, "-d", "-v", "--check", path)
			tested.Printable(t, "-i", path)
			_, stdout, _ := tested.Printable(t, "--store", filepath.Join(dir, "store"), "--manifest=-", "--alias", path, path+"none")
			for line := range strings.Lines(stdout) {
				if !json.Valid([]byte(line)) {
					t.Errorf("manifest: %q", line)
				}
			}
		}
	}
	tested.Printable(t, "--"+testfile.Hostile)
	tested.Printable(t, "--sframe="+testfile.Hostile, "app")
	tested.Printable(t, "--path-map", testfile.Hostile, "app")
	tested.Printable(t, "--debug-dir", testfile.Hostile, "app")
	tested.Printable(t, "--store", dir, "--files-from", testfile.Hostile)
}

// TestUnprintableChecked: findings of --check quote the symbol file, and losses quote the
// path of the ELF file.
func TestUnprintableChecked(t *testing.T) {
	data := programtest.Fixture(t, "cxx-x86_64-gcc12-O2-dw5.elf")
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	clear(data[f.Section(".debug_abbrev").Offset:][:16])
	path := filepath.Join(t.TempDir(), "app"+testfile.Hostile)
	programtest.Write(t, path, data)
	_, _, stderr := tested.Printable(t, "--check", "--name", "other"+testfile.Hostile, "-v", path)
	if !strings.Contains(stderr, `app\x1b`) {
		t.Error(stderr)
	}
}

// TestUnprintableMembers puts control characters into the names of archive members.
func TestUnprintableMembers(t *testing.T) {
	data := programtest.Fixture(t, "cxx-x86_64-gcc12-O2-dw5.elf")
	path := filepath.Join(t.TempDir(), "app.zip")
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for _, content := range [][]byte{data, data[:len(data)/2]} {
		w, err := z.Create(fmt.Sprint(testfile.Hostile, len(content)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	programtest.Write(t, path, archive.Bytes())
	if _, _, stderr := tested.Printable(t, path); !strings.Contains(stderr, `\x1b`) {
		t.Error(stderr)
	}
	tested.Printable(t, path, "--member", testfile.Hostile)
	tested.Printable(t, "-v", "--store", t.TempDir(), "--manifest=-", path)
}
