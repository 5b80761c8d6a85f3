package symserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"symkit/internal/address"
	"symkit/internal/atomicfile"
	"symkit/internal/fetch"
	"symkit/walk"
	"symkit/walk/symbols/sources"
)

// fetch gets a file from the server into the cache, whole and of the right module, or not
// at all. After a temporary error, fetch tries again.
func (s *Server) fetch(ctx context.Context, e entry, m *walk.Module) error {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}

	var err error
	for attempt := range max(1, s.Attempts) {
		if attempt > 0 && !s.wait(ctx, attempt, err) {
			break
		}
		err = s.download(ctx, e, m)
		if full(err) && s.leave(err) {
			err = s.download(ctx, e, m) // to elsewhere
		}
		if err == nil {
			err = e.verify(m)
		}
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		// Only errors that may pass are worth another attempt.
		if !passing(err) {
			break
		}
	}

	// A server that cannot be reached gets no further requests.
	err = s.blamed(err)
	switch op, network := errors.AsType[*net.OpError](err); {
	case errors.Is(err, ErrNotFound):
		e.remember()
	case network && op.Op == "dial", errors.Is(err, ErrStalled), errors.Is(err, fetch.ErrTotal), errors.Is(err, fetch.ErrSpace):
		s.mu.Lock()
		s.refused = err
		s.mu.Unlock()
	}
	return err
}

// full reports whether an error is that of a disk without space.
func full(err error) bool {
	return errors.Is(err, fetch.ErrSpace) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// blamed returns err as an error of the server, unless it is about one file.
func (s *Server) blamed(err error) error {
	_, answered := errors.AsType[*statusError](err)
	if !answered && !passing(err) && !errors.Is(err, ErrMaxTime) && !errors.Is(err, fetch.ErrTotal) && !errors.Is(err, fetch.ErrSpace) {
		return err
	}
	return &fetch.ServerError{Server: address.New(s.base.String()).String(), Err: err}
}

// statusError is an HTTP response other than a file.
type statusError struct {
	status string
	code   int
	after  time.Duration // Retry-After
}

func (e *statusError) Error() string { return ErrStatus.Error() + " " + e.status }
func (e *statusError) Unwrap() error { return ErrStatus }

// passing reports whether another attempt may succeed after an error.
func passing(err error) bool {
	if s, ok := errors.AsType[*statusError](err); ok {
		return s.code >= 500 || s.code == http.StatusTooManyRequests || s.code == http.StatusRequestTimeout
	}
	for _, final := range []error{ErrNotFound, ErrContent, ErrTooLarge, ErrMaxTime, sources.ErrOtherModule, sources.ErrNoSymbols, fetch.ErrRedirect, fetch.ErrTotal, fetch.ErrSpace} {
		if errors.Is(err, final) {
			return false
		}
	}

	_, disk := errors.AsType[*os.PathError](err)
	return !disk
}

// maxWait bounds the time between two attempts, also if the server requests more.
const maxWait = 30 * time.Second

// wait waits before another attempt: twice as long each time, plus or minus a quarter, so
// that many processes do not send their requests at the same moment.
func (s *Server) wait(ctx context.Context, attempt int, err error) bool {
	d := s.Backoff << (attempt - 1)
	d += time.Duration((rand.Float64() - 0.5) / 2 * float64(d))
	if e, ok := errors.AsType[*statusError](err); ok {
		d = max(d, e.after)
	}

	t := time.NewTimer(min(d, maxWait))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// progressStep is the time between two calls of Server.Progress.
const progressStep = 100 * time.Millisecond

// download makes one attempt.
func (s *Server) download(ctx context.Context, e entry, m *walk.Module) error {
	var received atomic.Int64
	bounds := fetch.Bounds{Window: s.Timeout, Stalled: ErrStalled, MaxTime: s.MaxTime, TooLong: ErrMaxTime}
	if s.Waiting != nil {
		bounds.Waiting = func(waited time.Duration) {
			s.waited.Do(func() { s.Waiting(address.New(s.base.String()).String(), waited, s.Timeout) })
		}
	}
	return fetch.Within(ctx, bounds, &received, func(ctx context.Context) error { return s.receive(ctx, e, m, &received) })
}

// receive requests a file and writes it into the cache. It counts the bytes that arrive.
func (s *Server) receive(ctx context.Context, e entry, m *walk.Module, received *atomic.Int64) error {
	target := s.target(e.place, m)
	response, err := s.open(ctx, target)
	if err != nil {
		return err
	}
	body := response.Body
	defer body.Close()

	var shown time.Time
	counted := &counter{r: body, alive: func(total int64) {
		received.Store(total)
		if now := time.Now(); s.Progress != nil && now.Sub(shown) >= progressStep {
			shown = now
			s.Progress(target.String(), total)
		}
	}}

	// The body is unpacked while it arrives.
	text, err := unpack(bufio.NewReaderSize(counted, 1<<16), s.MaxSize)
	if err != nil {
		return err
	}
	defer text.Close()
	text.wrote = s.disk().Wrote
	if verified := fetch.Verify(text.r, response.Header); verified != text.r {
		text.r = bufio.NewReaderSize(verified, 1<<16)
	}

	// A symbol file begins with its MODULE record.
	head, err := text.r.Peek(len("MODULE "))
	if err != nil && err != io.EOF {
		return err
	}
	if string(head) != "MODULE " {
		return ErrContent
	}
	return e.write(ctx, text, target.String(), m)
}

// open sends the request and returns the response if it has a file.
func (s *Server) open(ctx context.Context, target address.Address) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.Raw(), nil)
	if err != nil {
		return nil, address.Error(err)
	}

	request.Header.Set("User-Agent", "symkit")
	request.Header.Set("Accept-Encoding", "zstd, gzip")
	response, err := fetch.Do(s.HTTP, request)
	if err != nil {
		return nil, err
	}

	// A file that the disk cannot hold is refused before it is read.
	if response.StatusCode == http.StatusOK && response.ContentLength <= s.MaxSize {
		err = s.disk().Announce(response.ContentLength)
		if errors.Is(err, fetch.ErrSpace) && s.leave(err) {
			err = s.disk().Announce(response.ContentLength)
		}
		if err != nil {
			response.Body.Close()
			return nil, err
		}
		return response, nil
	}

	response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
		return nil, ErrTooLarge
	case http.StatusNotFound, http.StatusGone, http.StatusForbidden: // the last from S3, for a file that does not exist
		return nil, ErrNotFound
	}

	e := &statusError{status: response.Status, code: response.StatusCode}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		e.after = min(time.Duration(seconds)*time.Second, maxWait)
	}
	return nil, e
}

// counter reports the number of bytes that have arrived.
type counter struct {
	r     io.Reader
	n     int64
	alive func(total int64)
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	if n > 0 {
		c.n += int64(n)
		c.alive(c.n)
	}
	return n, err
}

// text is an unpacked body.
type text struct {
	r     *bufio.Reader
	left  int64             // bytes that may still come
	wrote func(int64) error // called with the number of bytes that were read, to be written; may be nil
	close func()
}

func (t *text) Close() { t.close() }

func (t *text) Read(b []byte) (int, error) {
	n, err := t.r.Read(b)
	t.left -= int64(n)
	if t.left < 0 {
		return 0, ErrTooLarge
	}

	if t.wrote != nil {
		if err := t.wrote(int64(n)); err != nil {
			return 0, err
		}
	}
	return n, err
}

// unpack unpacks a body by its first bytes: servers that store packed files do
// not always say so, or pack them once more.
func unpack(body *bufio.Reader, maxSize int64) (*text, error) {
	t := &text{r: body, left: maxSize, close: func() {}}
	for range 2 {
		magic, err := t.r.Peek(4)
		if err != nil && err != io.EOF {
			t.close()
			return nil, err
		}
		how := sources.Packing(magic)
		if how == "" {
			break
		}
		r, done, err := sources.Unpacker(t.r, how)
		if err != nil {
			t.close()
			return nil, err
		}
		inner := t.close
		t.r, t.close = bufio.NewReaderSize(r, 1<<16), func() { done(); inner() }
	}
	return t, nil
}

// write puts a file into the cache, with a last line that names the URL of the file, without
// what grants access: anybody can read the cache.
// The MODULE record must be that of the module.
func (e entry) write(ctx context.Context, t *text, source string, m *walk.Module) error {
	// The MODULE record must be that of the module.
	first, err := t.r.ReadSlice('\n')
	if err != nil && err != io.EOF {
		return fmt.Errorf("%w: its first line is too long", ErrContent)
	}
	fields := strings.Fields(string(first))
	if len(fields) < 5 {
		return fmt.Errorf("%w: its MODULE record is incomplete", ErrContent)
	}
	if m.DebugID != "" && strings.Contains(e.place, "/"+m.DebugID+"/") && !strings.EqualFold(fields[3], m.DebugID) {
		return sources.ErrOtherModule
	}

	line := append([]byte(nil), first...)
	reason := e.writable()
	if reason != nil {
		return e.hold(reason, line, t, source)
	}

	// The file appears under its name when it is complete.
	return atomicfile.Write(ctx, e.path(), func(w io.Writer) error {
		last := &lastByte{w: w}
		if _, err := last.Write(line); err != nil {
			return err
		}
		if _, err := io.Copy(last, t); err != nil {
			return err
		}
		if last.b != '\n' {
			source = "\n" + sourceMark + source
		} else {
			source = sourceMark + source
		}
		_, err := io.WriteString(w, source+"\n")
		return err
	})
}

// lastByte remembers the last byte that was written.
type lastByte struct {
	w io.Writer
	b byte
}

func (l *lastByte) Write(b []byte) (int, error) {
	if len(b) > 0 {
		l.b = b[len(b)-1]
	}
	return l.w.Write(b)
}
