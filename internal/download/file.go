package download

import (
	"context"
	"io"
	"net/http"
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

// body is the body of one answer. Its request ends if the server sends too little.
type body struct {
	io.ReadCloser
	f      *File
	ctx    context.Context
	cancel context.CancelCauseFunc
	left   time.Duration // of Timeout, in which leastBytes must arrive
	bytes  int           // that have arrived of them
}

func (b *body) Read(p []byte) (n int, err error) {
	b.wait(func() int {
		n, err = b.ReadCloser.Read(p)
		return n
	})
	if err != nil && err != io.EOF {
		err = b.failed(err)
	}
	return n, err
}

// Close ends the request, too.
func (b *body) Close() error {
	b.cancel(nil)
	return b.ReadCloser.Close()
}

// wait calls receive, which waits for the server and returns the number of bytes that have arrived. No other time
// counts.
func (b *body) wait(receive func() int) {
	c := b.f.c
	if c.Timeout > 0 {
		stall := time.AfterFunc(b.left, func() { b.cancel(ErrStalled) })
		defer stall.Stop()
	}
	if c.Waiting != nil {
		quiet := mostQuiet
		if c.Timeout > 0 {
			quiet = min(quiet, c.Timeout/4)
		}
		tell := time.AfterFunc(quiet, func() { c.waited.Do(func() { c.Waiting(c.Server, quiet, c.Timeout) }) })
		defer func() {
			if !tell.Stop() {
				c.waited.Do(func() {}) // returns after Waiting has returned
			}
		}()
	}

	begun := time.Now()
	b.bytes += receive()
	b.left -= time.Since(begun)
	if b.bytes >= leastBytes {
		b.left, b.bytes = c.Timeout, 0
	}
}
