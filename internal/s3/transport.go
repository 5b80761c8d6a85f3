package s3

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
)

// Client returns an HTTP client that reads objects at URLs s3://BUCKET/KEY. The response
// has status 404 if the object does not exist or may not be read.
func Client() *http.Client { return &http.Client{Transport: transport{}} }

type transport struct{}

// RoundTrip implements http.RoundTripper. The query of the URL is for symbol servers and
// is not sent.
func (transport) RoundTrip(r *http.Request) (*http.Response, error) {
	b, err := shared(r.URL.Host)
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
