package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoCache: files from servers are used where none can be kept: without a home directory, and
// in a cache that cannot be written. One warning has the reason.
func TestNoCache(t *testing.T) {
	server := httptest.NewServer(http.FileServer(http.Dir("testdata/breakpad/symbols")))
	defer server.Close()
	const dump = "../../walk/minidump/testdata/minidump2.dmp"
	walked := func(args ...string) (stdout, stderr string) {
		var out, messages bytes.Buffer
		code := run(t.Context(), append(args, "--brief", "--symbols", server.URL, dump), &out, &messages)
		if code != 0 {
			t.Errorf("%s: %d: %s", args, code, &messages)
		}
		return out.String(), messages.String()
	}
	want, _ := walked("--cache", t.TempDir())
	if !strings.Contains(want, "`anonymous namespace'::CrashFunction") {
		t.Fatal(want)
	}

	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(name, "")
	}
	for _, args := range [][]string{nil, {"--cache", file}} {
		got, messages := walked(args...)
		const text = "stackwalk: warning: files from servers are not kept for the next run: "
		if got != want || strings.Count(messages, "\n") != 1 || !strings.HasPrefix(messages, text) || args != nil && !strings.Contains(messages, "not a directory") {
			t.Errorf("%s: %s\n%s", args, messages, got)
		}
	}
}

// TestDeadServer: a server that cannot be reached is one warning, whatever the number of modules,
// and in a batch one for all dumps. The warning has the address of the server alone.
func TestDeadServer(t *testing.T) {
	const dump = "../../walk/minidump/testdata/minidump2.dmp"
	t.Setenv("DEBUGINFOD_URLS", "http://127.0.0.1:2/d")
	t.Setenv("DEBUGINFOD_CACHE_PATH", t.TempDir())
	out := t.TempDir()
	for _, args := range [][]string{{dump}, {"--out", out, dump, "../../walk/minidump/testdata/linux-mini.dmp"}} {
		var stdout, stderr bytes.Buffer
		run(t.Context(), append([]string{"--cache", t.TempDir(), "--symbols", "http://127.0.0.1:1/s"}, args...), &stdout, &stderr)
		n := strings.Count(stderr.String(), "connection refused")
		if n != strings.Count(stderr.String(), "warning: http://127.0.0.1:1/s: dial")+strings.Count(stderr.String(), "warning: http://127.0.0.1:2/d: dial") ||
			strings.Count(stderr.String(), "127.0.0.1:1/s") != 1 || strings.Count(stderr.String(), "127.0.0.1:2/d") > 1 || strings.Contains(stderr.String(), ".sym") {
			t.Errorf("%s: %s", args, &stderr)
		}
	}
}
