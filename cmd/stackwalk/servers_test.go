package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"symkit/internal/programtest"
	"symkit/internal/testfile"
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

// TestNoDebuginfodCache: a file from a debuginfod server is used where it cannot be kept, with one
// warning, and leaves nothing but the address of the server in the output.
func TestNoDebuginfodCache(t *testing.T) {
	elf := programtest.Fixture(t, "crash-x86_64-gcc12-O2-dw5.elf")
	core := programtest.Write(t, filepath.Join(t.TempDir(), "core"), programtest.Fixture(t, "crash-x86_64-gcc12-O2-dw5.core"))
	const id = "/buildid/d5e5470888e1bef872f06618d991c7e6"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, id) {
			http.NotFound(w, r)
			return
		}
		w.Write(elf)
	}))
	defer server.Close()
	t.Setenv("DEBUGINFOD_URLS", server.URL)
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(name, "")
	}
	sysroot := t.TempDir()
	walked := func(cache string) (stdout, stderr string) {
		t.Setenv("DEBUGINFOD_CACHE_PATH", cache)
		var out, messages bytes.Buffer
		code := run(t.Context(), []string{"--format=json", "--sysroot", sysroot, core}, &out, &messages)
		if code != 0 {
			t.Errorf("%d: %s", code, &messages)
		}
		return out.String(), messages.String()
	}
	cache := t.TempDir()
	want, _ := walked(cache)
	want = regexp.MustCompile(`"[^"]*`+regexp.QuoteMeta(cache)+`/([^"]*)"`).ReplaceAllString(want, `"`+server.URL+`/buildid/$1"`)
	if !strings.Contains(want, server.URL) || !strings.Contains(want, `"function":"`) {
		t.Fatal(want)
	}

	got, messages := walked("")
	const warning = "stackwalk: warning: files from servers are not kept for the next run: neither DEBUGINFOD_CACHE_PATH, XDG_CACHE_HOME nor HOME is set; give a directory with DEBUGINFOD_CACHE_PATH\n"
	if got != want || strings.Count(messages, "not kept") != 1 || !strings.Contains(messages, warning) {
		t.Errorf("%s\n%s\nwant\n%s", messages, got, want)
	}
}

// TestWaiting: a server that does not answer is one line long before it is given up.
func TestWaiting(t *testing.T) {
	core := programtest.Write(t, filepath.Join(t.TempDir(), "core"), programtest.Fixture(t, "crash-x86_64-gcc12-O2-dw5.core"))
	url, _ := testfile.StalledServer(t)
	t.Setenv("DEBUGINFOD_URLS", url)
	t.Setenv("DEBUGINFOD_TIMEOUT", "1")
	t.Setenv("DEBUGINFOD_CACHE_PATH", t.TempDir())
	var stdout, stderr bytes.Buffer
	run(t.Context(), []string{"--brief", "--sysroot", t.TempDir(), core}, &stdout, &stderr)
	waiting := "stackwalk: waiting for " + url + ", 0.25 s so far, at most 1s (DEBUGINFOD_TIMEOUT)\n"
	if !strings.HasPrefix(stderr.String(), waiting) || strings.Count(stderr.String(), "waiting") != 1 {
		t.Errorf("%s\nwant first: %s", &stderr, waiting)
	}
}
