package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// service is an S3 service with one bucket, as far as the client needs it. With fault
// set, requests fail as fault says until it returns false. The real services are tested
// in test/cluster.
type service struct {
	mu      sync.Mutex
	objects map[string][]byte
	headers map[string]http.Header
	parts   map[string][]byte
	puts    map[string]int // by key: how often an object was made
	// noConditions refuses conditions of requests that remove.
	noConditions bool
	fault        func(w http.ResponseWriter, r *http.Request) bool
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault != nil && s.fault(w, r) {
		return
	}
	s.serve(w, r)
}

// serve answers a request. s.mu is locked.
func (s *service) serve(w http.ResponseWriter, r *http.Request) {
	key, ok := strings.CutPrefix(r.URL.Path, "/bucket/")
	if r.URL.Path == "/bucket" && r.URL.Query().Get("list-type") == "2" {
		s.list(w, r.URL.Query())
		return
	}
	if !ok {
		answer(w, http.StatusNotFound, "NoSuchBucket")
		return
	}
	body, _ := io.ReadAll(r.Body)
	body = unchunked(r, body)
	old, exists := s.objects[key]
	conflict := exists && r.Header.Get("If-None-Match") == "*"
	q := r.URL.Query()
	switch {
	case r.Method == http.MethodDelete && q.Has("uploadId"): // an upload that was given up
	case r.Method == http.MethodDelete && r.Header.Get("If-Match") != "" && s.noConditions:
		answer(w, http.StatusNotImplemented, "NotImplemented")
	case r.Method == http.MethodDelete && !exists:
		answer(w, http.StatusNotFound, "NoSuchKey")
	case r.Method == http.MethodDelete && r.Header.Get("If-Match") != "" && r.Header.Get("If-Match") != tag(old):
		answer(w, http.StatusPreconditionFailed, "PreconditionFailed")
	case r.Method == http.MethodDelete:
		delete(s.objects, key)
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodGet && exists, r.Method == http.MethodHead && exists:
		for name, values := range s.headers[key] {
			if strings.HasPrefix(name, "X-Amz-Meta-") {
				w.Header()[name] = values
			}
		}
		w.Header().Set("ETag", tag(old))
		w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
		w.Write(old)
	case r.Method == http.MethodGet, r.Method == http.MethodHead:
		answer(w, http.StatusNotFound, "NoSuchKey")
	case r.Method == http.MethodPost && q.Has("uploads"):
		s.headers["upload of "+key] = r.Header
		fmt.Fprint(w, `<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>`)
	case r.Method == http.MethodPut && q.Has("partNumber"):
		s.parts[key+q.Get("partNumber")] = body
		w.Header().Set("ETag", `"p"`)
	case conflict:
		answer(w, http.StatusPreconditionFailed, "PreconditionFailed")
	case r.Method == http.MethodPost:
		s.objects[key] = slicesConcat(s.parts[key+"1"], s.parts[key+"2"], s.parts[key+"3"])
		s.headers[key] = s.headers["upload of "+key]
		s.puts[key]++
		fmt.Fprint(w, `<CompleteMultipartUploadResult><Bucket>bucket</Bucket><ETag>"x"</ETag></CompleteMultipartUploadResult>`)
	case r.Method == http.MethodPut:
		s.objects[key], s.headers[key] = body, r.Header
		s.puts[key]++
		w.Header().Set("ETag", `"x"`)
	}
}

// tag returns the tag of an object; small ones have those of the tests that name one.
func tag(data []byte) string {
	if strings.HasPrefix(string(data), "tagged") {
		return fmt.Sprintf("%q", data)
	}
	return `"x"`
}

// list answers a request for a list, two objects at a time.
func (s *service) list(w http.ResponseWriter, q url.Values) {
	from, _ := strconv.Atoi(q.Get("continuation-token"))
	var keys []string
	for key := range s.objects {
		if strings.HasPrefix(key, q.Get("prefix")) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	to := min(from+2, len(keys))
	fmt.Fprintf(w, "<ListBucketResult><IsTruncated>%v</IsTruncated><NextContinuationToken>%d</NextContinuationToken>", to < len(keys), to)
	for _, key := range keys[from:to] {
		fmt.Fprintf(w, "<Contents><Key>%s</Key><Size>%d</Size><ETag>&quot;x&quot;</ETag><LastModified>2026-01-02T03:04:05.000Z</LastModified></Contents>", key, len(s.objects[key]))
	}
	fmt.Fprint(w, "</ListBucketResult>")
}

func slicesConcat(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// unchunked removes the frames of a streamed and signed body.
func unchunked(r *http.Request, body []byte) []byte {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING") {
		return body
	}
	var out []byte
	for len(body) > 0 {
		head, rest, _ := bytes.Cut(body, []byte("\r\n"))
		var n int
		fmt.Sscanf(string(head), "%x", &n)
		if n == 0 {
			break
		}
		out, body = append(out, rest[:n]...), rest[n+2:]
	}
	return out
}

func answer(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, `<Error><Code>%s</Code><Message>message</Message></Error>`, code)
}

// start runs a service and opens its bucket.
func start(t *testing.T) (*service, *Bucket) {
	t.Helper()
	s := &service{objects: map[string][]byte{}, headers: map[string]http.Header{}, parts: map[string][]byte{}, puts: map[string]int{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	b, err := Open(t.Context(), "s3://bucket/some/prefix/")
	if err != nil {
		t.Fatal(err)
	}
	b.pause = 1
	return s, b
}

func TestCreate(t *testing.T) {
	s, b := start(t)
	ctx := t.Context()
	text := bytes.NewReader([]byte("text"))
	h := Header{ContentType: "text/plain", ContentEncoding: "gzip", Meta: map[string]string{"original_size": "4"}}
	if err := b.Create(ctx, "a/b.sym", text, h, false); err != nil {
		t.Fatal(err)
	}
	const key = "some/prefix/a/b.sym"
	got := s.headers[key]
	if string(s.objects[key]) != "text" || got.Get("Content-Type") != "text/plain" || !strings.Contains(got.Get("Content-Encoding"), "gzip") ||
		got.Get("X-Amz-Meta-Original_size") != "4" {
		t.Errorf("%q, %v", s.objects[key], got)
	}
	if is, err := b.Exists(ctx, "a/b.sym"); !is || err != nil {
		t.Error(is, err)
	}
	if is, err := b.Exists(ctx, "a/c.sym"); is || err != nil {
		t.Error(is, err)
	}

	// A second writer neither replaces the object nor reads it.
	other := bytes.NewReader([]byte("other"))
	if err := b.Create(ctx, "a/b.sym", other, h, false); !errors.Is(err, fs.ErrExist) || string(s.objects[key]) != "text" {
		t.Errorf("%v, %q", err, s.objects[key])
	}
	if err := b.Create(ctx, "a/b.sym", other, h, true); err != nil || string(s.objects[key]) != "other" {
		t.Errorf("%v, %q", err, s.objects[key])
	}

	r, info, err := b.Get(ctx, "a/b.sym")
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if string(data) != "other" || info.Size != 5 || err != nil || r.Close() != nil {
		t.Errorf("%q, %v, %v", data, info, err)
	}
}

// TestMultipart: a large object is sent in parts.
func TestMultipart(t *testing.T) {
	s, b := start(t)
	data := make([]byte, partSize+5)
	data[partSize+1] = 1
	for _, want := range []error{nil, fs.ErrExist} {
		err := b.Create(t.Context(), "large", bytes.NewReader(data), Header{}, false)
		if !errors.Is(err, want) {
			t.Fatal(err)
		}
	}
	if key := "some/prefix/large"; !bytes.Equal(s.objects[key], data) || s.puts[key] != 1 {
		t.Errorf("%d bytes, sent %d times", len(s.objects[key]), s.puts[key])
	}
}

// TestFaults: what may pass is repeated, until the object is there once.
func TestFaults(t *testing.T) {
	for name, fault := range map[string]func(w http.ResponseWriter, r *http.Request){
		"503": func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusServiceUnavailable, "SlowDown") },
		"500": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"cut": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		s, b := start(t)
		n := 0
		s.fault = func(w http.ResponseWriter, r *http.Request) bool {
			n++
			if n < 5 {
				fault(w, r)
			}
			return n < 5
		}
		err := b.Create(t.Context(), "a", bytes.NewReader([]byte("text")), Header{}, false)
		if err != nil || string(s.objects["some/prefix/a"]) != "text" || s.puts["some/prefix/a"] != 1 {
			t.Errorf("%s: %v, %q", name, err, s.objects)
		}
	}
}

// TestFinal: what another try would meet too is an error right away, in words.
func TestFinal(t *testing.T) {
	for code, want := range map[string]string{
		"SignatureDoesNotMatch": "the credentials are wrong (SignatureDoesNotMatch): message",
		"RequestTimeTooSkewed":  "the clock of this machine or of the server is wrong: message",
		"NoSuchBucket":          "the bucket does not exist",
		"AccessDenied":          "access denied",
		"QuotaExceeded":         "no space (QuotaExceeded)",
		"SomethingElse":         "SomethingElse: message",
	} {
		s, b := start(t)
		s.fault = func(w http.ResponseWriter, _ *http.Request) bool {
			answer(w, http.StatusForbidden, code)
			return true
		}
		err := b.Create(t.Context(), "a", bytes.NewReader(nil), Header{}, false)
		if err == nil || !strings.HasPrefix(err.Error(), "s3://bucket/some/prefix/a: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", code, err)
		}

		// 403 without a reason counts as absent, and nothing else does.
		_, err = b.Exists(t.Context(), "a")
		if code == "AccessDenied" && err != nil {
			t.Error(err)
		}
		if err := b.Check(t.Context()); (err == nil) != (code == "AccessDenied") {
			t.Errorf("%s: %v", code, err)
		}
	}
}

// TestAttempts: a service that stays away is an error, after few requests if it has never answered. The end of the
// context is an error too.
func TestAttempts(t *testing.T) {
	s, b := start(t)
	var n atomic.Int64
	s.fault = func(http.ResponseWriter, *http.Request) bool {
		n.Add(1)
		panic(http.ErrAbortHandler)
	}
	for _, want := range []int64{firstAttempts, attempts} {
		n.Store(0)
		if _, err := b.Exists(t.Context(), "a"); err == nil || err.Error() != "s3://bucket/some/prefix/a: EOF" || n.Load() != want {
			t.Errorf("%v after %d requests, want %d", err, n.Load(), want)
		}
		b.answered.Store(true)
	}

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	if _, err := b.Exists(ctx, "a"); err == nil || !strings.HasSuffix(err.Error(), "interrupted") {
		t.Error(err)
	}
}

func TestOpenErrors(t *testing.T) {
	for _, address := range []string{"s3://", "s3:///prefix", "http://bucket", "s3://user@bucket", "s3://bucket?x", "s3://bucket/../up", "s3://bucket/a/./b", "s3://bu cket", "s3://bucket/p?x=y"} {
		if _, err := Open(t.Context(), address); !errors.Is(err, ErrURL) {
			t.Errorf("%s: %v", address, err)
		}
	}
	t.Setenv("AWS_ENDPOINT_URL", "ftp://host")
	if _, err := Open(t.Context(), "s3://bucket"); err == nil {
		t.Error("an endpoint of another kind")
	}
	if !IsURL("s3://x") || IsURL("./s3") {
		t.Error("IsURL")
	}
}

// TestTransport: objects are files of an HTTP server.
func TestTransport(t *testing.T) {
	s, b := start(t)
	s.objects["some/prefix/a"] = []byte("text")
	buckets.Delete("bucket")
	t.Cleanup(func() { buckets.Delete("bucket") })
	for key, want := range map[string]string{"a?code_file=x": "200 text", "b": "404 "} {
		resp, err := Client().Get(b.URL("") + "/" + key)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if got := fmt.Sprint(resp.StatusCode, " ", string(body)); got != want || err != nil || resp.Body.Close() != nil {
			t.Errorf("%s: %s, %v", key, got, err)
		}
	}

	s.fault = func(w http.ResponseWriter, _ *http.Request) bool {
		answer(w, http.StatusForbidden, "InvalidAccessKeyId")
		return true
	}
	if _, err := Client().Get(b.URL("a")); err == nil || !strings.Contains(err.Error(), "the credentials are wrong") {
		t.Error(err)
	}
}
