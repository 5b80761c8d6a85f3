package main

import (
	"bytes"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"symkit/test/testfile"
)

// TestSecrets: the password and the token of an address are in no output, whatever fails.
func TestSecrets(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	const name = "lang-x86_64-gcc12-O2-dw5.elf"
	url := testfile.SecretServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := map[string]string{"/" + name: "../../testdata/elf/" + name, "/own.sym": "../../check/testdata/own/" + name + ".sym"}[r.URL.Path]
		data, err := testfile.Read(from)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}))
	out := t.TempDir()
	sym, elf := url("/own.sym"), url("/"+name)
	for _, args := range [][]string{
		{sym}, {sym, elf}, {"--format=json", sym, elf}, {"--format=html", sym, elf}, {"--format=sarif", sym}, {"--format=junit", sym}, {"--format=github", sym},
		{"-v", sym, elf}, {elf}, {elf, sym}, {url("/none")}, {sym, url("/none")}, {"lint", sym}, {"diff", sym, sym}, {"diff", sym, elf}, {"diff", "--format=html", sym, sym},
		{"stats", sym}, {"--output", filepath.Join(out, "report"), sym, elf}, {"--bogus", sym}, {"--debug-dir", url(""), sym, elf}, {sym, elf, elf}, {"--format", url(""), sym},
	} {
		var stdout, stderr bytes.Buffer
		run(t.Context(), args, &stdout, &stderr)
		if stdout.Len()+stderr.Len() == 0 && args[0] != "--output" && args[0] != "lint" && args[0] != "diff" {
			t.Errorf("%s: nothing", args)
		}
		testfile.NoSecrets(t, []string{stdout.String(), stderr.String()}, out)
	}
}
