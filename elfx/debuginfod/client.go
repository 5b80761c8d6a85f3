// Package debuginfod fetches ELF files by build id from debuginfod servers and keeps
// them in the cache of elfutils' debuginfod-find and the debuggers (debuginfod-find(1),
// debuginfod_find_debuginfo(3), debuginfod(8) "WEBAPI").
//
//	client, err := debuginfod.FromEnv()
//	if err != nil || client == nil {
//		return err // without servers, the client is nil
//	}
//	m, _, err := companion.Open(ctx, []string{"app"}, companion.Search{
//		Fetch: func(ctx context.Context, id []byte) (string, error) { return client.Find(ctx, id, debuginfod.DebugInfo) },
//	})
//
// FromEnv reads DEBUGINFOD_URLS, DEBUGINFOD_CACHE_PATH, DEBUGINFOD_TIMEOUT,
// DEBUGINFOD_MAXTIME and DEBUGINFOD_MAXSIZE. Package debuginfod does not remove files
// that were unused for long: debuginfod-client does so in the same cache.
package debuginfod

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"symkit/elfx"
	"symkit/internal/address"
	"symkit/internal/download"
	"symkit/internal/filecache"
)

var (
	// ErrNotFound: no server has the file, or none had it at the last request. ErrNotFound is
	// an fs.ErrNotExist.
	ErrNotFound = error(absent{})
	// ErrOtherBuildID: a server sent a file with another build id.
	ErrOtherBuildID = errors.New("server sent a file with another build id")
	// ErrTimeout: a server sent less than 100 KiB in Client.Timeout.
	ErrTimeout = download.ErrStalled
	// ErrOtherKind: a server sent another kind of file of the module.
	ErrOtherKind = errors.New("server sent another file of this module")
	// ErrMaxTime: a download took longer than Client.MaxTime.
	ErrMaxTime = download.ErrMaxTime
	// ErrMaxSize: a file is larger than Client.MaxSize.
	ErrMaxSize = download.ErrTooLarge
	// ErrStatus: a server answered neither 200 nor 404.
	ErrStatus = download.ErrStatus
	// ErrNoCache: the environment names no directory for the cache.
	ErrNoCache = errors.New("neither DEBUGINFOD_CACHE_PATH, XDG_CACHE_HOME nor HOME is set")
	// ErrURL: a word in DEBUGINFOD_URLS is not the URL of a server.
	ErrURL = errors.New("not an http or https URL")
	// ErrBuildID: the build id is empty or too long.
	ErrBuildID = errors.New("unusable build id")
)

// absent is the type of ErrNotFound.
type absent struct{}

func (absent) Error() string        { return "not known to the debuginfod servers" }
func (absent) Is(target error) bool { return target == fs.ErrNotExist }

// Kind is one of the files of a module.
type Kind string

// The kinds of files, which have one build id.
const (
	// DebugInfo is the file with debug information: the separate debug file, or
	// the program itself if it was not stripped.
	DebugInfo Kind = "debuginfo"
	// Executable is the program or library.
	Executable Kind = "executable"
)

// Defaults of DEBUGINFOD_TIMEOUT and DEBUGINFOD_MAXTIME. The default bound of a file's
// size is the limit fetched-files.
const (
	DefaultTimeout = 90 * time.Second
	DefaultMaxTime = time.Hour
)

// Progress is the state of a download.
type Progress struct {
	URL   string // without what grants access
	Done  int64  // bytes
	Total int64  // bytes; 0: not known
}

// Client fetches files from servers. Its fields must not be changed while it is used.
// Find may be called from any number of goroutines.
type Client struct {
	// URLs are the servers in the order of the requests.
	URLs []string
	// Cache is the directory of the cache. Find creates it if necessary. If it is empty or cannot be
	// written, files are kept without a name until the process ends.
	Cache string
	// Uncached, if not nil, is called with the reason when the first file is kept without a name.
	Uncached func(err error)
	// Waiting, if not nil, is called once for each server that sends nothing for some seconds, with
	// the time that has passed, and Timeout. It is called from any goroutine.
	Waiting func(server string, waited, timeout time.Duration)
	// Timeout is the time for each 100 KiB, or for the rest of the file; 0 is no
	// bound.
	Timeout time.Duration
	// MaxTime bounds one download; 0 is no bound.
	MaxTime time.Duration
	// MaxSize bounds one file in bytes; 0 is no bound.
	MaxSize int64
	// MaxTotal bounds the bytes of all downloads of this client; 0 is no bound.
	MaxTotal int64
	// Progress, if not nil, is called several times a second in the goroutine that
	// called Find.
	Progress func(Progress)
	// HTTP makes the requests. If it is nil, a client that follows redirects to http
	// and https URLs only makes them.
	HTTP *http.Client

	once    sync.Once          // makes the following
	servers []*download.Client // one a URL
	files   *filecache.Cache   // BUILDID/KIND; an empty file means that no server has the file
}

// prepare makes the clients of the servers, and the cache.
func (c *Client) prepare() {
	c.files = &filecache.Cache{Dir: c.Cache, None: ErrNoCache, Mode: 0o700, MaxTotal: c.MaxTotal, Uncached: c.Uncached}
	for _, url := range c.URLs {
		s := &download.Client{Server: address.New(url).String(), HTTP: c.HTTP, Timeout: c.Timeout, MaxTime: c.MaxTime, MaxSize: c.MaxSize, Waiting: c.Waiting}
		if c.MaxSize > 0 {
			s.Header = http.Header{"X-Debuginfod-Maxsize": {strconv.FormatInt(c.MaxSize, 10)}}
		}
		if c.Progress != nil {
			s.Progress = func(url string, done, total int64) { c.Progress(Progress{url, done, total}) }
		}
		c.servers = append(c.servers, s)
	}
}

// maxBuildID bounds a build id in bytes; SHA-1 has 20.
const maxBuildID = 64

// Find returns the path of a file in the cache, or of a file without a name (see Cache). It downloads the file if necessary, and
// checks the build id. If no server has the file, the error is ErrNotFound, and the
// cache remembers that for a while. Otherwise the error joins the failures of the
// servers, and the cache remembers nothing.
func (c *Client) Find(ctx context.Context, buildID []byte, kind Kind) (path string, err error) {
	if len(buildID) == 0 || len(buildID) > maxBuildID {
		return "", fmt.Errorf("%w: %x", ErrBuildID, buildID)
	}

	// The cache comes first; it may remember a miss.
	c.once.Do(c.prepare)
	place := hex.EncodeToString(buildID) + "/" + string(kind)
	switch {
	case c.files.Has(place) && verify(c.files.Path(place), buildID, kind) == nil: // a damaged file is overwritten later
		return c.files.Path(place), nil
	case c.files.Absent(place, c.missAge()):
		return "", fmt.Errorf("%s of %x: %w", kind, buildID, ErrNotFound)
	}

	// The servers are tried in order, until one has the file.
	var failures []error
	for i, url := range c.URLs {
		at := address.New(strings.TrimSuffix(url, "/") + "/buildid/" + place) // debuginfod(8), "WEBAPI"
		err := c.download(ctx, c.servers[i], at, place, func(path string) error { return verify(path, buildID, kind) })
		if err == nil {
			return c.files.Path(place), nil
		}
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if !errors.Is(err, ErrNotFound) {
			failures = append(failures, fmt.Errorf("%s: %w", c.servers[i].Server, err))
		}
	}

	// A miss is remembered only if every server was tried and none failed.
	if len(failures) == 0 {
		failures = append(failures, ErrNotFound)
		if len(c.URLs) > 0 {
			c.files.SetAbsent(place)
		}
	}
	return "", fmt.Errorf("%s of %x: %w", kind, buildID, errors.Join(failures...))
}

// Source returns the URL of a file without a name that Find returned the path of, without what grants
// access. Other paths are returned as they are.
func (c *Client) Source(path string) string {
	if c == nil {
		return path
	}
	c.once.Do(c.prepare)
	return c.files.Source(path)
}

// download fetches a file from one server. The cache then has the whole file, which check has accepted, or is
// unchanged.
func (c *Client) download(ctx context.Context, server *download.Client, at address.Address, place string, check func(path string) error) error {
	// Nothing is created in the cache before a server has answered with the file.
	err := server.Get(ctx, at, func(f *download.File) error {
		write := func(w io.Writer) error { _, err := io.Copy(w, f); return err }
		return c.files.Put(ctx, place, filecache.Content{Source: at.String(), Size: f.Size, Write: write, Check: check})
	})
	refused, ok := errors.AsType[*download.Error](err)
	switch {
	case ok && errors.Is(refused, fs.ErrNotExist):
		return ErrNotFound
	case ok && refused.Status == http.StatusNotAcceptable && c.MaxSize > 0:
		return ErrMaxSize
	case errors.Is(err, filecache.ErrTotal), errors.Is(err, filecache.ErrSpace):
		return server.Refuse(err)
	}
	return err
}

// verify returns an error if the file at path is not of the kind, or has another build
// id.
func verify(path string, id []byte, kind Kind) error {
	f, err := elfx.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()

	// A server can send anything: check the id, then the kind.
	if got := f.BuildID(); !bytes.Equal(got, id) {
		return fmt.Errorf("%w: %x", ErrOtherBuildID, got)
	}
	if kind == Executable && !f.HoldsLoaded() {
		return fmt.Errorf("%w: it is a debug file", ErrOtherKind)
	}
	if kind == DebugInfo && f.Section(".debug_info") == nil && f.Section(".symtab") == nil {
		return fmt.Errorf("%w: it has no debug information", ErrOtherKind)
	}
	return nil
}
