//go:build oracle

package debuginfod

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"symkit/test/testfile"
)

// find runs debuginfod-find with a cache and servers.
func find(t *testing.T, cache, urls string, id []byte) (string, error) {
	t.Helper()
	cmd := exec.Command("debuginfod-find", "debuginfo", hex.EncodeToString(id))
	cmd.Env = append(os.Environ(), "DEBUGINFOD_URLS="+urls, "DEBUGINFOD_CACHE_PATH="+cache, "LC_ALL=C")
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(exit.Stderr), err
	} else if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out)), nil
}

// TestOracleServer fetches from the real server, and shares the cache with the
// real client in both directions, misses included.
func TestOracleServer(t *testing.T) {
	data, id := fixtureData(t, fixture)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "program"), data, 0o755); err != nil {
		t.Fatal(err)
	}
	url := testfile.Debuginfod(t, dir)
	const noServer = "http://127.0.0.1:1"

	ours := &Client{URLs: []string{url}, Cache: filepath.Join(t.TempDir(), "ours"), Timeout: DefaultTimeout}
	for _, kind := range []Kind{DebugInfo, Executable} {
		path, err := ours.Find(t.Context(), id, kind)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); !bytes.Equal(got, data) || err != nil {
			t.Errorf("%s: %d bytes, %v", kind, len(got), err)
		}
	}
	theirs := filepath.Join(t.TempDir(), "theirs")
	want, err := find(t, theirs, url, id)
	if err != nil {
		t.Fatal(want, err)
	}
	if got, err := find(t, ours.Cache, noServer, id); err != nil || filepath.Base(got) != filepath.Base(want) {
		t.Errorf("debuginfod-find in our cache: %s, %v", got, err)
	}
	cached := &Client{URLs: []string{noServer}, Cache: theirs}
	if got, err := cached.Find(t.Context(), id, DebugInfo); got != want || err != nil {
		t.Errorf("in debuginfod-find's cache: %s, %v, want %s", got, err, want)
	}

	unknown := bytes.Repeat([]byte{0xee}, 20)
	if _, err := ours.Find(t.Context(), unknown, DebugInfo); !errors.Is(err, ErrNotFound) {
		t.Errorf("unknown: %v", err)
	}
	// The server that is not there would be another error.
	if text, err := find(t, ours.Cache, noServer, unknown); err == nil || !strings.Contains(text, "No such file or directory") {
		t.Errorf("our miss, read by debuginfod-find: %s, %v", text, err)
	}
	if _, err := find(t, theirs, url, unknown); err == nil {
		t.Error("debuginfod-find found it")
	}
	if _, err := cached.Find(t.Context(), unknown, DebugInfo); !errors.Is(err, ErrNotFound) || strings.Contains(err.Error(), noServer) {
		t.Errorf("debuginfod-find's miss: %v", err)
	}
}
