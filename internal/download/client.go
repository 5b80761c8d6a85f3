// Package download gets files from HTTP servers, and sends requests with files to them. A Client has one policy for
// all: how often a request is sent again and when, how long a server may send nothing, how large a file may be, which
// redirects are followed.
package download

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"symkit/internal/address"
)

// Client gets files from one server, or sends files to it. Its fields must not be changed once it is used. Its methods may be called from
// any number of goroutines.
type Client struct {
	// Server is the address of the server, without what grants access.
	Server string
	// HTTP sends the requests. If it is nil, redirects to http and https URLs only are followed.
	HTTP *http.Client
	// Header is sent with each request.
	Header http.Header
	// Attempts is the number of requests for a file if the network or the server fails; 0 means 3. A server that takes
	// connections and never answers is not asked again, and one that has not answered yet firstAttempts times. Backoff is the time before the second request, which doubles before each further one;
	// 0 means half a second.
	Attempts int
	Backoff  time.Duration
	// Timeout is the time in which the server has to send leastBytes, again and again, or the rest of the file; 0 is
	// no bound. It passes only while the server is waited for.
	Timeout time.Duration
	// MaxTime bounds the time of one attempt, MaxSize the size of a file in bytes; 0 is no bound.
	MaxTime time.Duration
	MaxSize int64
	// Waiting, if not nil, is called once if the server sends nothing for a quarter of Timeout, or for mostQuiet, with
	// that time, and Timeout. It is called from any goroutine.
	Waiting func(server string, waited, timeout time.Duration)
	// Progress, if not nil, is called several times a second by the goroutine that reads a file, with the bytes that
	// were read and their number, which is 0 if it is not known. The URL is without what grants access.
	Progress func(url string, done, total int64)

	answered atomic.Bool // the server has answered a request
	waited   sync.Once   // Waiting was called
	mu       sync.Mutex
	refused  error // no further requests are sent
}

const (
	usualAttempts = 3
	usualBackoff  = 500 * time.Millisecond
	// firstAttempts bounds the attempts to reach a server that has never answered, whose address may be wrong.
	firstAttempts = 5
	// maxWait bounds the time between two attempts, also if the server requests more.
	maxWait = 30 * time.Second
	// leastBytes is how many bytes a server must send in each Timeout.
	leastBytes = 100 << 10
	// mostQuiet is the time without a byte after which a user is told that a server is waited for.
	mostQuiet = 5 * time.Second
	// maxRedirects is the most redirects that are followed for one file.
	maxRedirects = 10
)

var usualHTTP = &http.Client{CheckRedirect: func(next *http.Request, via []*http.Request) error {
	if next.URL.Scheme != "http" && next.URL.Scheme != "https" {
		return fmt.Errorf("%w: to a %s URL", ErrRedirect, next.URL.Scheme)
	}
	if len(via) > maxRedirects {
		return fmt.Errorf("%w: more than %d", ErrRedirect, maxRedirects)
	}
	return nil
}}

// Get calls receive with the file at a URL. After a temporary error, of the server, of the network or of receive, Get
// starts again. An error of the server or of the network is an *Error.
func (c *Client) Get(ctx context.Context, at address.Address, receive func(*File) error) error {
	return c.Repeat(ctx, func() error {
		f, err := c.open(ctx, at)
		if err != nil {
			return err
		}
		defer f.Close()
		err = receive(f)
		if err != nil && f.err != nil {
			return f.err // without what a decoder made of it
		}
		return err
	})
}

// Open opens the file at a URL. The error is an *Error, ErrTooLarge, or the cause of ctx's end.
func (c *Client) Open(ctx context.Context, at address.Address) (f *File, err error) {
	err = c.Repeat(ctx, func() (err error) {
		f, err = c.open(ctx, at)
		return err
	})
	return f, err
}

// Repeat calls try until it succeeds, fails for good or has failed too often. The error is that of the last call, or
// the cause of ctx's end.
func (c *Client) Repeat(ctx context.Context, try func() error) error {
	c.mu.Lock()
	err := c.refused
	c.mu.Unlock()
	if err != nil {
		return err
	}

	for n := range cmp.Or(c.Attempts, usualAttempts) {
		if n > 0 {
			c.pause(ctx, n, err)
		}
		err = try()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		// A server that never answers, whose address may be wrong, would cost the time again.
		answered := c.answered.Load()
		if !temporary(err) || !answered && (errors.Is(err, ErrStalled) || n+1 >= firstAttempts) {
			break
		}
	}

	// The next file would meet the error, too, after as much time.
	op, network := errors.AsType[*net.OpError](err)
	if network && op.Op == "dial" || errors.Is(err, ErrStalled) {
		return c.Refuse(err)
	}
	return err
}

// Refuse has all later calls return the error, which it returns as an *Error.
func (c *Client) Refuse(err error) error {
	_, ok := errors.AsType[*Error](err)
	if !ok {
		err = c.failed(err, false)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused = err
	return err
}

// pause waits before attempt n: twice as long each time, plus or minus a quarter, so that many processes do not send
// their requests at the same moment.
func (c *Client) pause(ctx context.Context, n int, err error) {
	d := cmp.Or(c.Backoff, usualBackoff) << (n - 1)
	d += time.Duration((rand.Float64() - 0.5) / 2 * float64(d))
	e, ok := errors.AsType[*Error](err)
	if ok {
		d = max(d, e.after)
	}
	sleep(ctx, min(d, maxWait))
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// open makes one attempt to open a file.
func (c *Client) open(ctx context.Context, at address.Address) (*File, error) {
	f := &File{c: c, url: at}
	if c.MaxTime > 0 {
		f.ctx, f.cancel = context.WithTimeoutCause(ctx, c.MaxTime, ErrMaxTime)
	} else {
		f.ctx, f.cancel = context.WithCancel(ctx)
	}
	response, err := f.request(0)
	if err != nil {
		f.cancel()
		return nil, err
	}

	// A body that was compressed on the way has a size of its own in debuginfod's header.
	f.Header, f.Size, f.Tag = response.Header, response.ContentLength, response.Header.Get("ETag")
	size, err := strconv.ParseInt(response.Header.Get("X-Debuginfod-Size"), 10, 64)
	if err == nil && f.Size < 0 {
		f.Size = size
	}
	if f.tooLarge(f.Size) {
		response.Body.Close()
		f.cancel()
		return nil, ErrTooLarge
	}

	// Only a strong tag says that the rest is that of the same bytes.
	f.body = response.Body
	if f.Tag != "" && f.Tag[0] == '"' && !response.Uncompressed {
		f.body = Resume(f.ctx, f.body, response.ContentLength, func(at int64) (io.ReadCloser, error) {
			rest, err := f.request(at)
			if err != nil {
				return nil, err
			}
			return rest.Body, nil
		})
	}
	return f, nil
}

// request requests the file from an offset on.
func (f *File) request(at int64) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(f.ctx)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url.Raw(), nil)
	if err != nil {
		cancel(nil)
		return nil, address.Error(err)
	}
	request.Header.Set("User-Agent", "symkit")
	maps.Copy(request.Header, f.c.Header)
	if at > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", at))
		request.Header.Set("If-Range", f.Tag)
	}

	b := &body{f: f, ctx: ctx, cancel: cancel, left: f.c.Timeout}
	var response *http.Response
	b.wait(func() int {
		response, err = cmp.Or(f.c.HTTP, usualHTTP).Do(request)
		return 0
	})
	if err != nil {
		// Callers know the URL, which may have a password or a token.
		e, ok := errors.AsType[*url.Error](err)
		if ok {
			err = e.Err
		}
		err = b.failed(address.Error(err))
		cancel(nil)
		return nil, err
	}
	f.c.answered.Store(true)
	b.ReadCloser, response.Body = response.Body, b
	switch code := response.StatusCode; {
	case code == http.StatusOK && at == 0, at > 0 && CheckRange(response, at) == nil:
		return response, nil
	case code == http.StatusOK, code == http.StatusPartialContent:
		err = f.c.failed(ErrRange, true)
	default:
		err = f.c.refusal(response)
	}
	response.Body.Close()
	return nil, err
}
