// Package fetch has the parts that the clients of symbol servers and of debuginfod share:
// bounds on the bytes that a server can make this machine store and on the time that a
// server can make it wait, and the choice of redirects to follow.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"symkit/internal/address"
	"symkit/internal/quantity"
)

var (
	// ErrRedirect: a redirect to a URL that is not http or https, or too many redirects.
	ErrRedirect = errors.New("redirect is not followed")
	// ErrTotal: all files that were fetched are together larger than Disk.MaxTotal.
	ErrTotal = errors.New("too much was fetched in this run (SYMKIT_LIMITS=fetched-total=N changes the limit)")
	// ErrSpace: the file system would have too little free space left.
	ErrSpace = errors.New("too little free space for files from servers")
)

// maxRedirects is the most redirects that are followed for one file.
const maxRedirects = 10

// HTTP makes requests. It follows redirects to http and https URLs only.
var HTTP = &http.Client{CheckRedirect: func(next *http.Request, via []*http.Request) error {
	if next.URL.Scheme != "http" && next.URL.Scheme != "https" {
		return fmt.Errorf("%w: to a %s URL", ErrRedirect, next.URL.Scheme)
	}
	if len(via) > maxRedirects {
		return fmt.Errorf("%w: more than %d", ErrRedirect, maxRedirects)
	}
	return nil
}}

// ServerError is an error of a server rather than of a file: the next file will meet it too.
type ServerError struct {
	Server string // its address, without what grants access
	Err    error
}

func (e *ServerError) Error() string { return e.Err.Error() }
func (e *ServerError) Unwrap() error { return e.Err }

// ServerErrors returns all errors of servers in a tree of errors.
func ServerErrors(err error) (all []*ServerError) {
	switch e := err.(type) {
	case *ServerError:
		return []*ServerError{e}
	case interface{ Unwrap() error }:
		return ServerErrors(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			all = append(all, ServerErrors(inner)...)
		}
	}
	return all
}

// Do sends a request. The error is without the URL, which may have a password or a token, and
// which callers know.
func Do(client *http.Client, request *http.Request) (*http.Response, error) {
	response, err := client.Do(request)
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return response, address.Error(err)
}

// leastBytes is how many bytes a server must send in each window.
const leastBytes = 100 << 10

// Bounds are the bounds on the duration of a download.
type Bounds struct {
	// Window is the time in which leastBytes must arrive, again and again, or the rest of
	// the file; Stalled is the error if they do not. 0 is no bound.
	Window  time.Duration
	Stalled error
	// MaxTime bounds the whole download; TooLong is the error. 0 is no bound.
	MaxTime time.Duration
	TooLong error
	// Waiting, if not nil, is called once if no byte arrives for a quarter of Window, or for
	// mostQuiet: with the time that has passed since the last byte.
	Waiting func(waited time.Duration)
}

// mostQuiet is the time without a byte after which a user is told that a server is waited for.
const mostQuiet = 5 * time.Second

// quiet is the time without a byte after which Waiting is called.
func (b *Bounds) quiet() time.Duration {
	if b.Window > 0 {
		return min(mostQuiet, b.Window/4)
	}
	return mostQuiet
}

// Within calls download, which counts the bytes that arrive, with a context that ends at
// the bounds. The error is that of the bound, or the cause of ctx's end, or that of
// download.
func Within(ctx context.Context, b Bounds, count *atomic.Int64, download func(ctx context.Context) error) error {
	var watchers sync.WaitGroup
	defer watchers.Wait() // no bound is told of after the return
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if b.MaxTime > 0 {
		timed, stop := context.WithTimeoutCause(ctx, b.MaxTime, b.TooLong)
		defer stop()
		ctx = timed
	}
	if b.Window > 0 {
		watchers.Go(func() { Watch(ctx, b.Window, count, func() { cancel(b.Stalled) }) })
	}
	if b.Waiting != nil {
		watchers.Go(func() { watch(ctx, b.quiet(), 1, count, func() { b.Waiting(b.quiet()) }) })
	}

	err := download(ctx)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx) // the reason, not "context canceled"
	}
	return err
}

// Watch calls slow and returns as soon as count has grown by less than leastBytes in a
// window of time. It also returns when ctx is done.
func Watch(ctx context.Context, window time.Duration, count *atomic.Int64, slow func()) {
	watch(ctx, window, leastBytes, count, slow)
}

// watch is Watch with the least number of bytes.
func watch(ctx context.Context, window time.Duration, least int64, count *atomic.Int64, slow func()) {
	tick := time.NewTicker(window)
	defer tick.Stop()

	var last int64
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}

		now := count.Load()
		if now-last < least {
			slow()
			return
		}
		last = now
	}
}

// Disk bounds the bytes that are written into a directory. It is safe for concurrent use.
type Disk struct {
	// Dir is the directory, which need not exist yet. Move changes it.
	Dir string
	// MaxTotal bounds the sum of all files, in bytes; 0 is no bound.
	MaxTotal int64

	written atomic.Int64
	mu      sync.Mutex
	checked int64 // value of written at the last look at the file system

	free func(dir string) (free, size uint64, ok bool) // set by tests; if nil, freeSpace is used
}

const (
	// reserveShare is the part of a file system that stays free: a twentieth, but
	// no more than maxReserve bytes.
	reserveShare = 20
	maxReserve   = 1 << 30
	// checkStep is how many bytes are written between two looks at the free space.
	checkStep = 16 << 20
)

// Announce is called before a file of n bytes is fetched; n is 0 if the size is not
// known. It returns ErrTotal or ErrSpace if the file is too large.
func (d *Disk) Announce(n int64) error {
	if d.MaxTotal > 0 && n > d.MaxTotal-d.written.Load() {
		return ErrTotal
	}
	return d.checkSpace(uint64(max(n, 0)))
}

// Wrote is called after n more bytes were written. It returns ErrTotal or ErrSpace if
// the caller must stop and remove the file.
func (d *Disk) Wrote(n int64) error {
	written := d.written.Add(n)
	if d.MaxTotal > 0 && written > d.MaxTotal {
		return ErrTotal
	}

	// Asking the file system after every write would be slow.
	d.mu.Lock()
	due := written-d.checked >= checkStep
	if due {
		d.checked = written
	}
	d.mu.Unlock()
	if !due {
		return nil
	}
	return d.checkSpace(0)
}

// checkSpace returns ErrSpace if n more bytes would leave too little free space.
func (d *Disk) checkSpace(n uint64) error {
	look := d.free
	if look == nil {
		look = freeSpace
	}

	d.mu.Lock()
	dir := d.Dir
	d.mu.Unlock()
	free, size, ok := look(dir)
	reserve := min(size/reserveShare, maxReserve)
	if ok && (free < reserve || n > free-reserve) {
		return fmt.Errorf("%w: %s are free in %s", ErrSpace, quantity.Bytes(free), dir)
	}
	return nil
}

// Move has later files written into another directory.
func (d *Disk) Move(dir string) {
	d.mu.Lock()
	d.Dir = dir
	d.mu.Unlock()
}
