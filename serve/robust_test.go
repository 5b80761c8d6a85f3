package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"symkit/serve/internal/depot"
)

// TestSlow: a client that sends nothing gets 408 or loses its connection; others are served meanwhile.
func TestSlow(t *testing.T) {
	r := start(t, t.TempDir(), Options{Stall: 300 * time.Millisecond, Uploads: 2})
	h := sampleOf(t, hello)
	r.put(t, h.key(), h.sym)
	for _, head := range []string{
		"POST /upload/ HTTP/1.1\r\nHost: x\r\nAuth-Token: " + token + "\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 1000000\r\n\r\n--x\r\n",
		"POST /sym-upload HTTP/1.1\r\nHost: x\r\nAuth-Token: " + token + "\r\nContent-Type: multipart/form-data; boundary=x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n--x\r\n\r\n",
		"POST /upload/v2/ HTTP/1.1\r\nHost: x\r\nAuth-Token: " + token + "\r\nContent-Length: 10\r\n\r\n{",
	} {
		c, err := net.Dial("tcp", r.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, err = io.WriteString(c, head)
		if err != nil {
			t.Fatal(err)
		}
		if a := r.get(t, "/"+h.key()); a.status != 200 {
			t.Errorf("beside it: %+v", a)
		}
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
		text, err := io.ReadAll(c)
		if err != nil || !strings.Contains(string(text), " 408 ") && len(text) > 0 {
			t.Errorf("%.40q: %v, %s", head, err, text)
		}
	}
	r.nothingLeft(t)
}

// TestTooLarge: bodies, files, and what packed files unpack to are bounded.
func TestTooLarge(t *testing.T) {
	r := start(t, t.TempDir(), Options{MaxUpload: 1 << 20, MaxFile: 2 << 20, MaxUnpacked: 3 << 20})
	h := sampleOf(t, hello)
	zeros := bytes.Repeat([]byte("x"), 3<<20)
	for what, a := range map[string]answer{
		"body":     r.tecken(t, append(zipOf(t, h.key(), h.sym), zeros...)),
		"member":   r.tecken(t, zipOf(t, h.key(), zeros[:2<<20+1])),
		"together": r.tecken(t, zipOf(t, h.key(), zeros[:3<<19], "b/AB/b.sym", zeros[:3<<19], "c/AC/c.sym", zeros[:3<<19])),
	} {
		if a.status != 413 || !strings.Contains(a.body, "error") {
			t.Errorf("%s: %+v", what, a)
		}
	}
	url := r.announce(t, announced(h.key(), h.sym))[0].URL
	if a := r.do(t, "PUT", url, bytes.NewReader(gzipped(t, zeros))); a.status != 413 {
		t.Errorf("%+v", a)
	}
	r.nothingLeft(t)
}

// TestBomb: packed data that no symbol file packs to is refused after a while.
func TestBomb(t *testing.T) {
	r := start(t, t.TempDir(), Options{})
	h := sampleOf(t, hello)
	bomb := gzipped(t, make([]byte, 100<<20))
	url := r.announce(t, announced(h.key(), h.sym))[0].URL
	if a := r.do(t, "PUT", url, bytes.NewReader(bomb)); a.status != 400 || !strings.Contains(a.body, "256 times its size") {
		t.Errorf("%+v", a)
	}
	r.nothingLeft(t)
}

// slow is a depot that takes long to store a file.
type slow struct{ depot.Depot }

func (s slow) Put(ctx context.Context, key string, blob *depot.Blob, old *depot.File) error {
	select {
	case <-time.After(500 * time.Millisecond):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return s.Depot.Put(ctx, key, blob, old)
}

// defect is a depot that panics.
type defect struct{ depot.Depot }

func (defect) Open(context.Context, string) (io.ReadSeekCloser, depot.File, error) { panic("planted") }

// over runs a server over a depot that make makes of that of a directory.
func over(t *testing.T, opt Options, make func(depot.Depot) depot.Depot) *running {
	t.Helper()
	r := &running{dir: t.TempDir(), journal: &lines{}}
	d, err := depot.OpenDirectory(r.dir, "")
	if err != nil {
		t.Fatal(err)
	}
	opt.Tokens = filepath.Join(t.TempDir(), "tokens")
	err = os.WriteFile(opt.Tokens, []byte("ci upload "+token), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newServer(make(d), opt)
	if err != nil {
		t.Fatal(err)
	}
	r.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		r.Server.Close()
		s.Close()
	})
	return r
}

// TestLong: a client that has sent all has no time limit but that of the request, and a connection that was idle for
// long still gives answers without a body.
func TestLong(t *testing.T) {
	r := over(t, Options{Stall: 200 * time.Millisecond}, func(d depot.Depot) depot.Depot { return slow{d} })
	h := sampleOf(t, hello)
	body, kind := formOf(t, "symbol_file", h.sym)
	if a := r.do(t, "POST", "/sym-upload?key="+token, body, "Content-Type: "+kind); a.status != 200 {
		t.Errorf("%+v", a)
	}
	var tag string
	for i := range 3 {
		req, err := http.NewRequest("GET", r.URL+"/"+h.key(), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("If-None-Match", tag)
		resp, err := r.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		tag = resp.Header.Get("ETag")
		if want := []int{200, 304, 304}[i]; err != nil || resp.StatusCode != want {
			t.Errorf("%d: %v, %v", i, resp.Status, err)
		}
		time.Sleep(300 * time.Millisecond)
	}
}

// TestDefect: a panic costs its request alone, and is in the log.
func TestDefect(t *testing.T) {
	var logged lines
	r := over(t, Options{Log: func(err error) { fmt.Fprintln(&logged, err) }}, func(d depot.Depot) depot.Depot { return defect{d} })
	a := r.get(t, "/a/AB/a.sym")
	if a.status != 500 || !strings.Contains(logged.String(), "planted") {
		t.Errorf("%+v, %s", a, logged.String())
	}
	if a := r.get(t, "/healthz"); a.status != 200 {
		t.Errorf("%+v", a)
	}
}

// failing is a depot whose writes, or reads, fail from the time that is wanted on.
type failing struct {
	depot.Depot
	mu          sync.Mutex
	read, write error
	puts        int // that succeed first
}

func (f *failing) Put(ctx context.Context, key string, blob *depot.Blob, old *depot.File) error {
	f.mu.Lock()
	f.puts--
	fails := f.puts < 0
	f.mu.Unlock()
	if fails && f.write != nil {
		return f.write
	}
	return f.Depot.Put(ctx, key, blob, old)
}

func (f *failing) Stat(ctx context.Context, key string) (depot.File, error) {
	if f.read != nil {
		return depot.File{}, f.read
	}
	return f.Depot.Stat(ctx, key)
}

func (f *failing) Open(ctx context.Context, key string) (io.ReadSeekCloser, depot.File, error) {
	if f.read != nil {
		return nil, depot.File{}, f.read
	}
	return f.Depot.Open(ctx, key)
}

// TestFailing: a store that fails in the middle, or whose disk is full, gives a status and a text; what was answered 201
// before is there, nothing half is, and the same upload succeeds afterwards.
func TestFailing(t *testing.T) {
	h, c := sampleOf(t, hello), sampleOf(t, crash)
	for what, test := range map[string]struct {
		f      *failing
		status int
		text   string
	}{
		"full":    {&failing{write: &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}}, 507, "the server's disk is full"},
		"later":   {&failing{write: &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, puts: 1}, 507, "the server's disk is full"},
		"network": {&failing{write: errors.New("connection reset")}, 503, "the store cannot be used now"},
		"reading": {&failing{read: errors.New("connection reset")}, 503, "the store cannot be used now"},
	} {
		r := over(t, Options{}, func(d depot.Depot) depot.Depot {
			test.f.Depot = d
			return test.f
		})
		a := r.tecken(t, zipOf(t, h.key(), h.sym, c.key(), c.sym))
		if a.status != test.status || !strings.Contains(a.body, test.text) || a.header.Get("Retry-After") == "" {
			t.Errorf("%s: %+v", what, a)
		}
		if test.f.read != nil {
			a := r.get(t, "/"+h.key())
			if a.status != 503 || a.header.Get("Retry-After") == "" {
				t.Errorf("%s: %+v", what, a)
			}
		}
		r.nothingLeft(t)
		test.f.read, test.f.write = nil, nil
		a = r.tecken(t, zipOf(t, h.key(), h.sym, c.key(), c.sym))
		if a.status != 201 || r.get(t, "/"+h.key()).body != string(h.sym) {
			t.Errorf("%s, afterwards: %+v", what, a)
		}
	}
}

// TestParallel: many clients send better and worse files of the same modules to two servers over one directory, and read
// them meanwhile. Each answer is one of the files, whole, and in the end each module has its best one.
func TestParallel(t *testing.T) {
	dir := t.TempDir()
	servers := []*running{start(t, dir, Options{}), start(t, dir, Options{})}
	all := []*sample{sampleOf(t, hello), sampleOf(t, crash)}
	var group sync.WaitGroup
	for i := range 12 {
		group.Go(func() {
			r, s := servers[i%2], all[i/2%2]
			sym := s.poor
			if i >= 8 {
				sym = s.sym
			}
			for range 5 {
				a := r.tecken(t, zipOf(t, s.key(), sym))
				if a.status != 201 {
					t.Errorf("%+v", a)
				}
				got := r.get(t, "/"+s.key(), "Accept-Encoding: gzip")
				text := got.body
				if got.header.Get("Content-Encoding") == "gzip" {
					text = gunzipped(t, text)
				}
				if got.status != 200 || text != string(s.poor) && text != string(s.sym) {
					t.Errorf("%d, %d bytes", got.status, len(text))
				}
			}
		})
	}
	group.Wait()
	for _, s := range all {
		if got := servers[0].get(t, "/"+s.key()); got.body != string(s.sym) {
			t.Errorf("%s: %d bytes in the end", s.name, len(got.body))
		}
	}
	servers[0].nothingLeft(t)
}

// TestMetrics: figures, versions, health.
func TestMetrics(t *testing.T) {
	r := start(t, t.TempDir(), Options{Version: "v1.2.3"})
	h := sampleOf(t, hello)
	r.tecken(t, zipOf(t, h.key(), h.sym))
	r.get(t, "/"+h.key())
	r.get(t, "/a/AB/a.sym")
	a := r.get(t, "/metrics")
	for _, want := range []string{
		`symserve_decisions_total{protocol="tecken-v1",verdict="new"} 1`, `symserve_requests_total{route="GET /{name}/{id}/{file}",status="200"} 1`,
		`symserve_requests_total{route="GET /{name}/{id}/{file}",status="404"} 1`, `symserve_requests_total{route="POST /upload/{$}",status="201"} 1`,
		fmt.Sprintf(`symserve_sent_bytes_total{route="GET /{name}/{id}/{file}"} %d`, len(h.sym)+len("the store has no such file\n")), "symserve_requests_in_flight 1", "go_goroutines",
	} {
		if !strings.Contains(a.body, want+"\n") && !strings.Contains(a.body, want+" ") {
			t.Errorf("no %s", want)
		}
	}
	for path, want := range map[string]string{"/healthz": "ok", "/__heartbeat__": "ok", "/__lbheartbeat__": "{}", "/__version__": `"version": "v1.2.3"`, "/": "symbol server"} {
		if a := r.get(t, path); a.status != 200 || !strings.Contains(a.body, want) {
			t.Errorf("%s: %+v", path, a)
		}
	}
}
