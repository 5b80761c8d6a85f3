//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/test/programtest"
	"symkit/test/testfile"
)

// A dump, program or symbol file that is truncated or overwritten while it is
// mapped is an error, or, of a module, costs its symbols with a warning: no
// SIGBUS.
func TestDisturbed(t *testing.T) {
	dir := t.TempDir()
	place := func(name, from string) string {
		data, err := testfile.Read(from)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		programtest.Write(t, path, data)
		return path
	}
	const elf, sym = "../../testdata/elf/crash-x86_64-gcc12-O2-dw5", "test_app.pdb/5A9832E5287241C1838ED98914E9B7FF1/test_app.sym"
	core, program := place("core", elf+".core"), place("crash", elf+".elf")
	dump, symbols := place("dump", "../../walk/minidump/testdata/minidump2.dmp"), place(sym, "testdata/breakpad/symbols/"+sym)
	for _, test := range []struct {
		name, file string
		args       []string
	}{
		{"core", core, []string{"--exe", program, core}},
		{"program of a core", program, []string{"--exe", program, core}},
		{"minidump", dump, []string{"--symbols", dir, dump}},
		{"symbols of a minidump", symbols, []string{"--symbols", dir, dump}},
		{"named symbols", symbols, []string{"--symbols", symbols, dump}},
		{"one of several", core, []string{"--exe", program, "--out", filepath.Join(dir, "out"), core, dump}},
	} {
		t.Run(test.name, func(t *testing.T) { disturb(t, test.file, test.file == core || test.file == dump, test.args...) })
	}
}

func disturb(t *testing.T, file string, isDump bool, args ...string) {
	var whole string
	err := testfile.Disturbed(file, 6, func(how string) (met bool) {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), args, &stdout, &stderr)
		switch {
		case how == "":
			if whole = stdout.String(); code != 0 {
				t.Fatalf("exit code %d: %s", code, &stderr)
			}
		case code == 1:
			met = true
			if !strings.Contains(stderr.String(), "stackwalk: error: ") {
				t.Errorf("%s: %s", how, &stderr)
			}
		case !isDump && (code == 0 || code == 2): // the module has fewer symbols, or others
			if stdout.String() != whole {
				met = true
			}
		case stderr.Len() > 0 && (code == 0 || code == 2): // it was half a dump when it was opened, and still one
			met = true
		case code != 0 || stdout.String() != whole:
			t.Errorf("%s: exit code %d: %s", how, code, &stderr)
		}
		return met
	})
	if err != nil {
		t.Fatal(err)
	}
}
