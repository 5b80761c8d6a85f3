package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// ErrRange reports that the server sent another part of the file than was asked for.
var ErrRange = errors.New("the server sent another part of the file than was asked for")

// maxResumes is how often in succession a connection may break without a byte read.
const maxResumes = 5

// CheckRange returns an ErrRange if an answer does not have the bytes of a file from the
// offset at on.
func CheckRange(resp *http.Response, at int64) error {
	if at == 0 || resp.StatusCode == http.StatusPartialContent &&
		strings.HasPrefix(resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", at)) {
		return nil
	}
	return ErrRange
}

// Resume returns a reader of a file of size bytes, of which first has the beginning.
// When the connection breaks, open returns the rest from an offset on. The size is -1 if
// it is not known; then a file that ends has ended.
func Resume(ctx context.Context, first io.ReadCloser, size int64, open func(at int64) (io.ReadCloser, error)) io.ReadCloser {
	return &resumed{ctx: ctx, r: first, size: size, open: open}
}

type resumed struct {
	ctx    context.Context
	r      io.ReadCloser
	at     int64 // in the file
	size   int64
	open   func(at int64) (io.ReadCloser, error)
	broken int // how often since the last byte
}

func (r *resumed) Read(p []byte) (int, error) {
	for {
		n, err := r.r.Read(p)
		r.at += int64(n)
		if n > 0 {
			r.broken = 0
		}
		switch {
		case err == io.EOF && r.size >= 0 && r.at < r.size:
			err = io.ErrUnexpectedEOF
		case err == nil || err == io.EOF:
			return n, err
		}
		r.broken++
		if r.ctx.Err() != nil || r.broken > maxResumes || errors.Is(err, ErrStalled) {
			return n, err
		}
		if n > 0 {
			return n, nil // the next call resumes
		}
		if r.broken > 1 {
			sleep(r.ctx, usualBackoff<<(r.broken-2))
		}

		rest, failed := r.open(r.at)
		if failed != nil {
			return 0, fmt.Errorf("%w; then %w", err, failed)
		}
		r.r.Close()
		r.r = rest
	}
}

func (r *resumed) Close() error { return r.r.Close() }
