package symserver

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"symkit/internal/download"
	"symkit/test/testfile"
)

// TestFullDisk: a file is used where the disk of the cache is full.
func TestFullDisk(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, symText) }))
	defer web.Close()
	cache := t.TempDir()
	s := client(t, web.URL, cache)
	var told []error
	s.Uncached = func(err error) { told = append(told, err) }
	if !s.leave(download.ErrSpace) || s.leave(download.ErrSpace) {
		t.Error("left twice, or not at all")
	}
	got, err := lookup(t, s, module())
	if err != nil || got == "" || len(files(t, cache)) > 0 || len(told) != 1 || !errors.Is(told[0], download.ErrSpace) {
		t.Errorf("%q, %v; in the cache: %q; told %v", got, err, files(t, cache), told)
	}
}

// TestWaiting: a server that does not answer is told once, long before it is given up.
func TestWaiting(t *testing.T) {
	testfile.Patiently(t, 200*time.Millisecond, func(timeout time.Duration) string {
		web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		defer web.Close()
		s := client(t, web.URL, t.TempDir())
		s.Timeout, s.Backoff = timeout, time.Millisecond
		var told []string
		s.Waiting = func(server string, _, _ time.Duration) { told = append(told, server) }
		_, err := lookup(t, s, module())
		if err == nil || len(told) != 1 || told[0] != web.URL {
			return err.Error()
		}
		return ""
	})
}
