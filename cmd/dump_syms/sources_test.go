package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/test/programtest"
)

// TestWithSources: the bundle of a module has the text that the compiler embedded, in each layout that has a place for the
// module; a module without any text at hand has no bundle.
func TestWithSources(t *testing.T) {
	dir := t.TempDir()
	for _, args := range []string{"", "--compress=gzip", "--layout=unified --compress=zstd"} {
		store := filepath.Join(dir, "store"+args)
		var stdout, stderr bytes.Buffer
		plain := filepath.Join(dir, "plain.elf")
		programtest.Write(t, plain, programtest.Fixture(t, "cxx-x86_64-gcc12-O2-dw5.elf"))
		code := run(t.Context(), append(strings.Fields(args), "-s", store, "--with-sources", "--source-dir", dir, "--manifest", "-", "../../testdata/sources/embedded.o", plain), &stdout, &stderr)
		bundle := "embedded.src.zip"
		if strings.Contains(args, "unified") {
			bundle = "sourcebundle"
		}
		if code != 0 || strings.Count(stdout.String(), `"sources":1`) != 1 || strings.Count(stdout.String(), bundle) > 1 {
			t.Fatalf("%s: exit code %d: %s%s", args, code, &stdout, &stderr)
		}
		files, err := readTree(store)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for path, text := range files {
			if strings.HasPrefix(text, "SYSB") {
				found = append(found, path)
			}
		}
		if len(found) != 1 || strings.HasSuffix(found[0], ".gz") {
			t.Errorf("%s: %q", args, found)
		}
	}
	for args, want := range map[string]string{
		"--source-dir x app": "needs --with-sources", "-s s --source-dir x app": "needs --with-sources",
		"-s tecken+https://symbols.example.com/ --with-sources app": "take no source files",
	} {
		var stderr bytes.Buffer
		code := run(t.Context(), strings.Fields(args), nil, &stderr)
		if code != 80 || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: %d, %s", args, code, &stderr)
		}
	}
	if _, err := os.Stat("s"); err == nil {
		t.Error("a store was made")
	}
}
