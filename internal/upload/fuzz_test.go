package upload

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// answering is a network on which every request has one answer.
type answering func(r *http.Request) *http.Response

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
	return a(r), nil
}

// FuzzAnswers: whatever a server answers, a file is sent or there is an error of a known kind, which is printable and
// bounded. The number of requests is bounded, too.
func FuzzAnswers(f *testing.F) {
	for i, body := range []string{
		`{"upload_api_version": 2, "upload_protocol": "gcs-resumable", "files": [{"key": "a/1/a.sym", "action": {"type": "upload", "url": "http://h/x", "content_encoding": "gzip"}}]}`,
		`{"upload_api_version": 2, "upload_protocol": "gcs-resumable", "files": [{"key": "a/1/a.sym", "action": {"type": "error", "msg": "x"}}]}`,
		`{"upload": {"skipped_keys": ["a/1/a.sym"]}}`, `{"error": {"x": "y"}}`,
		`{"url": "/x", "chunkSize": 1024, "chunksPerRequest": 1, "maxRequestSize": 1024, "hashAlgorithm": "sha1", "accept": ["debug_files"], "da39a3ee5e6b4b0d3255bfef95601890afd80709": {"state": "assembling", "missingChunks": ["x"], "detail": "d"}}`,
		`{"status": "FOUND", "uploadUrl": "http://h/x", "uploadKey": "k", "result": "OK"}`, `{"status": "x", "upload_url": "ftp://h/x", "upload_key": "k"}`,
	} {
		for protocol := range byte(3) {
			f.Add(protocol, uint16(200+i%2), body, "bytes=0-0")
			f.Add(protocol, uint16(308), body, "bytes=0-99999999999999999999")
			f.Add(protocol, uint16(400+i), body, "")
		}
	}
	f.Fuzz(func(t *testing.T, protocol byte, status uint16, body, kept string) {
		status = 200 + status%300
		if status == 408 || status == 429 {
			status = 400 // would be repeated
		}
		requests := 0
		web := &http.Client{Transport: answering(func(r *http.Request) *http.Response {
			requests++
			code := int(status)
			if requests == 1 {
				code = 200
			}
			return &http.Response{
				StatusCode: code, Status: http.StatusText(code), Header: http.Header{"Range": {kept}, "Location": {"http://u:sesam@h/"}},
				Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r,
			}
		}), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

		wait := usualWait
		network, usualWait = web, 20*poll
		defer func() { network, usualWait = nil, wait }()
		at := []string{"tecken+http://h/", "sentry+http://h/o/p", "breakpad+http://h/b"}[protocol%3]
		s, err := Open(context.Background(), at, "sesam")
		if err == nil {
			_, err = s.Has(t.Context(), "a/1/a.sym")
		}
		if err == nil {
			_, err = s.Send(t.Context(), []string{"a/1/a.sym"}, Symbols, func(w io.Writer) error {
				_, err := io.WriteString(w, "MODULE Linux x86 1 a\n")
				return err
			})
		}
		if requests > 200 {
			t.Errorf("%d requests", requests)
		}
		if err == nil {
			return
		}
		text := err.Error()
		if strings.Contains(text, "sesam") && !strings.Contains(body, "sesam") || len(text) > 1500 || strings.ContainsAny(text, "\x1b\n\r\x00") {
			t.Errorf("%d: %q", len(text), text)
		}
		if errors.Is(err, ErrToken) && !errors.Is(err, ErrServer) {
			t.Errorf("%v", err)
		}
	})
}
