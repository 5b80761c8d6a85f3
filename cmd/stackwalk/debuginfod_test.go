//go:build unix

package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"symkit/test/programtest"
)

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
	tested.Waits(t, "--brief", "--sysroot", t.TempDir(), core)
}
