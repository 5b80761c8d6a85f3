package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"symkit/test/programtest"
)

// TestUpkeep: a store is listed, checked and pruned, and --prune removes nothing without --yes.
func TestUpkeep(t *testing.T) {
	dir := t.TempDir()
	store, elf := filepath.Join(dir, "store"), filepath.Join(dir, "elf")
	for _, name := range []string{"cxx-x86_64-gcc12-O2-dw5.elf", "lang-aarch64pac-gcc12-O2-dw5.elf"} {
		programtest.Write(t, filepath.Join(elf, name), programtest.Fixture(t, name))
	}
	dump := func(want int, args ...string) (string, string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), append([]string{"-s", store}, args...), &stdout, &stderr)
		if code != want {
			t.Fatalf("%q: exit code %d: %s%s", args, code, &stdout, &stderr)
		}
		return stdout.String(), stderr.String()
	}
	dump(0, "-R", elf)
	old := time.Now().Add(-100 * 24 * time.Hour)
	files, err := filepath.Glob(filepath.Join(store, "cxx*", "*", "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(err, files)
	}
	err = os.Chtimes(files[0], old, old)
	if err != nil {
		t.Fatal(err)
	}

	for _, test := range []struct {
		code      int
		args      string
		out, said string
	}{
		{0, "--list", "9393B68C623AA7237971790E89F1DBA90  cxx-x86_64-gcc12-O2-dw5.elf  symbols\n", "dump_syms: 2 modules, "},
		{0, "--list --json", `","kind":"symbols","bytes":`, "2 modules"},
		{0, "--verify " + elf, "2 symbol files, 2 compared with ELF files: nothing found", ""},
		{0, "--prune --keep-days 30", "cxx-x86_64-gcc12-O2-dw5.elf\n", "dump_syms: 1 of 2 modules, "},
		{0, "--prune --keep-newest 1 --json", "", "dump_syms: 0 of 2 modules, "},
		{0, "--prune --keep-days 30 --yes --json", `"outcome":"removed"`, "dump_syms: 1 of 2 modules, "},
		{0, "--prune --keep-days 30 --yes", "", "dump_syms: 0 of 1 module, "},
		{80, "--prune", "", "--prune needs --keep-days or --keep-newest"},
		{80, "--prune --list --keep-days 3", "", "exclude each other"},
		{80, "--list --yes", "", "need --prune"},
		{80, "--list x", "", "takes no paths"},
		{80, "--verify --manifest m", "", "leave out the flags"},
	} {
		out, said := dump(test.code, strings.Fields(test.args)...)
		if !strings.Contains(out, test.out) || !strings.Contains(said, test.said) || test.out == "" && out != "" {
			t.Errorf("%s: %q, %q", test.args, out, said)
		}
		if left, _ := filepath.Glob(files[0]); len(left) == 0 && !strings.Contains(test.args, "--yes") && test.code == 0 {
			t.Errorf("%s has removed the module", test.args)
		}
	}
	if _, err := os.Stat(filepath.Dir(filepath.Dir(files[0]))); err == nil {
		t.Error("the directory of the module is left")
	}
	var stderr bytes.Buffer
	code := run(t.Context(), []string{"-s", "tecken+https://symbols.example.com/", "--list"}, nil, &stderr)
	if code != 80 || !strings.Contains(stderr.String(), "give the directory or the s3:// bucket") {
		t.Errorf("a server: %d, %s", code, &stderr)
	}
}

// TestIfBetter: a worse symbol file is replaced, and the message and the manifest say why.
func TestIfBetter(t *testing.T) {
	dir := t.TempDir()
	elf := filepath.Join(dir, "cxx-x86_64-gcc12-O2-dw5.elf")
	programtest.Write(t, elf, programtest.Fixture(t, filepath.Base(elf)))
	for i, test := range []struct{ args, said, manifest string }{
		{"--no-cfi", "", `"status":"written"`},
		{"--if-better", "replaced: better than the symbol file in the store: this file has unwind rules for ", `"why":"better than`},
		{"--if-better", "", `"status":"existing","`},
		{"--if-better --no-cfi", "", `"why":"the symbol file in the store is better, and stays: `},
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), append(strings.Fields(test.args), "-s", filepath.Join(dir, "store"), "--manifest", "-", elf), &stdout, &stderr)
		if code != 0 || !strings.Contains(stderr.String(), test.said) || test.said == "" && strings.Contains(stderr.String(), "replaced") || !strings.Contains(stdout.String(), test.manifest) {
			t.Errorf("%d: exit code %d: %s%s", i, code, &stdout, &stderr)
		}
	}
}
