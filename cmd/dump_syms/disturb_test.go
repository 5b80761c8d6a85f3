//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"symkit/test/programtest"
	"symkit/test/testfile"
)

// disturb runs dump_syms, writing into dir, on a file that changes meanwhile. The
// program ends with an error unless it had read everything before the change; a file
// that it leaves in dir is whole.
func disturb(t *testing.T, file, dir string, args ...string) {
	t.Helper()
	var whole map[string]string
	err := testfile.Disturbed(file, 8, func(how string) (met bool) {
		if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o777)); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), append(args, file), &stdout, &stderr)
		got, err := readTree(dir)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case how == "":
			if whole = got; code != 0 || len(got) == 0 {
				t.Fatalf("exit code %d, %d files: %s", code, len(got), &stderr)
			}
		case code == 1:
			met = true
			for path, text := range got {
				if text != whole[path] {
					t.Errorf("%s: %s is not whole", how, path)
				}
			}
			if !strings.HasPrefix(stderr.String(), "dump_syms: error: "+file+": ") {
				t.Errorf("%s: %s", how, &stderr)
			}
		case code != 0 || cmp.Diff(whole, got) != "":
			t.Errorf("%s: exit code %d, other files: %s", how, code, &stderr)
		}
		return met
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDisturbed: a file that is truncated or overwritten while it is mapped is an
// error, never SIGBUS or output made of two versions.
func TestDisturbed(t *testing.T) {
	for _, name := range []string{"rust-x86_64-rustc-O-dw5.so", "cxx-x86_64-gcc12-O2-dw5-zlib.elf"} {
		t.Run(name, func(t *testing.T) {
			data := programtest.Fixture(t, name)
			file, dir := filepath.Join(t.TempDir(), name), filepath.Join(t.TempDir(), "out")
			programtest.Write(t, file, data)
			disturb(t, file, dir, "--inlines", "-o", filepath.Join(dir, "out.sym"))
			disturb(t, file, dir, "--with-elf", "--layout=unified", "--store", dir)
		})
	}
}
