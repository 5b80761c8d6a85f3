package download

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"time"

	"symkit/internal/address"
)

// Content is what a request sends. Open is called once for each attempt; a reader that is an io.Closer is closed.
type Content interface {
	Size() int64 // in bytes
	Open() io.Reader
}

// Request is a request that is sent as it is: no redirect is followed.
type Request struct {
	Method string
	URL    address.Address
	// Header is sent beside that of the Client.
	Header http.Header
	Body   Content // nil: none
	// Accept reports whether an answer with a status is the one that is wanted. If it is nil, 200 to 299 are.
	Accept func(status int) bool
}

// Answer is the answer to a Request.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte // at most maxAnswer bytes
}

const (
	// maxAnswer bounds the body of an answer, maxReason that of a refusal, in bytes.
	maxAnswer = 4 << 20
	maxReason = 4 << 10
)

// errAnswer: the body of an answer is larger than maxAnswer.
var errAnswer = fmt.Errorf("the answer has more than %d bytes", maxAnswer)

// plainHTTP follows no redirect.
var plainHTTP = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// Send sends a request, again after a temporary error of the server or of the network, and returns the answer. The
// error is an *Error, or the cause of ctx's end.
func (c *Client) Send(ctx context.Context, r *Request) (a *Answer, err error) {
	err = c.Repeat(ctx, func() error {
		a, err = c.Once(ctx, r)
		return err
	})
	return a, err
}

// Once is Send with one attempt, for callers of Repeat.
func (c *Client) Once(ctx context.Context, r *Request) (*Answer, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alive := &watch{timeout: c.Timeout}
	if c.Timeout > 0 {
		alive.timer = time.AfterFunc(c.Timeout, func() { cancel(ErrStalled) })
		defer alive.timer.Stop()
	}

	request, err := http.NewRequestWithContext(ctx, r.Method, r.URL.Raw(), nil)
	if err != nil {
		return nil, address.Error(err)
	}
	request.Header.Set("User-Agent", "symkit")
	maps.Copy(request.Header, c.Header)
	maps.Copy(request.Header, r.Header)
	if r.Body != nil && r.Body.Size() > 0 {
		request.Body, request.ContentLength = &watched{r.Body.Open(), alive}, r.Body.Size()
	}

	response, err := cmp.Or(c.HTTP, plainHTTP).Do(request)
	if err != nil {
		// Callers know the URL, which may have a token.
		e, ok := errors.AsType[*url.Error](err)
		if ok {
			err = e.Err
		}
		return nil, c.broken(ctx, address.Error(err))
	}
	defer response.Body.Close()
	c.answered.Store(true)
	alive.reset()

	wanted := response.StatusCode >= 200 && response.StatusCode <= 299
	if r.Accept != nil {
		wanted = r.Accept(response.StatusCode)
	}
	if !wanted {
		e := c.refusal(response)
		to, none := response.Location()
		if none == nil {
			e.Err = fmt.Errorf("%w, and names the address %v", e.Err, address.New(to.String()))
		}
		e.Answer, _ = io.ReadAll(io.LimitReader(response.Body, maxReason)) // the beginning is enough
		return nil, e
	}
	body, err := io.ReadAll(io.LimitReader(&watched{response.Body, alive}, maxAnswer+1))
	switch {
	case err != nil:
		return nil, c.broken(ctx, err)
	case len(body) > maxAnswer:
		return nil, c.failed(errAnswer, false)
	}
	return &Answer{response.StatusCode, response.Header, body}, nil
}

// watch ends a request to a server that takes and sends nothing.
type watch struct {
	timer   *time.Timer // nil: never
	timeout time.Duration
}

func (w *watch) reset() {
	if w.timer != nil {
		w.timer.Reset(w.timeout)
	}
}

// watched is a body that restarts the time of the server at each Read.
type watched struct {
	io.Reader
	alive *watch
}

func (r *watched) Read(p []byte) (int, error) {
	r.alive.reset()
	return r.Reader.Read(p)
}

// Close closes the reader if it can be closed.
func (r *watched) Close() error {
	c, ok := r.Reader.(io.Closer)
	if !ok {
		return nil
	}
	return c.Close()
}
