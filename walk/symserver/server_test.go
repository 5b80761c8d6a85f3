package symserver

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"symkit/internal/download"
	"symkit/internal/filecache"
	"symkit/test/testfile"
	"symkit/walk"
	"symkit/walk/symbols/sources"
)

const (
	id      = "0123456789ABCDEF0123456789ABCDEF1"
	place   = "app.pdb/" + id + "/app.sym"
	symText = "MODULE windows x86_64 " + id + " app.pdb\nINFO CODE_ID 45D35F6C2D000\nFUNC 1000 10 0 main\n"
)

func module() *walk.Module {
	return &walk.Module{Path: `C:\dir\app.exe`, Name: "app.pdb", DebugID: id, CodeID: "45D35F6C2d000"}
}

// serve runs a server on loopback; attempts counts the requests.
func serve(t *testing.T, handle http.HandlerFunc) (s *Server, attempts *atomic.Int64) {
	t.Helper()
	attempts = &atomic.Int64{}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		attempts.Add(1)
		handle(w, r)
	}))
	t.Cleanup(web.Close)
	return client(t, web.URL+"/symbols", t.TempDir()), attempts
}

func client(t *testing.T, url, cache string) *Server {
	t.Helper()
	s, err := New(url, cache)
	if err != nil {
		t.Fatal(err)
	}
	s.Backoff = time.Millisecond
	return s
}

// lookup asks for m's symbols and returns the functions' name at 0x1000, or the
// last error.
func lookup(t *testing.T, s *Server, m *walk.Module) (string, error) {
	t.Helper()
	got := s.Symbols(t.Context(), m)
	if got.Index == nil {
		if len(got.Tried) == 0 {
			return "", errors.New("nothing was tried")
		}
		return "", got.Tried[len(got.Tried)-1].Err
	}
	defer got.Close()
	sym, _ := got.Index.Symbol(0x1000)
	return string(sym.Calls[0].Func), nil
}

// files lists the cache, without what servers lack.
func files(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.Contains(path, ".missing") {
			rel, _ := filepath.Rel(dir, path)
			out = append(out, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func gzipped(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	w.Close()
	return b.Bytes()
}

func zstded(text string) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return w.EncodeAll([]byte(text), nil)
}

// TestFetch: bodies that are plain, packed (as the header says or without a header), or packed
// twice; the request; the cache afterwards.
func TestFetch(t *testing.T) {
	for name, c := range map[string]struct {
		encoding string
		body     []byte
	}{
		"plain":                 {"", []byte(symText)},
		"without last newline":  {"", []byte(strings.TrimSuffix(symText, "\n"))},
		"gzip":                  {"gzip", gzipped(symText)},
		"zstd":                  {"zstd", zstded(symText)},
		"a file that is gzip":   {"", gzipped(symText)},
		"gzip of zstd":          {"gzip", gzipped(string(zstded(symText)))},
		"zstd without a header": {"", zstded(symText)},
	} {
		t.Run(name, func(t *testing.T) {
			var asked string
			s, attempts := serve(t, func(w http.ResponseWriter, r *http.Request) {
				asked = r.URL.String() + " " + r.Header.Get("Accept-Encoding")
				if c.encoding != "" {
					w.Header().Set("Content-Encoding", c.encoding)
				}
				w.Write(c.body)
			})
			for range 2 {
				if fn, err := lookup(t, s, module()); fn != "main" || err != nil {
					t.Fatalf("%q, %v", fn, err)
				}
			}
			const want = "/symbols/" + place + "?code_file=app.exe&code_id=45d35f6c2d000 zstd, gzip"
			if asked != want || attempts.Load() != 1 {
				t.Errorf("%d times %s; want %s", attempts.Load(), asked, want)
			}
			if got := files(t, s.Cache); len(got) != 1 || got[0] != place {
				t.Errorf("cache: %v", got)
			}
			text, err := os.ReadFile(filepath.Join(s.Cache, place))
			if err != nil {
				t.Fatal(err)
			}
			source := s.base.String() + "/" + place + "?code_file=app.exe&code_id=45d35f6c2d000"
			if string(text) != symText+"INFO URL "+source+"\n" {
				t.Errorf("%q", text)
			}
			if got := s.Symbols(t.Context(), module()); got.URL != source || got.Close() != nil {
				t.Errorf("from %s", got.URL)
			}
			store := &sources.Store{Dirs: []string{s.Cache}}
			if got := store.Symbols(t.Context(), module()); got.Index == nil || got.Close() != nil {
				t.Errorf("the cache is no store: %v", got.Tried)
			}
		})
	}
}

// TestFailures: what becomes of each kind of failure, how often it is asked
// again, in this run and in the next, and that nothing of it stays.
func TestFailures(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(code) }
	}
	body := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, text) }
	}
	bomb := gzipped(symText + strings.Repeat("x", 1<<22))
	for name, c := range map[string]struct {
		handle http.HandlerFunc
		want   error
		// requests of one lookup, and of a second lookup of another run
		first, second int64
	}{
		"404":            {status(404), ErrNotFound, 1, 0},
		"410":            {status(410), ErrNotFound, 1, 0},
		"403":            {status(403), ErrNotFound, 1, 0},
		"401":            {status(401), ErrStatus, 1, 1},
		"500":            {status(500), ErrStatus, 3, 3},
		"503":            {status(503), ErrStatus, 3, 3},
		"a web page":     {body("<!DOCTYPE html>"), ErrContent, 1, 1},
		"empty":          {body(""), ErrContent, 1, 1},
		"half a record":  {body("MODULE windows"), ErrContent, 1, 1},
		"no line":        {body("MODULE " + strings.Repeat("x", 1<<20)), ErrContent, 1, 1},
		"another module": {body(strings.Replace(symText, id, strings.Repeat("0", 33), 1)), sources.ErrOtherModule, 1, 1},
		"no records":     {body("MODULE windows x86_64 " + id + " app.pdb\n"), sources.ErrNoSymbols, 1, 1},
		"too large":      {body(symText + strings.Repeat("FILE 0 a\n", 1<<14)), ErrTooLarge, 1, 1},
		"a bomb":         {func(w http.ResponseWriter, r *http.Request) { w.Write(bomb) }, ErrTooLarge, 1, 1},
		"cut": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, symText)
		}, io.ErrUnexpectedEOF, 3, 3},
		"gzip that is cut": {func(w http.ResponseWriter, r *http.Request) { b := gzipped(symText); w.Write(b[:len(b)-9]) },
			io.ErrUnexpectedEOF, 3, 3},
		"silent": {func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, ErrStalled, 1, 1},
		"stalls": {func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, symText)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, ErrStalled, 3, 3},
		"goes in circles": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) }, download.ErrRedirect, 11, 11},
		"leads to a file": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "file:///etc/passwd")
			w.WriteHeader(http.StatusFound)
		}, download.ErrRedirect, 1, 1},
		"drips": {func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, symText)
			for r.Context().Err() == nil {
				io.WriteString(w, "F")
				w.(http.Flusher).Flush()
				time.Sleep(time.Millisecond)
			}
		}, ErrStalled, 3, 3},
		"takes for ever": {func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, ErrMaxTime, 1, 1},
		"endless, all in all": {func(w http.ResponseWriter, r *http.Request) {
			for _, err := io.WriteString(w, symText); err == nil; {
				_, err = io.WriteString(w, "FILE 0 a\n")
			}
		}, filecache.ErrTotal, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testfile.Patiently(t, 300*time.Millisecond, func(timeout time.Duration) string {
				s, attempts := serve(t, c.handle)
				s.MaxSize, s.Timeout = 1<<16, 20*time.Second
				if c.want == ErrStalled {
					s.Timeout = timeout
				}
				if c.want == ErrMaxTime {
					s.MaxTime = timeout
				}
				if c.want == filecache.ErrTotal {
					s.MaxSize, s.MaxTotal = 1<<40, 1<<16
				}

				m := module()
				m.Path, m.CodeID = "app.pdb", "" // one place only
				for run, want := range []int64{c.first, c.second} {
					if run > 0 {
						again := client(t, s.base.String(), s.Cache)
						again.MaxSize, again.MaxTotal, again.Timeout, again.MaxTime = s.MaxSize, s.MaxTotal, s.Timeout, s.MaxTime
						s = again
					}
					before := attempts.Load()
					_, err := lookup(t, s, m)
					if n := attempts.Load() - before; err == nil || c.want != nil && !errors.Is(err, c.want) || n < min(want, 3) || n > want {
						return fmt.Sprintf("run %d: %d requests, %v; want %d, %v", run, n, err, want, c.want)
					}
				}
				if got := files(t, s.Cache); len(got) != 0 {
					return fmt.Sprintf("in the cache: %v", got)
				}
				return ""
			})
		})
	}
}

// TestOtherFile: what is fetched by the id of the module's file, and by Prefetch,
// stays only if it is the module's.
func TestOtherFile(t *testing.T) {
	const other = "MODULE windows x86_64 00000000000000000000000000000000A app.pdb\nINFO CODE_ID FFFF\nFUNC 1000 10 0 main\n"
	s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, id) {
			http.NotFound(w, r)
			return
		}
		io.WriteString(w, other)
	})
	if s.Prefetch(t.Context(), module()) {
		t.Error("a file of another module is prefetched")
	}
	if _, err := lookup(t, s, module()); !errors.Is(err, sources.ErrOtherBuild) {
		t.Error(err)
	}
	if got := files(t, s.Cache); len(got) != 0 {
		t.Errorf("in the cache: %v", got)
	}
}

// TestStalledOnce: a server that never answers is asked once.
func TestStalledOnce(t *testing.T) {
	testfile.Patiently(t, 20*time.Millisecond, func(timeout time.Duration) string {
		s, attempts := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		s.Timeout = timeout
		for range 3 {
			if _, err := lookup(t, s, module()); !errors.Is(err, ErrStalled) {
				return fmt.Sprint(err)
			}
		}
		if n := attempts.Load(); n != 1 {
			return fmt.Sprintf("asked %d times", n)
		}
		return ""
	})
}

// TestRetry: a failure that passes; Retry-After; a slow server that sends.
func TestRetry(t *testing.T) {
	for name, handle := range map[string]func(n int64, w http.ResponseWriter){
		"500 then 200": func(n int64, w http.ResponseWriter) {
			if n < 3 {
				w.WriteHeader(500)
			}
			io.WriteString(w, symText)
		},
		"429": func(n int64, w http.ResponseWriter) {
			if n == 1 {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(429)
			}
			io.WriteString(w, symText)
		},
		"cut then whole": func(n int64, w http.ResponseWriter) {
			if n == 1 {
				w.Header().Set("Content-Length", "1000")
			}
			io.WriteString(w, symText)
		},
		"slow": func(n int64, w http.ResponseWriter) {
			for _, b := range []byte(symText) {
				w.Write([]byte{b})
				w.(http.Flusher).Flush()
				time.Sleep(2 * time.Millisecond)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var n atomic.Int64
			s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) { handle(n.Add(1), w) })
			s.Timeout = 20 * time.Second
			var last atomic.Int64
			s.Progress = func(_ string, bytes int64) { last.Store(bytes) }
			start := time.Now()
			if fn, err := lookup(t, s, module()); fn != "main" || err != nil {
				t.Errorf("%q, %v", fn, err)
			}
			if name == "429" && time.Since(start) < time.Second {
				t.Error("did not wait as long as the server asked for")
			}
			if n := last.Load(); n == 0 || n > int64(len(symText)) {
				t.Errorf("progress to %d of %d bytes", n, len(symText))
			}
		})
	}
}

// TestCodeID: a module whose DebugID is not known is found by the id of the
// file; so is one of ELF, by its build id.
func TestCodeID(t *testing.T) {
	s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/symbols/app.dll/45D35F6C2D000/app.sym":
			http.Redirect(w, r, "/found", http.StatusFound)
		case "/found":
			io.WriteString(w, symText)
		case "/symbols/libx.so/ABCD/libx.so.sym":
			io.WriteString(w, "MODULE Linux x86_64 1 libx.so\nINFO CODE_ID ABCD\nFUNC 1000 1 0 elf\n")
		case "/symbols/liby.so/EF01/liby.so.sym":
			io.WriteString(w, "MODULE Linux x86_64 1 liby.so\nINFO CODE_ID ABCD\nFUNC 1000 1 0 elf\n")
		default:
			http.NotFound(w, r)
		}
	})
	for _, c := range []struct {
		m    *walk.Module
		want string
		err  error
	}{
		{&walk.Module{Path: `C:\App.dll`, Name: "App.dll", CodeID: "45d35f6c2d000"}, "", ErrNotFound}, // names are taken as they are
		{&walk.Module{Path: `C:\app.dll`, Name: "app.dll", CodeID: "45d35f6c2d000"}, "main", nil},
		{&walk.Module{Path: "/lib/libx.so", Name: "libx.so", BuildID: []byte{0xab, 0xcd}, DebugID: "FFFF0"}, "elf", nil},
		{&walk.Module{Path: "/lib/liby.so", Name: "liby.so", BuildID: []byte{0xef, 1}}, "", sources.ErrOtherModule},
	} {
		if got, err := lookup(t, s, c.m); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %q, %v", c.m.Path, got, err)
		}
	}
}

// TestHostile: names and ids of dumps reach neither other paths of the server
// nor other files.
func TestHostile(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.URL.EscapedPath())
		mu.Unlock()
		io.WriteString(w, symText)
	})
	outside := filepath.Join(s.Cache, "..", "outside")
	for _, m := range []*walk.Module{
		{Name: "..", Path: "..", DebugID: id},
		{Name: "../outside", Path: "../../outside", DebugID: id},
		{Name: `..\..\outside`, Path: `\\host\share\..`, DebugID: id},
		{Name: "app", DebugID: "../../outside"},
		{Name: "app", DebugID: "..", CodeID: "/../.."},
		{Name: "a\x00b", DebugID: id},
		{Name: "", DebugID: id},
		{Name: strings.Repeat("n", 300), DebugID: id},
		{Name: "app", DebugID: strings.Repeat("A", 4096)},
		{Name: "a?b#c%2e%2e", DebugID: id},
		{Name: "a\nINFO URL x", DebugID: id},
	} {
		s.Symbols(t.Context(), m)
	}
	for _, path := range asked {
		if !strings.HasPrefix(path, "/symbols/") || strings.Contains(path, "..") || strings.Count(path, "/") != 4 {
			t.Errorf("asked for %s", path)
		}
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("a file outside of the cache")
	}
	for _, f := range files(t, s.Cache) {
		if strings.Count(f, "/") != 2 {
			t.Errorf("in the cache: %s", f)
		}
	}
	if len(asked) != 4 { // outside (its directory is cut off), the names with ? and with a newline, with NUL as a_b
		t.Errorf("asked for %q", asked)
	}
}

// TestDamagedCache: what is not the module's, or no symbol file, is fetched
// again.
func TestDamagedCache(t *testing.T) {
	s, attempts := serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, symText) })
	for i, damage := range []string{"", "MODULE windows x86_64 0 app.pdb\nFUNC 1 1 0 f\n", "garbage"} {
		path := filepath.Join(s.Cache, place)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(damage), 0o644)); err != nil {
			t.Fatal(err)
		}
		if fn, err := lookup(t, s, module()); fn != "main" || err != nil || attempts.Load() != int64(i+1) {
			t.Errorf("%q: %q, %v after %d requests", damage, fn, err, attempts.Load())
		}
	}
}

// TestConcurrent: many goroutines, one request for each file, a bounded number
// at one time.
func TestConcurrent(t *testing.T) {
	var now, most atomic.Int64
	second := make(chan struct{}) // closed once two requests have come
	var two sync.Once
	s, attempts := serve(t, func(w http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		if n > most.Load() {
			most.Store(n)
		}
		if n > 1 {
			two.Do(func() { close(second) })
		}

		// The first request waits for another one, which comes unless requests wait for
		// each other.
		select {
		case <-second:
		case <-time.After(time.Minute):
		}
		now.Add(-1)
		fmt.Fprintf(w, "MODULE Linux x86_64 %s m\nFUNC 1000 1 0 main\n", strings.Split(r.URL.Path, "/")[3])
	})
	var wait sync.WaitGroup
	for i := range 100 {
		wait.Go(func() {
			if fn, err := lookup(t, s, &walk.Module{Name: "m", Path: "m", DebugID: fmt.Sprintf("%X", 0xa00+i%20)}); fn != "main" || err != nil {
				t.Errorf("%q, %v", fn, err)
			}
		})
	}
	wait.Wait()
	if attempts.Load() != 20 || most.Load() > maxRequests || most.Load() < 2 {
		t.Errorf("%d requests, %d at a time", attempts.Load(), most.Load())
	}
}

// TestPrefetch: what was fetched before it is asked for.
func TestPrefetch(t *testing.T) {
	s, attempts := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "app.pdb") {
			io.WriteString(w, symText)
		} else {
			http.NotFound(w, r)
		}
	})
	if !s.Prefetch(t.Context(), module()) || s.Prefetch(t.Context(), &walk.Module{Name: "m", Path: "m", DebugID: "A1"}) {
		t.Error("what it says of what it has")
	}
	if fn, err := lookup(t, s, module()); fn != "main" || err != nil || attempts.Load() != 2 {
		t.Errorf("%q, %v after %d requests", fn, err, attempts.Load())
	}
}

// TestUnreachable: a server that is not there is asked once; a context that
// ends ends it all.
func TestUnreachable(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	web.Close()
	s := client(t, web.URL, t.TempDir())
	_, first := lookup(t, s, module())
	m := module()
	m.DebugID = "F" + m.DebugID[1:]
	if _, err := lookup(t, s, m); first == nil || err != first {
		t.Errorf("%v, then %v", first, err)
	}
	s, _ = serve(t, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if got := s.Symbols(ctx, module()); got.Index != nil || !errors.Is(got.Tried[0].Err, context.DeadlineExceeded) {
		t.Errorf("%v", got.Tried)
	}
}

func TestNew(t *testing.T) {
	for _, url := range []string{"", "ftp://a/b", "http://", "/dir", "http://a b/"} {
		if _, err := New(url, ""); !errors.Is(err, ErrURL) {
			t.Errorf("%q: %v", url, err)
		}
	}
	s, err := New("https://user:secret@host/p/?key=1", "")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.target("a b/ID/c.sym", module()); got.Raw() != "https://user:secret@host/p/a%20b/ID/c.sym?code_file=app.exe&code_id=45d35f6c2d000&key=1" {
		t.Error(got)
	}
	if got := s.at("c/ID/c.sym", s.base.Query()).String(); got != "https://xxxxx@host/p/c/ID/c.sym?key=xxxxx" {
		t.Error(got)
	}
}

// TestCacheCannotBeWritten: without a cache that can be written, files are used all the same, and
// the reason is told once. A directory in place of a file stays, and no other file appears.
func TestCacheCannotBeWritten(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, symText) }))
	defer web.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	// A directory where the file is to be.
	occupied := t.TempDir()
	s := client(t, web.URL, occupied)
	if _, err := lookup(t, s, module()); err != nil {
		t.Fatal(err)
	}
	place := filepath.Join(occupied, files(t, occupied)[0])
	if err := errors.Join(os.Remove(place), os.MkdirAll(filepath.Join(place, "directory"), 0o777)); err != nil {
		t.Fatal(err)
	}
	tmp := t.TempDir()
	for _, dir := range []string{tmp, filepath.Join(tmp, "none")} { // the second: in memory
		t.Setenv("TMPDIR", dir)
		for cache, want := range map[string]string{file: "not a directory", "": ErrNoCache.Error()} {
			var told []string
			s := client(t, web.URL, cache)
			s.Uncached = func(err error) { told = append(told, err.Error()) }
			if !s.Prefetch(t.Context(), module()) {
				t.Errorf("%q: not fetched before it is used", cache)
			}
			for range 2 {
				got, err := lookup(t, s, module())
				if err != nil || got == "" {
					t.Errorf("%q: %v", cache, err)
				}
			}
			other := module()
			other.DebugID, other.CodeID = "F"+other.DebugID[1:], "1"
			if _, err := lookup(t, s, other); err == nil {
				t.Errorf("%q: a file of another module", cache)
			}
			if len(told) != 1 || !strings.Contains(told[0], want) || !strings.Contains(told[0], cache) {
				t.Errorf("%q: %q", cache, told)
			}
		}
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	t.Setenv("TMPDIR", tmp)
	if _, err := lookup(t, client(t, web.URL, occupied), module()); err != nil {
		t.Error(err)
	}
	if left := files(t, occupied); len(left) != 0 {
		t.Errorf("in the cache: %v", left)
	}
}

// TestMetadata: a file that is not what its metadata say is an error, and is not kept.
func TestMetadata(t *testing.T) {
	sum := md5.Sum([]byte(symText))
	for _, test := range []struct {
		size int
		sum  string
		ok   bool
	}{
		{len(symText), hex.EncodeToString(sum[:]), true}, {len(symText) + 1, hex.EncodeToString(sum[:]), false},
		{len(symText), "00000000000000000000000000000000", false},
	} {
		for _, body := range [][]byte{[]byte(symText), gzipped(symText), zstded(symText)} {
			s, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Amz-Meta-Original_size", strconv.Itoa(test.size))
				w.Header().Set("X-Amz-Meta-Original_md5_hash", test.sum)
				w.Write(body)
			})
			got, err := lookup(t, s, module())
			if test.ok && (got != "main" || err != nil) || !test.ok && !errors.Is(err, download.ErrOther) {
				t.Errorf("%v: %q, %v", test, got, err)
			}
			if kept := len(files(t, s.Cache)); (kept > 0) != test.ok {
				t.Errorf("%v: %d files are kept", test, kept)
			}
		}
	}
}
