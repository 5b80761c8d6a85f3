package objects

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// stall is how long a server may send and take nothing.
const stall = time.Minute

const (
	// regionHeader is the header in which an answer names the bucket's region.
	regionHeader = "X-Amz-Bucket-Region"
	// maxAnswer bounds the bodies of refusals, in bytes.
	maxAnswer = 1 << 20
)

// client sends the requests of the SDK. If the server sends or takes nothing for a while, also within the answer,
// the error is ErrStalled.
type client struct {
	aws.HTTPClient
	b *Bucket
}

// Do implements aws.HTTPClient. The error is without the URL, which may have a password.
func (c *client) Do(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	alive := &watch{cancel: cancel, Timer: time.AfterFunc(stall, func() { cancel(ErrStalled) })}
	r = r.WithContext(ctx)
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &watched{r.Body, alive}
	}
	resp, err := c.HTTPClient.Do(r)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err
		}
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		alive.end()
		return nil, err
	}
	c.b.answered.Store(true)
	alive.Stop()
	resp.Body = &answerBody{&watched{resp.Body, alive}, ctx, alive}
	if resp.StatusCode >= 300 && resp.Header.Get(regionHeader) == "" {
		nameRegion(resp)
	}
	return resp, nil
}

// nameRegion moves the region that the body of a refusal names to the header. The SDK knows the header alone.
func nameRegion(resp *http.Response) {
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	_, rest, _ := bytes.Cut(data, []byte("<Region>"))
	region, _, found := bytes.Cut(rest, []byte("</Region>"))
	if err == nil && found {
		resp.Header.Set(regionHeader, string(region))
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{bytes.NewReader(data), resp.Body}
}

// watch ends a request that makes no progress.
type watch struct {
	*time.Timer
	cancel context.CancelCauseFunc
}

func (w *watch) end() {
	w.Stop()
	w.cancel(nil)
}

// watched is a body that restarts the time of the server at each Read.
type watched struct {
	io.ReadCloser
	w *watch
}

func (r *watched) Read(p []byte) (int, error) {
	r.w.Reset(stall)
	return r.ReadCloser.Read(p)
}

// answerBody is the body of an answer. Its reader may take any time between two calls of Read.
type answerBody struct {
	io.ReadCloser
	ctx   context.Context
	alive *watch
}

func (b *answerBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.alive.Stop()
	if cause := context.Cause(b.ctx); err != nil && err != io.EOF && cause != nil {
		err = cause
	}
	return n, err
}

func (b *answerBody) Close() error {
	b.alive.end()
	return b.ReadCloser.Close()
}

// Client returns an HTTP client that reads objects at URLs s3://BUCKET/KEY. The response
// has status 404 if the object does not exist or may not be read.
func Client() *http.Client { return &http.Client{Transport: transport{}} }

type transport struct{}

// RoundTrip implements http.RoundTripper. The query of the URL is for symbol servers and
// is not sent.
func (transport) RoundTrip(r *http.Request) (*http.Response, error) {
	b, err := shared(r.Context(), r.URL.Host)
	if err != nil {
		return nil, err
	}
	answer := &http.Response{
		Status: "404 Not Found", StatusCode: http.StatusNotFound, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: r,
	}
	body, info, err := b.Get(r.Context(), strings.TrimPrefix(r.URL.Path, "/"))
	if errors.Is(err, fs.ErrNotExist) {
		return answer, nil
	}
	if err != nil {
		return nil, err
	}

	answer.Status, answer.StatusCode, answer.ContentLength = "200 OK", http.StatusOK, info.Size
	for name, values := range info.Header {
		if strings.HasPrefix(name, "X-") { // the metadata; the encoding is that of the content
			answer.Header[name] = values
		}
	}
	answer.Header.Set("Content-Length", strconv.FormatInt(info.Size, 10))
	answer.Body = struct {
		io.Reader
		io.Closer
	}{body, body}
	return answer, nil
}
