package debuginfod

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"symkit/elfx"
	"symkit/internal/download"
	"symkit/internal/filecache"
	"symkit/test/testfile"
)

const (
	fixture = "../../testdata/elf/cxx-x86_64-gcc12-O2-dw5.elf"
	other   = "../../testdata/elf/cxx-x86_64-gcc12-O2-dw4.elf"
)

// fixtureData is a file and its build id.
func fixtureData(t *testing.T, path string) (data, id []byte) {
	t.Helper()
	f, err := elfx.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err = os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data, f.BuildID()
}

// server answers with handle and counts the requests.
func server(t *testing.T, handle http.HandlerFunc) (url string, asked func() []string) {
	t.Helper()
	var mu sync.Mutex // a client that gives up does not wait for the handler
	var paths []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		paths = append(paths, r.URL.Path)
		mu.Unlock()
		handle(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(paths)
	}
}

func serve(data []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		_, _ = w.Write(data)
	}
}

func notFound(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }

// leftovers lists what is in the cache.
func leftovers(t *testing.T, c *Client) (names []string) {
	t.Helper()
	filepath.WalkDir(c.Cache, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(c.Cache, path)
			names = append(names, rel)
		}
		return nil
	})
	return names
}

func TestFind(t *testing.T) {
	data, id := fixtureData(t, fixture)
	missing, askedMissing := server(t, notFound)
	has, asked := server(t, serve(data))
	var seen []Progress
	c := &Client{URLs: []string{missing, has + "/"}, Cache: filepath.Join(t.TempDir(), "a", "cache"), Timeout: time.Minute,
		Progress: func(p Progress) { seen = append(seen, p) }}
	for range 2 { // the second time from the cache
		path, err := c.Find(t.Context(), id, DebugInfo)
		if err != nil {
			t.Fatal(err)
		}
		if want := filepath.Join(c.Cache, hex.EncodeToString(id), "debuginfo"); path != want {
			t.Errorf("%s, want %s", path, want)
		}
		if got, err := os.ReadFile(path); !bytes.Equal(got, data) || err != nil {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
	want := []string{"/buildid/" + hex.EncodeToString(id) + "/debuginfo"}
	if !slices.Equal(asked(), want) || !slices.Equal(askedMissing(), want) {
		t.Errorf("asked for %q and %q", askedMissing(), asked())
	}
	last := seen[len(seen)-1]
	if first := seen[0]; first.Done != 0 || last.Done != int64(len(data)) || last.Total != last.Done || last.URL != has+want[0] {
		t.Errorf("progress from %+v to %+v", first, last)
	}
	if names := leftovers(t, c); len(names) != 1 {
		t.Errorf("in the cache: %q", names)
	}
	if _, err := c.Find(t.Context(), id, Executable); err != nil {
		t.Error(err)
	}
}

// A damaged file in the cache is fetched anew.
func TestFindDamaged(t *testing.T) {
	data, id := fixtureData(t, fixture)
	url, _ := server(t, serve(data))
	c := &Client{URLs: []string{url}, Cache: t.TempDir()}
	path := filepath.Join(c.Cache, hex.EncodeToString(id), "debuginfo")
	os.MkdirAll(filepath.Dir(path), 0o700)
	os.WriteFile(path, []byte("no ELF file"), 0o600)
	if _, err := c.Find(t.Context(), id, DebugInfo); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); !bytes.Equal(got, data) {
		t.Errorf("%d bytes", len(got))
	}
}

// A miss is remembered for the time that the cache states.
func TestFindMiss(t *testing.T) {
	data, id := fixtureData(t, fixture)
	have := false
	url, asked := server(t, func(w http.ResponseWriter, r *http.Request) {
		if have {
			serve(data)(w, r)
		} else {
			notFound(w, r)
		}
	})
	c := &Client{URLs: []string{url}, Cache: t.TempDir()}
	for range 2 {
		if _, err := c.Find(t.Context(), id, DebugInfo); !errors.Is(err, ErrNotFound) {
			t.Fatal(err)
		}
	}
	path := filepath.Join(c.Cache, hex.EncodeToString(id), "debuginfo")
	if info, err := os.Stat(path); err != nil || info.Size() != 0 || len(asked()) != 1 {
		t.Fatalf("%v, %v, asked %d times", info, err, len(asked()))
	}
	have = true
	// As old as the usual age, and an older client's without permissions.
	old := time.Now().Add(-usualMiss - time.Minute)
	os.Chtimes(path, old, old)
	os.Chmod(path, 0)
	if _, err := c.Find(t.Context(), id, DebugInfo); err != nil {
		t.Error(err)
	}
	os.Truncate(path, 0)
	for text, found := range map[string]bool{"100000\n": false, "0": true, "nonsense": false, "-1": false} {
		os.WriteFile(filepath.Join(c.Cache, "cache_miss_s"), []byte(text), 0o600)
		recent := time.Now().Add(-time.Minute)
		os.WriteFile(path, nil, 0o600)
		os.Chtimes(path, recent, recent)
		if _, err := c.Find(t.Context(), id, DebugInfo); (err == nil) != found {
			t.Errorf("cache_miss_s %q: %v", text, err)
		}
	}
}

// TestFindErrors: an error of one server is reported and not remembered, and the next server
// is asked.
func TestFindErrors(t *testing.T) {
	data, id := fixtureData(t, fixture)
	wrong, _ := fixtureData(t, other)
	block := make(chan struct{})
	defer close(block)
	hang := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		_, _ = w.Write(data[:10])
		w.(http.Flusher).Flush()
		select {
		case <-block:
		case <-r.Context().Done():
		}
	}
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		}
	}
	endless := func(w http.ResponseWriter, _ *http.Request) {
		for err := error(nil); err == nil; {
			_, err = w.Write(data)
		}
	}
	drip := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte{0})
			w.(http.Flusher).Flush()
			time.Sleep(time.Millisecond)
		}
	}
	for _, test := range []struct {
		name   string
		handle http.HandlerFunc
		limit  *Client
		err    error
		text   string
	}{
		{"other build id", serve(wrong), &Client{}, ErrOtherBuildID, ""},
		{"no ELF file", serve([]byte("<html>")), &Client{}, elfx.ErrNotELF, ""},
		{"empty", serve(nil), &Client{}, elfx.ErrNotELF, ""},
		{"status", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "x", http.StatusBadGateway) }, &Client{}, ErrStatus, "502 Bad Gateway"},
		{"cut", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100000000")
			_, _ = w.Write(data)
		}, &Client{}, nil, "unexpected EOF"},
		{"announced too large", serve(data), &Client{MaxSize: 100}, ErrMaxSize, ""},
		{"announced as too large", func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-DEBUGINFOD-MAXSIZE") == "100" {
				w.WriteHeader(http.StatusNotAcceptable)
			}
		}, &Client{MaxSize: 100}, ErrMaxSize, ""},
		{"too large", func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			_, _ = w.Write(data)
		}, &Client{MaxSize: 100}, ErrMaxSize, ""},
		{"size in debuginfod's header", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-DEBUGINFOD-SIZE", "101")
			w.(http.Flusher).Flush()
		}, &Client{MaxSize: 100}, ErrMaxSize, ""},
		{"a redirect to a file", redirect("file://" + fixture), &Client{}, download.ErrRedirect, ""},
		{"a redirect in a ring", redirect("/"), &Client{}, download.ErrRedirect, ""},
		{"too large all in all", endless, &Client{MaxTotal: 1 << 20}, filecache.ErrTotal, ""},
		{"announced too large all in all", serve(data), &Client{MaxTotal: 100}, filecache.ErrTotal, ""},
		{"drip", drip, &Client{Timeout: 50 * time.Millisecond}, ErrTimeout, ""},
		{"slow", hang, &Client{Timeout: 50 * time.Millisecond}, ErrTimeout, ""},
		{"long", hang, &Client{MaxTime: 50 * time.Millisecond}, ErrMaxTime, ""},
	} {
		url, _ := server(t, test.handle)
		absent, _ := server(t, notFound)
		c := test.limit
		c.URLs, c.Cache = []string{url, absent}, t.TempDir()
		_, err := c.Find(t.Context(), id, DebugInfo)
		if err == nil || test.err != nil && !errors.Is(err, test.err) || !strings.Contains(err.Error(), test.text) || !strings.Contains(err.Error(), url) {
			t.Errorf("%s: %v", test.name, err)
		}
		if names := leftovers(t, c); len(names) != 0 {
			t.Errorf("%s: in the cache: %q", test.name, names)
		}
	}
	bad, _ := server(t, serve(wrong))
	good, _ := server(t, serve(data))
	c := Client{URLs: []string{bad, "http://127.0.0.1:1", good}, Cache: t.TempDir()}
	if _, err := c.Find(t.Context(), id, DebugInfo); err != nil {
		t.Error(err)
	}
}

// A cancelled search stops, and is no miss.
func TestFindCancelled(t *testing.T) {
	_, id := fixtureData(t, fixture)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	url, asked := server(t, func(w http.ResponseWriter, r *http.Request) {
		cancel(why)
		<-r.Context().Done()
	})
	c := Client{URLs: []string{url, url}, Cache: t.TempDir()}
	if _, err := c.Find(ctx, id, DebugInfo); !errors.Is(err, why) || len(asked()) != 1 {
		t.Errorf("%v, asked %d times", err, len(asked()))
	}
	if names := leftovers(t, &c); len(names) != 0 {
		t.Errorf("in the cache: %q", names)
	}
}

func TestFindArguments(t *testing.T) {
	c := Client{Cache: t.TempDir()}
	for _, id := range [][]byte{nil, make([]byte, maxBuildID+1)} {
		if _, err := c.Find(t.Context(), id, DebugInfo); !errors.Is(err, ErrBuildID) {
			t.Errorf("%x: %v", id, err)
		}
	}
	// Without servers nothing is remembered.
	if _, err := c.Find(t.Context(), []byte{1, 2}, DebugInfo); !errors.Is(err, ErrNotFound) || len(leftovers(t, &c)) != 0 {
		t.Error(err)
	}
	file := filepath.Join(c.Cache, "file")
	os.WriteFile(file, nil, 0o600)
	url, _ := server(t, serve(nil))
	c = Client{Cache: file, URLs: []string{url}}
	if _, err := c.Find(t.Context(), []byte{1, 2}, DebugInfo); err == nil || errors.Is(err, ErrNotFound) {
		t.Errorf("a file as cache: %v", err)
	}
}

// TestOtherKind: a debug file is not kept as the program, nor a stripped program
// as the debug file, though they have one build id.
func TestOtherKind(t *testing.T) {
	const stripped = "../../testdata/elf/cxx-x86_64-gcc12-O2-dw5-stripped"
	program, id := fixtureData(t, stripped+".elf")
	debug, _ := fixtureData(t, stripped+".debug")
	for _, test := range []struct {
		kind Kind
		data []byte
		want error
	}{
		{Executable, program, nil}, {DebugInfo, debug, nil}, {Executable, debug, ErrOtherKind}, {DebugInfo, program, ErrOtherKind},
	} {
		url, _ := server(t, serve(test.data))
		c := &Client{URLs: []string{url}, Cache: t.TempDir()}
		if _, err := c.Find(t.Context(), id, test.kind); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.kind, err, test.want)
		}
		if names := leftovers(t, c); test.want != nil && len(names) > 0 {
			t.Errorf("in the cache: %q", names)
		}
	}
}

// TestStalledOnce: a server that was too slow is not asked for the next module.
func TestStalledOnce(t *testing.T) {
	testfile.Patiently(t, 20*time.Millisecond, func(timeout time.Duration) string {
		url, asked := server(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		c := &Client{URLs: []string{url}, Cache: t.TempDir(), Timeout: timeout}
		for i := range 3 {
			if _, err := c.Find(t.Context(), []byte{1, byte(i)}, DebugInfo); !errors.Is(err, ErrTimeout) {
				return fmt.Sprint(err)
			}
		}
		if len(asked()) != 1 {
			return fmt.Sprintf("asked %d times", len(asked()))
		}
		return ""
	})
}

func TestFromEnv(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"URLS", "CACHE_PATH", "TIMEOUT", "MAXTIME", "MAXSIZE"} {
		t.Setenv("DEBUGINFOD_"+name, "")
	}
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", "")
	if c, err := FromEnv(); c != nil || err != nil {
		t.Errorf("no servers: %+v, %v", c, err)
	}
	t.Setenv("DEBUGINFOD_URLS", " http://a.example:8002/x ima:enforcing\thttps://b.example ")
	expect := func(cache string, timeout, maxTime time.Duration, maxSize int64) {
		t.Helper()
		c, err := FromEnv()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(c.URLs, []string{"http://a.example:8002/x", "https://b.example"}) || c.Cache != cache || c.Timeout != timeout ||
			c.MaxTime != maxTime || c.MaxSize != maxSize {
			t.Errorf("%+v", c)
		}
	}
	expect(filepath.Join(home, ".cache", "debuginfod_client"), DefaultTimeout, DefaultMaxTime, 8<<30)
	t.Setenv("XDG_CACHE_HOME", "/xdg")
	for _, name := range []string{"TIMEOUT", "MAXTIME", "MAXSIZE"} {
		t.Setenv("DEBUGINFOD_"+name, "-1")
	}
	expect("/xdg/debuginfod_client", 0, 0, 0)
	os.Mkdir(filepath.Join(home, ".debuginfod_client_cache"), 0o700)
	t.Setenv("DEBUGINFOD_TIMEOUT", "7")
	t.Setenv("DEBUGINFOD_MAXTIME", "8")
	t.Setenv("DEBUGINFOD_MAXSIZE", "9000000000")
	expect(filepath.Join(home, ".debuginfod_client_cache"), 7*time.Second, 8*time.Second, 9000000000)
	t.Setenv("DEBUGINFOD_CACHE_PATH", "/cache")
	expect("/cache", 7*time.Second, 8*time.Second, 9000000000)
	for _, name := range []string{"TIMEOUT", "MAXTIME", "MAXSIZE"} {
		for _, value := range []string{"soon", "99999999999999999999", "9223372036854775807"} {
			if name == "MAXSIZE" && value[0] == '9' && len(value) == 19 {
				continue
			}
			t.Setenv("DEBUGINFOD_"+name, value)
			if _, err := FromEnv(); err == nil || !strings.HasPrefix(err.Error(), "DEBUGINFOD_"+name+": ") {
				t.Errorf("%s=%s: %v", name, value, err)
			}
		}
		t.Setenv("DEBUGINFOD_"+name, "")
	}
	for _, url := range []string{"ftp://a.example", "a.example", "http://", "http://%zz", "file:///srv"} {
		t.Setenv("DEBUGINFOD_URLS", "http://good.example "+url)
		if _, err := FromEnv(); !errors.Is(err, ErrURL) || !strings.Contains(err.Error(), url) {
			t.Errorf("%s: %v", url, err)
		}
	}
	t.Setenv("DEBUGINFOD_URLS", "http://a.example")
	t.Setenv("DEBUGINFOD_CACHE_PATH", "")
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	if c, err := FromEnv(); err != nil || c.Cache != "" {
		t.Errorf("without a home: %+v, %v", c, err)
	}
}
