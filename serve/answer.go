package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// storeTime is how long the store may take to begin an answer.
const storeTime = 30 * time.Second

var errStoreTime = errors.New("the store takes too long to begin its answer")

// withTime returns a context that ends after storeTime, unless opened is called before.
func withTime(parent context.Context) (ctx context.Context, opened func()) {
	ctx, cancel := context.WithCancelCause(parent)
	timer := time.AfterFunc(storeTime, func() { cancel(errStoreTime) })
	return ctx, func() { timer.Stop() }
}

// notFound answers 404, which clients and proxies remember for a short time.
func notFound(w http.ResponseWriter, text string) {
	w.Header().Set("Cache-Control", "public, max-age=300")
	http.Error(w, text, http.StatusNotFound)
}

// later answers a status after which clients repeat the request.
func later(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Retry-After", "10")
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, text, status)
}

func busy(w http.ResponseWriter) {
	later(w, http.StatusServiceUnavailable, "the server answers as many requests as it may: repeat the request in some seconds")
}

// storeFailed answers a request that the store fails.
func (s *Server) storeFailed(w http.ResponseWriter, err error) {
	s.opt.Log(fmt.Errorf("the store: %w", err))
	later(w, http.StatusServiceUnavailable, "the store cannot be read now: repeat the request in some seconds; the server's log has the reason")
}
