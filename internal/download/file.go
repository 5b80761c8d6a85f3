package download

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"symkit/internal/address"
)

// File is a file that is being read. If the connection breaks, reading continues with the rest of the same file where
// the server can send it.
type File struct {
	// Size is in bytes; -1 if the server does not say.
	Size int64
	// Tag changes with the content; empty if the server has none.
	Tag string
	// Header is that of the answer.
	Header http.Header

	c      *Client
	url    address.Address
	ctx    context.Context
	cancel context.CancelFunc
	body   io.ReadCloser
	done   int64     // bytes that were read
	err    error     // of Read, except io.EOF
	shown  time.Time // when Progress was called
}

// progressStep is the time between two calls of Client.Progress.
const progressStep = 100 * time.Millisecond

// Read reads from the body. The error is io.EOF, an *Error, ErrTooLarge or the cause of the context's end.
func (f *File) Read(p []byte) (int, error) {
	if f.done == 0 {
		f.progress(false)
	}
	n, err := f.body.Read(p)
	f.done += int64(n)
	if f.tooLarge(f.done) {
		n, err = 0, ErrTooLarge // it may be larger than the server announced
	}
	if err != nil && err != io.EOF {
		f.err = err
	}
	f.progress(err != nil)
	return n, err
}

// Close ends the request.
func (f *File) Close() error {
	f.cancel()
	return f.body.Close()
}

// tooLarge reports whether n bytes exceed Client.MaxSize.
func (f *File) tooLarge(n int64) bool { return f.c.MaxSize > 0 && n > f.c.MaxSize }

// progress calls Client.Progress if always is true or progressStep has passed.
func (f *File) progress(always bool) {
	now := time.Now()
	if f.c.Progress != nil && (always || now.Sub(f.shown) >= progressStep) {
		f.shown = now
		f.c.Progress(f.url.String(), f.done, max(f.Size, 0))
	}
}

// body is the body of one answer.
type body struct {
	io.ReadCloser
	f        *File
	ctx      context.Context
	patience *patience
}

func (b *body) Read(p []byte) (int, error) {
	b.patience.begin()
	n, err := b.ReadCloser.Read(p)
	b.patience.end(n)
	if err != nil && err != io.EOF {
		err = b.failed(err)
	}
	return n, err
}

// Close ends the request, too.
func (b *body) Close() error {
	b.patience.cancel(nil)
	return b.ReadCloser.Close()
}

// patience ends a request whose server sends too little. Time passes only between begin and end, while the server is
// waited for.
type patience struct {
	c      *Client
	cancel context.CancelCauseFunc
	left   time.Duration // until leastBytes must have arrived
	bytes  int           // that have arrived of them
	begun  time.Time
	stall  *time.Timer // nil: none
	quiet  *time.Timer // nil: none

	mu      sync.Mutex
	waiting bool
}

func newPatience(c *Client, cancel context.CancelCauseFunc) *patience {
	return &patience{c: c, cancel: cancel, left: c.Timeout}
}

// begin starts the time.
func (p *patience) begin() {
	p.begun = time.Now()
	p.mu.Lock()
	p.waiting = true
	p.mu.Unlock()
	if p.c.Timeout > 0 {
		p.stall = time.AfterFunc(p.left, func() { p.cancel(ErrStalled) })
	}
	if p.c.Waiting != nil {
		quiet := mostQuiet
		if p.c.Timeout > 0 {
			quiet = min(quiet, p.c.Timeout/4)
		}
		p.quiet = time.AfterFunc(quiet, func() { p.tell(quiet) })
	}
}

// tell calls Waiting once.
func (p *patience) tell(waited time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting { // nobody is told after end
		p.c.waited.Do(func() { p.c.Waiting(p.c.Server, waited, p.c.Timeout) })
	}
}

// end stops the time: n bytes have arrived.
func (p *patience) end(n int) {
	if p.stall != nil {
		p.stall.Stop()
	}
	if p.quiet != nil {
		p.quiet.Stop()
	}
	p.mu.Lock()
	p.waiting = false
	p.mu.Unlock()

	p.left -= time.Since(p.begun)
	p.bytes += n
	if p.bytes >= leastBytes {
		p.left, p.bytes = p.c.Timeout, 0
	}
}
