package download

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"time"
)

var (
	// ErrStatus: the server answered something else than the file. Error.Status has the status.
	ErrStatus = errors.New("the server answered")
	// ErrStalled: the server sent less than leastBytes in Client.Timeout.
	ErrStalled = errors.New("the server sends nothing, or too slowly")
	// ErrMaxTime: a file took longer than Client.MaxTime.
	ErrMaxTime = errors.New("the download takes too long")
	// ErrTooLarge: a file is larger than Client.MaxSize.
	ErrTooLarge = errors.New("the file is too large")
	// ErrRedirect: a redirect to a URL that is not http or https, or too many redirects.
	ErrRedirect = errors.New("redirect is not followed")
)

// Error is an error of a server, or of the network on the way to it. If the server lacks the file, it is an
// fs.ErrNotExist. Otherwise the next file is likely to meet it, too.
type Error struct {
	Server string // its address, without what grants access
	Err    error  // the cause, with the same text
	Status int    // of an answer that is not the file; 0: there was none
	Answer []byte // the beginning of such an answer to a Request

	temporary bool          // the same request may succeed later
	after     time.Duration // the server's Retry-After
}

func (e *Error) Error() string   { return e.Err.Error() }
func (e *Error) Unwrap() error   { return e.Err }
func (e *Error) Temporary() bool { return e.temporary }

// Is reports whether the server lacks the file.
func (e *Error) Is(target error) bool {
	return target == fs.ErrNotExist && (e.Status == http.StatusNotFound || e.Status == http.StatusGone)
}

// failed returns an error of the server.
func (c *Client) failed(err error, temporary bool) *Error {
	return &Error{Server: c.Server, Err: err, temporary: temporary}
}

// refusal returns the error of an answer that is not the file.
func (c *Client) refusal(r *http.Response) *Error {
	code := r.StatusCode
	e := c.failed(fmt.Errorf("%w %s", ErrStatus, r.Status), code >= 500 || code == http.StatusTooManyRequests || code == http.StatusRequestTimeout)
	e.Status = code
	e.after = after(r.Header.Get("Retry-After"), time.Now())
	return e
}

// after returns the time that a Retry-After names, in seconds or as a date (RFC 9110 §10.2.3), at most maxWait.
func after(text string, now time.Time) time.Duration {
	seconds, err := strconv.Atoi(text)
	if err == nil {
		return time.Duration(min(max(seconds, 0), int(maxWait/time.Second))) * time.Second
	}
	date, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return min(max(date.Sub(now), 0), maxWait)
}

// temporary reports whether another attempt may succeed after an error.
func temporary(err error) bool {
	e, ok := errors.AsType[interface {
		error
		Temporary() bool
	}](err)
	return ok && e.Temporary() || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, ErrOther)
}

// failed returns the error of a request.
func (b *body) failed(err error) error { return b.f.c.broken(b.ctx, err) }

// broken returns the error of a request: the reason for which its context was ended, or the error of the network.
func (c *Client) broken(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, ErrStalled):
		return c.failed(cause, true)
	case errors.Is(cause, ErrMaxTime):
		return c.failed(cause, false)
	case cause != nil:
		return cause
	}
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	return c.failed(err, !errors.Is(err, ErrRedirect) && !certificate)
}

// ServerErrors returns all errors of servers in a tree of errors.
func ServerErrors(err error) (all []*Error) {
	switch e := err.(type) {
	case *Error:
		return []*Error{e}
	case interface{ Unwrap() error }:
		return ServerErrors(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			all = append(all, ServerErrors(inner)...)
		}
	}
	return all
}
