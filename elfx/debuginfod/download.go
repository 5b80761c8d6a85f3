package debuginfod

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"symkit/internal/address"
	"symkit/internal/fetch"
)

const (
	// progressStep is the time between two calls of Client.Progress.
	progressStep = 100 * time.Millisecond
	copyBuffer   = 64 << 10
)

// download fetches the file from one server. The cache then has the whole, verified
// file, or is unchanged.
func (e *entry) download(ctx context.Context, server string) error {
	t := transfer{client: e.client, entry: e, url: fileURL(server, e.id, e.kind)}
	bounds := fetch.Bounds{Window: e.client.Timeout, Stalled: ErrTimeout, MaxTime: e.client.MaxTime, TooLong: ErrMaxTime,
		Waiting: e.client.waiting(server)}
	return fetch.Within(ctx, bounds, &t.done, func(ctx context.Context) error { return e.fetch(ctx, &t) })
}

// transfer is the state of one download.
type transfer struct {
	client *Client
	entry  *entry
	url    address.Address
	done   atomic.Int64
	total  int64
	shown  time.Time
}

// waiting returns the function that tells once that a server is waited for.
func (c *Client) waiting(server string) func(time.Duration) {
	if c.Waiting == nil {
		return nil
	}
	return func(waited time.Duration) {
		_, before := c.waited.LoadOrStore(server, true)
		if !before {
			c.Waiting(address.New(server).String(), waited, c.Timeout)
		}
	}
}

// fetch downloads into a temporary file beside the entry, verifies the file and renames
// it. debuginfod-client removes files of such names if this process is killed.
func (e *entry) fetch(ctx context.Context, t *transfer) error {
	body, err := t.open(ctx)
	if err != nil {
		return err
	}
	defer body.Close()

	// Nothing is created in the cache before a server has answered with the file.
	file, err := e.sink()
	if err != nil {
		return err
	}
	return file.finish(t.copy(file, body), t.url.String())
}

// abandonedAfter is the age from which a temporary file cannot be in use.
const abandonedAfter = 24 * time.Hour

// sweep removes the temporary files of processes that were killed.
func (e *entry) sweep() {
	left, _ := filepath.Glob(filepath.Join(e.dir(), string(e.kind)+".*")) // the pattern is well formed
	for _, path := range left {
		if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > abandonedAfter {
			_ = os.Remove(path) // fails if another process removed the file
		}
	}
}

// open requests the file. The error is ErrNotFound, ErrMaxSize, ErrStatus, that of
// fetch.Disk, or that of the connection.
func (t *transfer) open(ctx context.Context) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, t.url.Raw(), nil)
	if err != nil {
		return nil, address.Error(err)
	}
	request.Header.Set("User-Agent", "symkit")
	if t.client.MaxSize > 0 {
		request.Header.Set("X-Debuginfod-Maxsize", strconv.FormatInt(t.client.MaxSize, 10))
	}

	// The default client follows redirects to http and https only.
	client := t.client.HTTP
	if client == nil {
		client = fetch.HTTP
	}
	response, err := fetch.Do(client, request)
	if err != nil {
		return nil, err
	}

	// Without a Content-Length, X-Debuginfod-Size has the size.
	t.total = max(response.ContentLength, 0)
	size, err := strconv.ParseInt(response.Header.Get("X-Debuginfod-Size"), 10, 64)
	if err == nil && t.total == 0 {
		t.total = max(size, 0)
	}

	// The body is returned only if it may be stored.
	switch {
	case response.StatusCode == http.StatusNotFound:
		err = ErrNotFound
	case response.StatusCode == http.StatusNotAcceptable && t.client.MaxSize > 0, t.tooLarge(t.total):
		err = ErrMaxSize
	case response.StatusCode != http.StatusOK:
		err = fmt.Errorf("%w: %s", ErrStatus, response.Status)
	default:
		err = t.client.disk().Announce(t.total)
		if errors.Is(err, fetch.ErrSpace) && t.client.leave(cmp.Or(t.entry.unwritable(), err)) {
			err = t.client.disk().Announce(t.total)
		}
		if err == nil {
			return response.Body, nil
		}
	}
	response.Body.Close()
	return nil, err
}

// tooLarge reports whether n bytes exceed Client.MaxSize.
func (t *transfer) tooLarge(n int64) bool { return t.client.MaxSize > 0 && n > t.client.MaxSize }

// copy writes the body to the file. If the body ends before Content-Length, reading it
// returns an error.
func (t *transfer) copy(file io.Writer, body io.Reader) error {
	buffer := make([]byte, copyBuffer)
	t.progress(true)
	for {
		// Bounds are checked for each buffer: a server may send more than it announced.
		n, err := body.Read(buffer)
		if t.tooLarge(t.done.Add(int64(n))) {
			return ErrMaxSize
		}
		if _, err := file.Write(buffer[:n]); err != nil {
			return err
		}

		t.progress(err != nil)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// progress calls Client.Progress if always is true or progressStep has passed.
func (t *transfer) progress(always bool) {
	if now := time.Now(); t.client.Progress != nil && (always || now.Sub(t.shown) >= progressStep) {
		t.shown = now
		t.client.Progress(Progress{t.url.String(), t.done.Load(), t.total})
	}
}
