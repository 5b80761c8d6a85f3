// Package symserver gets symbol files from symbol servers: HTTP servers with the
// layout of symbol stores, NAME/ID/NAME.sym, like those of Mozilla, Chromium and
// Electron. A cache directory keeps fetched files in the same layout, so that the
// directory can be used as a store. The cache also remembers for a while which files
// a server lacks.
//
//	server, err := symserver.New("https://symbols.example.org", cacheDir)
//	if err != nil {
//		return err
//	}
//	result, err := walk.Walk(ctx, process, server, walk.Options{Prefetch: true})
package symserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"symkit/elfx/companion"
	"symkit/internal/address"
	"symkit/internal/download"
	"symkit/internal/filecache"
	"symkit/internal/limitof"
	"symkit/limits"
	"symkit/walk"
	"symkit/walk/symbols/sources"
)

// The reasons for which a server has no symbols.
var (
	// ErrNotFound: the server does not have the file, now or at the last request. It is an
	// fs.ErrNotExist.
	ErrNotFound = error(absent{})
	// ErrStatus: the status is neither that of a file nor that of a missing file.
	ErrStatus = download.ErrStatus
	// ErrContent: the server's answer is no symbol file.
	ErrContent = errors.New("not a symbol file")
	// ErrTooLarge: the file is larger than Server.MaxSize.
	ErrTooLarge = download.ErrTooLarge
	// ErrStalled: the server sent less than 100 KiB in Server.Timeout.
	ErrStalled = download.ErrStalled
	// ErrMaxTime: a file took longer than Server.MaxTime.
	ErrMaxTime = download.ErrMaxTime
	// ErrNoCache: Server.Cache is empty.
	ErrNoCache = errors.New("no directory for files from servers")
	// ErrURL: not the URL of a server.
	ErrURL = errors.New("not an http, https or s3 URL")
)

type absent struct{}

func (absent) Error() string        { return "not known to the server" }
func (absent) Is(target error) bool { return target == fs.ErrNotExist }

// Server is one symbol server: a walk.Supplier. New makes one; its fields must
// not be changed once it is used.
type Server struct {
	// Cache is the directory that keeps fetched files. It is made when it is needed. If it is empty
	// or cannot be written, files are kept without a name until the process ends.
	Cache string
	// Uncached, if any, is called with the reason when the first file is kept without a name.
	Uncached func(err error)
	// Waiting, if any, is called once if the server sends nothing for some seconds, with the time that
	// has passed, and Timeout. It is called from any goroutine.
	Waiting func(server string, waited, timeout time.Duration)
	// Timeout is the time in which a server has to send 100 KiB, again and again,
	// or the rest of the file.
	Timeout time.Duration
	// MaxTime bounds the time of one attempt to get a file.
	MaxTime time.Duration
	// Attempts is the number of requests for a file if the network or the server fails, 0 means 3; one if the server
	// never answers. Backoff is the time before the second request, 0 means half a second; it doubles before each
	// further one.
	Attempts int
	Backoff  time.Duration
	// Negative is the time after which a file that the server lacked is requested again.
	Negative time.Duration
	// MaxSize bounds a file, unpacked, in bytes; MaxTotal bounds all together. New sets
	// them to the limits fetched-symbols and fetched-total.
	MaxSize, MaxTotal int64
	// HTTP makes the requests. If it is nil, redirects to http and https URLs only are followed.
	HTTP *http.Client
	// Progress, if any, is called several times a second, from any goroutine,
	// with the bytes that were received of a URL so far. The URL is without what grants access.
	Progress func(url string, bytes int64)

	base   url.URL
	flight singleflight.Group
	slots  chan struct{} // bounds the requests at one time
	client func() *download.Client
	files  func() *filecache.Cache
}

// Set by New.
const (
	defaultTimeout  = 60 * time.Second
	defaultMaxTime  = 30 * time.Minute
	defaultNegative = time.Hour
	maxRequests     = 8
)

// IsURL reports whether s is the URL of a server or of a bucket rather than a path.
func IsURL(s string) bool {
	return strings.HasPrefix(s, "s3://") || strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

// New makes a Server of its URL. The query after a question mark is sent with each
// request. For a bucket, s3://BUCKET/PREFIX, the caller sets HTTP to a client that reads
// objects.
func New(rawURL, cache string) (*Server, error) {
	u, err := url.Parse(rawURL)
	if err != nil || !IsURL(rawURL) || u.Host == "" {
		return nil, fmt.Errorf("%q: %w", address.New(rawURL), ErrURL)
	}
	s := &Server{Cache: cache, Timeout: defaultTimeout, MaxTime: defaultMaxTime, Negative: defaultNegative,
		MaxSize: bound(limitof.FetchedSymbols), MaxTotal: bound(limitof.FetchedTotal), base: *u, slots: make(chan struct{}, maxRequests)}
	s.client = sync.OnceValue(s.newClient)
	s.files = sync.OnceValue(func() *filecache.Cache {
		return &filecache.Cache{Dir: s.Cache, None: ErrNoCache, Mode: 0o755, MaxTotal: s.MaxTotal, Uncached: s.Uncached}
	})
	return s, nil
}

// newClient returns the client of the server.
func (s *Server) newClient() *download.Client {
	c := &download.Client{Server: address.New(s.base.String()).String(), HTTP: s.HTTP, Header: http.Header{"Accept-Encoding": {"zstd, gzip"}},
		Attempts: s.Attempts, Backoff: s.Backoff, Timeout: s.Timeout, MaxTime: s.MaxTime, MaxSize: s.MaxSize, Waiting: s.Waiting}
	if s.Progress != nil {
		c.Progress = func(url string, done, _ int64) { s.Progress(url, done) }
	}
	return c
}

// bound returns the default of a limit as a number of bytes.
func bound(x string) int64 { return int64(min(limits.Limits{}.Max(x, 0), math.MaxInt64-1)) }

// Symbols implements walk.Supplier. It may be called from any number of
// goroutines; a file is fetched once.
func (s *Server) Symbols(ctx context.Context, m *walk.Module) *walk.Symbols {
	out := &walk.Symbols{}
	for _, place := range sources.Paths(m) {
		err := s.get(ctx, place, m, out)
		if err == nil {
			break
		}
		out.Tried = append(out.Tried, companion.Probe{Path: s.at(place, s.base.Query()).String(), Err: err})
	}
	return out
}

// Prefetch implements walk.Prefetcher.
func (s *Server) Prefetch(ctx context.Context, m *walk.Module) bool {
	return slices.ContainsFunc(sources.Paths(m), func(place string) bool { return s.files().Has(place) || s.ask(ctx, place, m) == nil })
}

// get opens the symbols at one place, from the cache or the server.
func (s *Server) get(ctx context.Context, place string, m *walk.Module, out *walk.Symbols) error {
	err := s.load(place, m, out)
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		s.files().Drop(place) // damaged, or of another module
	}
	err = s.ask(ctx, place, m)
	if err != nil {
		return err
	}
	return s.load(place, m, out)
}

// ask fetches a file that the cache lacks.
func (s *Server) ask(ctx context.Context, place string, m *walk.Module) error {
	if s.files().Absent(s.absence(place), s.Negative) {
		return ErrNotFound
	}

	// Goroutines that ask for one file share the request.
	_, err, _ := s.flight.Do(place, func() (any, error) {
		if s.files().Has(place) {
			return nil, nil // another one fetched it meanwhile
		}
		return nil, s.fetch(ctx, place, m)
	})
	return err
}

// target returns the URL of a place; the query identifies the module's file, so that the server
// can make symbols of the file or record that they are missing.
func (s *Server) target(place string, m *walk.Module) address.Address {
	q := s.base.Query()
	q.Set("code_file", m.File())
	q.Set("code_id", strings.ToLower(m.FileID()))
	return s.at(place, q)
}

// at returns the URL of a place with a query.
func (s *Server) at(place string, query url.Values) address.Address {
	u := s.base
	u.Path, u.RawPath = path.Join("/", u.Path, place), ""
	u.RawQuery = query.Encode()
	return address.New(u.String())
}
