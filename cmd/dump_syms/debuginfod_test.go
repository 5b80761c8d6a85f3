//go:build unix

package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// TestNoDebuginfodCache: a debug file from a server is used where it cannot be kept, with one warning.
func TestNoDebuginfodCache(t *testing.T) {
	stripped := fixtureFile(t, "cxx-x86_64-gcc12-O2-dw5-stripped.elf")
	debug, err := os.ReadFile(fixtureFile(t, "cxx-x86_64-gcc12-O2-dw5-stripped.debug"))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write(debug) }))
	defer server.Close()
	t.Setenv("DEBUGINFOD_URLS", server.URL)
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(name, "")
	}

	var texts []string
	for cache, want := range map[string]string{t.TempDir(): "", "": "neither DEBUGINFOD_CACHE_PATH, XDG_CACHE_HOME nor HOME is set", stripped: "not a directory"} {
		t.Setenv("DEBUGINFOD_CACHE_PATH", cache)
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), []string{stripped}, &stdout, &stderr)
		if code != 0 || !strings.Contains(stderr.String(), want) || strings.Count(stderr.String(), "\n") != min(len(want), 1) {
			t.Errorf("%q: %d, %s", cache, code, &stderr)
		}
		texts = append(texts, stdout.String())
	}
	if texts[0] != texts[1] || texts[1] != texts[2] || !strings.Contains(texts[0], "\nFUNC ") {
		t.Error("the symbols differ, or have no functions")
	}
}

// TestWaiting: a server that does not answer is one line long before it is given up, also in a batch.
func TestWaiting(t *testing.T) {
	stripped := fixtureFile(t, "cxx-x86_64-gcc12-O2-dw5-stripped.elf")
	tested.Waits(t, "-s", t.TempDir(), stripped)
}
