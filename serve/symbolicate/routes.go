package symbolicate

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
)

// exposed are the headers that Eliot lets pages of other origins read.
const exposed = "accept, accept-encoding, authorization, content-type, dnt, origin, user-agent, x-csrftoken, x-requested-with"

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", exposed)
	answer := map[string]func(http.ResponseWriter, *http.Request) error{
		"/symbolicate/v4": s.symbolicateV4,
		"/symbolicate/v5": s.symbolicateV5,
		"/source/v1":      s.sourceV1,
		"/asm/v1":         s.asmV1,
	}[r.URL.Path]
	var err error
	switch {
	case answer == nil:
		err = &failure{http.StatusNotFound, "404 Not Found"}
	case r.Method == http.MethodOptions:
		preflight(w, r)
		return
	case r.Method != http.MethodPost:
		h.Set("Allow", "POST, OPTIONS")
		err = &failure{http.StatusMethodNotAllowed, "405 Method Not Allowed"}
	default:
		ctx, cancel := context.WithTimeout(r.Context(), s.opt.Timeout)
		defer cancel()
		r = r.WithContext(ctx)
		err = answer(w, r)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

// preflight tells a browser which requests pages of other origins may send.
func preflight(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if r.Header.Get("Access-Control-Request-Method") == "" {
		h.Set("Allow", "POST, OPTIONS")
		return
	}
	h.Set("Access-Control-Allow-Methods", "POST")
	h.Set("Access-Control-Allow-Headers", cmp.Or(r.Header.Get("Access-Control-Request-Headers"), "*"))
	h.Set("Access-Control-Max-Age", "86400")
}

// fail answers a request that failed before anything was written.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	f, ok := errors.AsType[*failure](err)
	if !ok {
		switch {
		case errors.Is(r.Context().Err(), context.DeadlineExceeded):
			f = &failure{http.StatusServiceUnavailable, "the answer takes too long: please send fewer frames in a single request, or repeat it later"}
		case r.Context().Err() != nil:
			panic(http.ErrAbortHandler) // the client is gone
		default:
			s.opt.Log(err)
			f = &failure{http.StatusInternalServerError, "500 Internal Server Error"}
		}
	}
	h := w.Header()
	text := append(appendString([]byte(`{"title": `), f.title), '}')
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(f.status)
	_, _ = w.Write(text) // of a client that is gone
}
