package symserver

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"symkit/test/testfile"
)

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
