package main

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/test/testfile"
)

// TestSecrets: the password and the token of an address are in no output, whatever fails.
func TestSecrets(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	url := testfile.SecretServer(t, http.FileServer(http.Dir("../../walk/minidump/testdata")))
	stores := testfile.SecretServer(t, http.FileServer(http.Dir("testdata/breakpad/symbols")))
	dead := strings.Replace(url(""), "@127.0.0.1:", "@127.0.0.1:1", 1) // no such port
	cache, out := t.TempDir(), t.TempDir()
	t.Setenv("DEBUGINFOD_URLS", dead+" "+url("/debuginfod"))
	t.Setenv("DEBUGINFOD_CACHE_PATH", t.TempDir())

	dump := url("/minidump2.dmp")
	for _, args := range [][]string{
		{dump}, {"--format=json", dump}, {"--format=html", dump}, {"--format=machine", dump}, {"--out", out, dump, url("/none.dmp")},
		{"--format=html", "--out", out, dump, url("/none.dmp")}, {url("/none.dmp")}, {url("/README.md")}, {"--bogus", dump}, {dump, dump},
		{"--out", out, dump, dump}, {"--symbols", strings.Replace(url(""), "://", ":/", 1), dump}, {"--exe", dump, dump},
		{"--symbols", strings.Replace(url(""), "@", "/@", 1), dump}, {"--annotations", dump, dump}, {"--source-link", url(""), dump},
		{"--symbols", "ftp://sesamuser:sesampassword@host/", dump}, {"diff", dump, dump}, {"--minidump", filepath.Join(out, "m"), dump}, {dead},
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), append([]string{"-v", "--cache", cache, "--symbols", stores(""), "--symbols", dead}, args...), &stdout, &stderr)
		if args[0] == "diff" {
			code = run(t.Context(), args, &stdout, &stderr)
		}
		if code == 0 && stdout.Len() == 0 && args[0] != "--out" && args[1] != "--out" {
			t.Errorf("%s: nothing", args)
		}
		testfile.NoSecrets(t, []string{stdout.String(), stderr.String()}, cache, out)
	}

	// The symbol file was kept, with its address.
	kept := filepath.Join(cache, "test_app.pdb/5A9832E5287241C1838ED98914E9B7FF1/test_app.sym")
	text, err := os.ReadFile(kept)
	if err != nil || !bytes.Contains(text, []byte("\nINFO URL http://xxxxx@127.0.0.1:")) {
		t.Errorf("%v: no address in %s", err, kept)
	}
}
