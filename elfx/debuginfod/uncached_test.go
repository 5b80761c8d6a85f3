//go:build unix

package debuginfod

import (
	"bytes"
	"encoding/hex"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"symkit/test/testfile"
)

// TestUncached: a file is used where the cache cannot be written. It is fetched once, and the reason is
// told once.
func TestUncached(t *testing.T) {
	data, id := fixtureData(t, fixture)
	occupied := filepath.Join(t.TempDir(), "file")
	err := os.WriteFile(occupied, nil, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	for cache, want := range map[string]string{"": ErrNoCache.Error(), occupied: "not a directory"} {
		url, asked := server(t, serve(data))
		var told []error
		c := &Client{URLs: []string{url}, Cache: cache, Uncached: func(err error) { told = append(told, err) }}
		for range 2 {
			path, err := c.Find(t.Context(), id, DebugInfo)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); !bytes.Equal(got, data) || err != nil {
				t.Errorf("%q: %d bytes, %v", cache, len(got), err)
			}
			if got, want := c.Source(path), url+"/buildid/"+hex.EncodeToString(id)+"/debuginfo"; got != want {
				t.Errorf("%q: source %q, want %q", cache, got, want)
			}
		}
		_, err := c.Find(t.Context(), id, Executable)
		if err != nil {
			t.Error(err)
		}
		if len(asked()) != 2 || len(told) != 1 || !strings.Contains(told[0].Error(), want) {
			t.Errorf("%q: asked for %q, told %q, want %q", cache, asked(), told, want)
		}
	}
}

// TestUncachedWrong: a file without a name is verified, too.
func TestUncachedWrong(t *testing.T) {
	wrong, _ := fixtureData(t, other)
	_, id := fixtureData(t, fixture)
	url, _ := server(t, serve(wrong))
	c := &Client{URLs: []string{url}}
	_, err := c.Find(t.Context(), id, DebugInfo)
	if !errors.Is(err, ErrOtherBuildID) {
		t.Error(err)
	}
}

// TestWaiting: a server that does not answer is told long before it is given up, and once.
func TestWaiting(t *testing.T) {
	testfile.Patiently(t, 200*time.Millisecond, func(timeout time.Duration) string {
		url, _ := server(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		var told []string
		c := &Client{URLs: []string{url}, Cache: t.TempDir(), Timeout: timeout}
		c.Waiting = func(server string, waited, limit time.Duration) {
			if limit != timeout || waited != timeout/4 {
				t.Errorf("waited %v of %v", waited, limit)
			}
			told = append(told, server)
		}
		for range 2 {
			_, err := c.Find(t.Context(), []byte{1, 2}, DebugInfo)
			if !errors.Is(err, ErrTimeout) {
				t.Error(err)
			}
		}
		if len(told) != 1 || told[0] != url {
			return strings.Join(told, " ")
		}
		return ""
	})
}
