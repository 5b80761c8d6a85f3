// Package uploads speaks the protocols in which clients send symbols: those of Mozilla's Tecken and of Breakpad.
package uploads

import (
	"context"
	"net/http"
	"time"

	"symkit/serve/internal/intake"
	"symkit/serve/internal/tokens"
)

// Options are the settings of a Desk.
type Options struct {
	Tokens                 *tokens.File // nil: nothing is taken
	URL                    string       // of the server as clients know it; empty: that of each request
	MaxUpload, MaxUnpacked int64        // bytes of a request, and of what is in it
	Uploads                int          // at one time
	Timeout                time.Duration
	Stall                  time.Duration // for messages: the time of 64 KiB
}

// Desk takes what clients send.
type Desk struct {
	*intake.Intake
	opt     Options
	uploads chan struct{} // of requests that send files
	hints   hints
}

// New returns a Desk.
func New(i *intake.Intake, opt Options) *Desk {
	return &Desk{Intake: i, opt: opt, uploads: make(chan struct{}, opt.Uploads)}
}

// Routes has the Desk answer its requests.
func (s *Desk) Routes(mux *http.ServeMux) {
	t, b := &teckenDesk{s}, &breakpadDesk{s}
	mux.HandleFunc("POST /upload/{$}", t.upload)
	mux.HandleFunc("POST /upload/auth_info/{$}", t.auth)
	mux.HandleFunc("GET /upload/auth_info/{$}", t.auth)
	mux.HandleFunc("POST /upload/v2/{$}", t.announce)
	mux.HandleFunc("PUT /upload/v2/{session}/{n}", t.put)
	for _, path := range []string{"/{$}", "/sym-upload", "/post/bp/symbol/breakpadsymbols.php", "/breakpad-symbol"} {
		mux.HandleFunc("POST "+path, b.form)
	}
	for _, version := range []string{"", "/v1"} { // the document has none, the program has v1
		mux.HandleFunc("GET "+version+"/symbols/{file}/{id}", b.status)
		mux.HandleFunc("POST "+version+"/uploads:create", b.create)
		mux.HandleFunc("PUT "+version+"/uploads/{key}", b.put)
		mux.HandleFunc("POST "+version+"/uploads/{key}", b.post)
	}
}

// patience is how long an upload waits until others have ended.
const patience = 30 * time.Second

// admit waits until the client may send its body. The caller calls done when the request has its answer, for which ctx
// has the time of Options.Timeout. A client that may not send gets its answer here.
func (s *Desk) admit(w http.ResponseWriter, r *http.Request) (ctx context.Context, done func(), ok bool) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case s.uploads <- struct{}{}:
		ctx, cancel := context.WithTimeoutCause(r.Context(), s.opt.Timeout, errTimeout)
		return ctx, func() { cancel(); <-s.uploads }, true
	case <-timer.C:
	case <-r.Context().Done():
	}
	later(w)
	return nil, nil, false
}
