// Package debuginfod fetches ELF files by their build id from debuginfod
// servers, and keeps them in the cache that elfutils' debuginfod-find and the
// debuggers use (debuginfod-find(1), debuginfod_find_debuginfo(3), debuginfod(8)
// "WEBAPI").
//
// Of the client's environment it knows DEBUGINFOD_URLS, DEBUGINFOD_CACHE_PATH,
// DEBUGINFOD_TIMEOUT, DEBUGINFOD_MAXTIME and DEBUGINFOD_MAXSIZE. It never
// removes what is unused for long: debuginfod-client does, in the same cache.
package debuginfod

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"time"

	"symkit/elfx"
	"symkit/internal/fetch"
)

var (
	// ErrNotFound: no server has the file, now or when last asked. It is an
	// fs.ErrNotExist.
	ErrNotFound = error(absent{})
	// ErrOtherBuildID: a server sent a file with another build id.
	ErrOtherBuildID = errors.New("server sent a file with another build id")
	// ErrTimeout: a server sent less than 100 KiB in Client.Timeout.
	ErrTimeout = errors.New("server is too slow")
	// ErrOtherKind: a server sent another one of the module's files.
	ErrOtherKind = errors.New("server sent another file of this module")
	// ErrMaxTime: a download took longer than Client.MaxTime.
	ErrMaxTime = errors.New("download takes too long")
	// ErrMaxSize: a file larger than Client.MaxSize.
	ErrMaxSize = errors.New("file is too large")
	// ErrStatus: a server answered neither 200 nor 404.
	ErrStatus = errors.New("server answered")
	// ErrURL: not the URL of a server.
	ErrURL = errors.New("not an http or https URL")
	// ErrBuildID: a build id that cannot be looked for.
	ErrBuildID = errors.New("unusable build id")
)

type absent struct{}

func (absent) Error() string        { return "not known to the debuginfod servers" }
func (absent) Is(target error) bool { return target == fs.ErrNotExist }

// Kind is which of a module's files is wanted.
type Kind string

// The kinds; a server finds each by the one build id.
const (
	// DebugInfo is the file with debug information: the separate debug file, or
	// the program itself where it was not stripped.
	DebugInfo Kind = "debuginfo"
	// Executable is the program or library.
	Executable Kind = "executable"
)

// What DEBUGINFOD_TIMEOUT and DEBUGINFOD_MAXTIME are when they are not set. The
// size of a file is bounded then by limits.FetchedFiles.
const (
	DefaultTimeout = 90 * time.Second
	DefaultMaxTime = time.Hour
)

// Progress tells how far a download is.
type Progress struct {
	URL   string
	Done  int64 // bytes
	Total int64 // bytes, 0 when the server does not say
}

// Client asks servers. Its fields must not be changed while it is used; Find
// may be called from any number of goroutines.
type Client struct {
	// URLs are the servers, asked one after the other.
	URLs []string
	// Cache is the cache's directory. It is made when it is needed.
	Cache string
	// Timeout is the time in which a server has to send 100 KiB, again and
	// again, or the rest of the file; 0 is for ever.
	Timeout time.Duration
	// MaxTime bounds one download; 0 is for ever.
	MaxTime time.Duration
	// MaxSize bounds one file in bytes; 0 is no bound.
	MaxSize int64
	// MaxTotal bounds all files that this client downloads; 0 is no bound.
	MaxTotal int64
	// Progress, if any, is called several times a second in the goroutine that
	// called Find.
	Progress func(Progress)
	// HTTP makes the requests; nil: a client that follows redirects to http and
	// https only.
	HTTP *http.Client

	mu      sync.Mutex
	disk    *fetch.Disk
	stalled map[string]error // servers that were too slow: they are not asked again
}

// room returns the bound on what is written into the cache.
func (c *Client) room() *fetch.Disk {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.disk == nil {
		c.disk = &fetch.Disk{Dir: c.Cache, MaxTotal: c.MaxTotal}
	}
	return c.disk
}

// givenUp returns why a server is not asked again; nil: it is asked.
func (c *Client) givenUp(server string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stalled[server]
}

// giveUp remembers that a server was too slow: else each of many modules would
// wait for it.
func (c *Client) giveUp(server string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stalled == nil {
		c.stalled = map[string]error{}
	}
	c.stalled[server] = err
}

// maxBuildID bounds a build id in bytes; SHA-1 has 20.
const maxBuildID = 64

// Find returns the path of a file in the cache, after downloading it if it has
// to. The file's build id is checked. The error is ErrNotFound when all servers
// say so, which the cache remembers for a while; else it tells for each server
// what went wrong, and nothing is remembered.
func (c *Client) Find(ctx context.Context, buildID []byte, kind Kind) (path string, err error) {
	if len(buildID) == 0 || len(buildID) > maxBuildID {
		return "", fmt.Errorf("%w: %x", ErrBuildID, buildID)
	}
	e := entry{client: c, id: buildID, kind: kind}
	switch found, err := e.cached(); {
	case err != nil:
		return "", fmt.Errorf("%s of %x: %w", kind, buildID, err)
	case found:
		return e.path(), nil
	}
	var failures []error
	missing := len(c.URLs) > 0
	for _, url := range c.URLs {
		err := c.givenUp(url)
		if err == nil {
			err = e.download(ctx, url)
		}
		if err == nil {
			return e.path(), nil
		}
		if errors.Is(err, ErrTimeout) {
			c.giveUp(url, err)
		}
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		missing = missing && errors.Is(err, ErrNotFound)
		if !errors.Is(err, ErrNotFound) {
			failures = append(failures, fmt.Errorf("%s: %w", url, err))
		}
	}
	if missing {
		e.remember()
	}
	if len(failures) == 0 {
		failures = append(failures, ErrNotFound)
	}
	return "", fmt.Errorf("%s of %x: %w", kind, buildID, errors.Join(failures...))
}

// fileURL is where a server has the file (debuginfod(8), "WEBAPI").
func fileURL(server string, id []byte, kind Kind) string {
	return strings.TrimSuffix(server, "/") + "/buildid/" + hex.EncodeToString(id) + "/" + string(kind)
}

// verify tells whether the file at path has the build id, and is of the kind.
func verify(path string, id []byte, kind Kind) error {
	f, err := elfx.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
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
