// Package uploadtest has a server that takes uploads by the protocols of Tecken, Sentry and Breakpad, checks each
// request strictly, and keeps the files. It can fail as servers and networks do.
//
//	s := uploadtest.New(t, uploadtest.Options{Token: "secret"})
//	… upload to s.URL …
//	if !bytes.Equal(s.Files()["app/…/app.sym"], text) {
//		t.Error("another file has arrived")
//	}
//
// Anything that a server of the protocol would not take, or need not take, fails the test.
package uploadtest

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Options say what a server takes, and how it fails.
type Options struct {
	Token string // that all requests need; empty: none
	// Old is a server from before version 2 of Tecken's or Breakpad's protocol. V1 offers version 2 and prefers 1.
	Old, V1 bool
	// Fail decides what happens to a request, of which n were before; nil: nothing.
	Fail func(n int, r *http.Request) Fault
	// Refuse returns the reason to refuse a file in the words of the protocol, or ""; nil: none is refused.
	Refuse func(key string, text []byte) string
	// Polls is how often a Sentry server says that it has not read a file yet.
	Polls int
	// ChunkSize is that of a Sentry server; 0 means 8 MiB. RequestSize bounds the chunks of a request.
	ChunkSize, RequestSize int64
	NoGzip                 bool // Sentry: chunks are sent as they are
}

// Fault is a failure of a server or of the network.
type Fault struct {
	Status     int    // instead of handling the request
	RetryAfter string // header of that answer
	Cut        bool   // the connection ends before the request is handled
	Half       bool   // the connection ends after half of the request's body
	Lost       bool   // the request is handled, and the connection ends before the answer
}

// Random fails a share of the requests.
func Random(seed uint64, share float64) func(int, *http.Request) Fault {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 1))
	return func(int, *http.Request) Fault {
		mu.Lock()
		defer mu.Unlock()
		if random.Float64() >= share {
			return Fault{}
		}
		return []Fault{
			{Status: 429, RetryAfter: "0"}, {Status: 502}, {Status: 503}, {Status: 504, RetryAfter: "Sun, 06 Nov 1994 08:49:37 GMT"},
			{Cut: true}, {Half: true}, {Lost: true},
		}[random.IntN(7)]
	}
}

// Server is a server.
type Server struct {
	URL string
	opt Options
	t   testing.TB

	mu       sync.Mutex
	n        int
	dead     bool
	requests []string // method and path
	files    map[string][]byte
	sessions map[string]*session
	sums     map[string]sum // Tecken: of what is stored
	chunks   map[string][]byte
	wanted   map[string]bool // chunks that were asked for
	polls    map[string]int
	uploads  map[string]*upload // Breakpad, by key
}

// New starts a server that ends with the test.
func New(t testing.TB, opt Options) *Server {
	s := &Server{
		opt: opt, t: t, files: map[string][]byte{}, sessions: map[string]*session{}, sums: map[string]sum{},
		chunks: map[string][]byte{}, wanted: map[string]bool{}, polls: map[string]int{}, uploads: map[string]*upload{},
	}
	mux := http.NewServeMux()
	s.tecken(mux)
	s.storage(mux)
	s.sentry(mux)
	s.breakpad(mux)
	web := httptest.NewServer(s.failing(mux))
	t.Cleanup(web.Close)
	s.URL = web.URL
	return s
}

// Files returns what has arrived, as it was before any compression. The keys are NAME/ID/FILE of Tecken, the names of
// Sentry, and NAME/ID/TYPE of Breakpad.
func (s *Server) Files() map[string][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.files)
}

// Requests returns the requests so far, each as METHOD PATH.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

// Die ends all connections from now on, or no longer.
func (s *Server) Die(dead bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead = dead
}

// wrong fails the test because of a request.
func (s *Server) wrong(r *http.Request, format string, args ...any) {
	s.t.Errorf("%s %s: %s", r.Method, r.URL.Path, fmt.Sprintf(format, args...))
}

// failing is a handler that fails as the options say.
func (s *Server) failing(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		n, dead := s.n, s.dead
		s.n++
		s.requests = append(s.requests, r.Method+" "+r.URL.Path)
		s.mu.Unlock()
		if r.Header.Get("User-Agent") == "" || strings.HasPrefix(r.Header.Get("User-Agent"), "Go-http-client") {
			s.wrong(r, "no User-Agent of its own")
		}
		if (r.Method == http.MethodPost || r.Method == http.MethodPut) && r.ContentLength < 0 {
			s.wrong(r, "no Content-Length")
		}

		var f Fault
		if s.opt.Fail != nil {
			f = s.opt.Fail(n, r)
		}
		switch {
		case f.Cut || dead:
			panic(http.ErrAbortHandler)
		case f.Half:
			_, _ = io.CopyN(io.Discard, r.Body, r.ContentLength/2)
			panic(http.ErrAbortHandler)
		case f.Lost:
			handler.ServeHTTP(&nowhere{header: http.Header{}}, r)
			panic(http.ErrAbortHandler)
		case f.Status != 0:
			_, _ = io.Copy(io.Discard, r.Body)
			if f.RetryAfter != "" {
				w.Header().Set("Retry-After", f.RetryAfter)
			}
			http.Error(w, "try again", f.Status)
			return
		}
		handler.ServeHTTP(w, r)
	})
}

// nowhere is an answer that is lost.
type nowhere struct{ header http.Header }

func (n *nowhere) Header() http.Header         { return n.header }
func (n *nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (n *nowhere) WriteHeader(int)             {}

// body returns the body of a request, or reports false if the network failed.
func (s *Server) body(r *http.Request) ([]byte, bool) {
	data, err := io.ReadAll(r.Body)
	return data, err == nil
}

// empty requires that a request has no body.
func (s *Server) empty(r *http.Request) {
	data, _ := s.body(r)
	if len(data) > 0 {
		s.wrong(r, "a body of %d bytes", len(data))
	}
}

// answer writes JSON.
func answer(w http.ResponseWriter, status int, format string, args ...any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, format, args...)
}

// keep keeps a file. mu is locked.
func (s *Server) keep(key string, text []byte) { s.files[key] = bytes.Clone(text) }

// refused returns why a file is refused, or "".
func (s *Server) refused(key string, text []byte) string {
	if s.opt.Refuse == nil {
		return ""
	}
	return s.opt.Refuse(key, text)
}
