package download

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"symkit/internal/address"
)

// serve runs a server on loopback and returns a client of it. handle gets the number of the request.
func serve(t *testing.T, handle func(n int, w http.ResponseWriter, r *http.Request)) (c *Client, at address.Address, asked func() int) {
	t.Helper()
	var n atomic.Int32
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handle(int(n.Add(1)), w, r)
	}))
	t.Cleanup(web.Close)
	return &Client{Server: web.URL, Backoff: time.Millisecond}, address.New(web.URL + "/file?token=x"), func() int { return int(n.Load()) }
}

// get returns the file as Get gives it.
func get(t *testing.T, c *Client, at address.Address) (text []byte, err error) {
	t.Helper()
	err = c.Get(t.Context(), at, func(f *File) (err error) {
		text, err = io.ReadAll(f)
		return err
	})
	return text, err
}

// TestResume: after an interruption a file continues with its rest, if the server has the same file and can send its
// rest. Otherwise the file is sent again.
func TestResume(t *testing.T) {
	first, second := bytes.Repeat([]byte("a"), 1<<16), bytes.Repeat([]byte("b"), 1<<16)
	for _, test := range []struct {
		name   string
		tag    string
		change bool
		want   []byte
		asked  string // ranges of the requests
		reads  int    // of the whole file
	}{
		{"the same", `"1"`, false, first, " bytes=1000- bytes=2000-", 1},
		{"without a tag", "", false, nil, "  ", 3},
		{"a weak tag", `W/"1"`, false, nil, "  ", 3},
		{"another file", `"1"`, true, second, " bytes=1000- bytes=1000-", 2},
	} {
		var asked []string
		c, at, _ := serve(t, func(n int, w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.Header.Get("Range"))
			text, tag := first, test.tag
			if test.change && n > 1 {
				text, tag = second, `"2"`
			}
			if tag != "" {
				w.Header().Set("ETag", tag)
			}
			if n < 3 || tag != `"1"` && !test.change {
				w = &cut{ResponseWriter: w, left: 1000}
			}
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
		})
		reads := 0
		var got []byte
		err := c.Get(t.Context(), at, func(f *File) (err error) {
			reads++
			got, err = io.ReadAll(f)
			return err
		})
		if test.want == nil && !errors.Is(err, io.ErrUnexpectedEOF) || test.want != nil && (err != nil || !bytes.Equal(got, test.want)) {
			t.Errorf("%s: %d bytes, %v", test.name, len(got), err)
		}
		if test.change {
			asked = asked[:2]
			asked = append(asked, asked[1])
		}
		if text := strings.Join(asked, " "); text != test.asked || reads != test.reads {
			t.Errorf("%s: asked for %q, read %d times", test.name, text, reads)
		}
	}
}

// cut breaks the connection after some bytes of the body.
type cut struct {
	http.ResponseWriter
	left int
}

func (c *cut) Write(p []byte) (int, error) {
	n := min(len(p), c.left)
	c.ResponseWriter.Write(p[:n])
	c.left -= n
	if n < len(p) {
		c.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, nil
}

// TestErrors: what becomes of each answer, and how often it is asked for.
func TestErrors(t *testing.T) {
	for _, test := range []struct {
		code  int
		after string
		want  error
		asked int
		text  string
	}{
		{200, "", nil, 1, ""},
		{404, "", fs.ErrNotExist, 1, "the server answered 404 Not Found"},
		{410, "", fs.ErrNotExist, 1, "the server answered 410 Gone"},
		{403, "", ErrStatus, 1, "the server answered 403 Forbidden"},
		{503, "", ErrStatus, 3, "the server answered 503 Service Unavailable"},
		{429, "1", ErrStatus, 3, "the server answered 429 Too Many Requests"},
	} {
		c, at, asked := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
			if test.after != "" {
				w.Header().Set("Retry-After", test.after)
			}
			w.WriteHeader(test.code)
		})
		start := time.Now()
		_, err := get(t, c, at)
		if !errors.Is(err, test.want) || err != nil && err.Error() != test.text || asked() != test.asked {
			t.Errorf("%d: %v, asked %d times", test.code, err, asked())
		}
		if e, ok := errors.AsType[*Error](err); ok && (e.Status != test.code || e.Server != c.Server) {
			t.Errorf("%d: %+v", test.code, e)
		}
		if errors.Is(err, fs.ErrNotExist) != (test.want == fs.ErrNotExist) {
			t.Errorf("%d: %v", test.code, err)
		}
		if seconds, _ := strconv.Atoi(test.after); time.Since(start) < time.Duration(2*seconds)*time.Second {
			t.Errorf("%d: asked again after %v", test.code, time.Since(start))
		}
	}

	// A file that is larger than announced, and one that is announced so.
	for _, announce := range []bool{false, true} {
		c, at, asked := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
			if announce {
				w.Header().Set("Content-Length", "11")
			} else {
				w.(http.Flusher).Flush()
			}
			fmt.Fprint(w, "12345678901")
		})
		c.MaxSize = 10
		if _, err := get(t, c, at); !errors.Is(err, ErrTooLarge) || asked() != 1 {
			t.Errorf("%v, asked %d times", err, asked())
		}
	}

	// An error of the caller is that of one file.
	c, at, asked := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {})
	content := errors.New("content")
	if err := c.Get(t.Context(), at, func(*File) error { return content }); err != content || asked() != 1 {
		t.Errorf("%v, asked %d times", err, asked())
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(content)
	if _, err := c.Open(ctx, at); err != content {
		t.Error(err)
	}
}

// slowServer is a server whose bytes arrive after some time each.
type slowServer []time.Duration

// RoundTrip implements http.RoundTripper.
func (s slowServer) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: &slowBody{s, r.Context()}, ContentLength: -1, Request: r}, nil
}

type slowBody struct {
	steps []time.Duration // before 2 KiB each
	ctx   context.Context
}

func (b *slowBody) Read(p []byte) (int, error) {
	if len(b.steps) == 0 {
		return 0, io.EOF
	}
	sleep(b.ctx, b.steps[0])
	b.steps = b.steps[1:]
	return min(len(p), 2<<10), b.ctx.Err()
}

func (*slowBody) Close() error { return nil }

// TestWaiting: a server that sends nothing is told long before it is given up, also if it stops later. A server that
// sends little but steadily is neither told nor given up, and no time passes while its file is not read.
func TestWaiting(t *testing.T) {
	for _, test := range []struct {
		name   string
		window time.Duration
		steps  []time.Duration
		pause  time.Duration // before each Read
		told   []time.Duration
		want   error
		took   time.Duration
	}{
		{"no answer", 90 * time.Second, []time.Duration{time.Hour}, 0, []time.Duration{5 * time.Second}, ErrStalled, 90 * time.Second},
		{"no answer in a short time", 2 * time.Second, []time.Duration{time.Hour}, 0, []time.Duration{500 * time.Millisecond}, ErrStalled, 2 * time.Second},
		{"slow and steady", 90 * time.Second, slices.Repeat([]time.Duration{time.Second}, 600), 0, nil, nil, 600 * time.Second},
		{"too slow", 49 * time.Second, slices.Repeat([]time.Duration{time.Second}, 600), 0, nil, ErrStalled, 49 * time.Second},
		{"stops", 90 * time.Second, append(slices.Repeat([]time.Duration{time.Second}, 62), time.Hour), 0, []time.Duration{5 * time.Second}, ErrStalled, 140 * time.Second},
		{"an answer after some time", 90 * time.Second, []time.Duration{80 * time.Second}, 0, []time.Duration{5 * time.Second}, nil, 80 * time.Second},
		{"without a bound", 0, []time.Duration{time.Hour}, 0, []time.Duration{5 * time.Second}, nil, time.Hour},
		{"a slow reader", 90 * time.Second, slices.Repeat([]time.Duration{time.Second}, 10), time.Minute, nil, nil, 11*time.Minute + 10*time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			var told []time.Duration
			start := time.Now()
			c := &Client{HTTP: &http.Client{Transport: slowServer(test.steps)}, Attempts: 1, Timeout: test.window,
				Waiting: func(_ string, waited, _ time.Duration) { told = append(told, waited) }}
			err := c.Get(t.Context(), address.New("http://server.example/x"), func(f *File) (err error) {
				for buffer := make([]byte, 1<<12); err == nil; {
					time.Sleep(test.pause)
					_, err = f.Read(buffer)
				}
				if err == io.EOF {
					return nil
				}
				return err
			})
			if took := time.Since(start); !errors.Is(err, test.want) || took != test.took || !slices.Equal(told, test.told) {
				t.Errorf("%s: %v after %v, told %v", test.name, err, took, told)
			}
		})
	}
}

func TestRedirects(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/end":
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/once":
			http.Redirect(w, r, "/end", http.StatusFound)
		default:
			w.Header().Set("Location", r.URL.Query().Get("to"))
			w.WriteHeader(http.StatusFound)
		}
	}))
	defer s.Close()
	for path, want := range map[string]error{
		"/once": nil, "/loop": ErrRedirect, "/x?to=file:///etc/passwd": ErrRedirect, "/x?to=ftp://127.0.0.1/x": ErrRedirect, "/x?to=/end": nil,
	} {
		r, err := usualHTTP.Get(s.URL + path)
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
		if err == nil {
			r.Body.Close()
		}
	}
}
