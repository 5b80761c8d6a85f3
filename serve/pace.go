package serve

import (
	"io"
	"net/http"
	"time"
)

// pace is how many bytes a client has to take or send in Options.Stall.
const pace = 64 << 10

// pacedWriter is the answer to a client that must not be slow. It does not implement io.ReaderFrom, so that copies are
// written in small parts, each of which has its time. A connection keeps the time of its last answer, so that each
// answer has to set its own.
type pacedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration
	left    int // bytes until the time begins anew
	status  int // 0: not written
	sent    int64
}

// Unwrap is for http.ResponseController.
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// renew begins the time anew. Not every connection has one.
func (w *pacedWriter) renew() { _ = w.control.SetWriteDeadline(time.Now().Add(w.stall)) }

// WriteHeader implements http.ResponseWriter.
func (w *pacedWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.renew()
	w.ResponseWriter.WriteHeader(status)
}

func (w *pacedWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	if w.left <= 0 {
		w.left = pace
		w.renew()
	}
	n, err := w.ResponseWriter.Write(p)
	w.left -= n
	w.sent += int64(n)
	return n, err
}

// pacedBody is the body of a request, whose client must not be slow, and which ends at a time.
type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
	stall   time.Duration
	end     time.Time
	left    int // bytes until the time begins anew
}

func (b *pacedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		b.left = pace
		next := time.Now().Add(b.stall)
		if next.After(b.end) {
			next = b.end
		}
		_ = b.control.SetReadDeadline(next)
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= n
	if err == io.EOF {
		// The server reads on, to see whether the client goes away, and would take the end of the time for that.
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}
