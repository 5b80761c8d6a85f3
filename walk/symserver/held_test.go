package symserver

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"symkit/internal/fetch"
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
	if !s.leave(fetch.ErrSpace) || s.leave(fetch.ErrSpace) {
		t.Error("left twice, or not at all")
	}
	got, err := lookup(t, s, module())
	if err != nil || got == "" || len(files(t, cache)) > 0 || len(told) != 1 || !errors.Is(told[0], fetch.ErrSpace) {
		t.Errorf("%q, %v; in the cache: %q; told %v", got, err, files(t, cache), told)
	}
}

// fullOnce is a client whose first answer ends as if the disk was full.
type fullOnce struct{ asked int }

// RoundTrip implements http.RoundTripper.
func (f *fullOnce) RoundTrip(r *http.Request) (*http.Response, error) {
	f.asked++
	body := io.Reader(strings.NewReader(symText))
	if f.asked == 1 {
		body = io.MultiReader(strings.NewReader(symText[:strings.IndexByte(symText, 10)+5]), iotest.ErrReader(&os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}))
	}
	return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Body: io.NopCloser(body), ContentLength: -1, Request: r}, nil
}

// TestDiskBecomesFull: a file that did not fit is fetched again, to elsewhere.
func TestDiskBecomesFull(t *testing.T) {
	cache, transport := t.TempDir(), &fullOnce{}
	s := client(t, "http://server.example", cache)
	s.HTTP = &http.Client{Transport: transport}
	var told []error
	s.Uncached = func(err error) { told = append(told, err) }
	got, err := lookup(t, s, module())
	if err != nil || got != "main" || transport.asked != 2 || len(files(t, cache)) > 0 || len(told) != 1 || !errors.Is(told[0], syscall.ENOSPC) {
		t.Errorf("%q, %v; asked %d times; in the cache: %q; told %v", got, err, transport.asked, files(t, cache), told)
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
